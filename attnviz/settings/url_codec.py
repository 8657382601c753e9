"""Settings records <-> the address of the page, and the same as a file.

An address holds stable names and never labels, only what differs from the default, and the version of its meaning.
Reading one never raises: what can be used is used, and every change made to it is said in one plain sentence, which no
library of forms or settings does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import Field
from typing import Any
from urllib.parse import parse_qs, urlencode

from attnviz.settings.allowed import allowed as allowed_by
from attnviz.settings.faults import shorten
from attnviz.settings.fields import Changes, default, settings, snap_to_valid
from attnviz.settings.kinds import Text
from attnviz.settings.language import Words, translate
from attnviz.settings.plain_text import clean
from attnviz.settings.tuple_kinds import SerialisedTuple

LONGEST_LINK = 6_000
"""Characters of a percent-encoded address that every proxy, chat and e-mail in use lets through."""

MIGRATIONS: tuple[Callable[[dict[str, str]], dict[str, str]], ...] = ()
"""The i-th turns an address of version i + 1 into one of version i + 2. Changing a default adds one."""

VERSION = "v"
WITHOUT = "without"
RESERVED = (VERSION, WITHOUT)

_HOSTING = ("embed", "utm_", "__", "fbclid", "gclid", "msclkid")
_LONGEST_VALUE = 1_000

PROBLEMS = Words(
    {
        "without": "Too long for a link: {label}. Open the saved file to have it.",
        "twice": "{label} was given {n:,} times; the last is used.",
        "no_text": "{label} was given as {kind}, not as text; ignored.",
        "unknown": "There is no setting called {names}; ignored.",
        "unknown_many": "There is no setting called {names} and {n:,} more; ignored.",
        "version": "The link's version {version} is not known here; it is read as version {newest}.",
        "unfitting": "{label} was {given}, which does not go with the rest; {used} is used.",
        "outside": "{label} was {given}; choose {allowed}; {used} is used.",
        "left": "{label} was {given}; choose {allowed}; left as it is in A.",
        "unusable": "{label} could not be used ({why}); {used} is used.",
        "together": "The settings do not go together ({why}); the defaults are used.",
        "no_json": "The file could not be read as JSON; the defaults are used.",
        "no_settings": "The file holds no settings by name; the defaults are used.",
    }
)

Items = Mapping[str, Field[Any]]


def encode(*records: object, every: bool = False) -> dict[str, str]:
    """Return the records as an address: the version, and what differs from the default, or `every` setting."""
    query: dict[str, str] = {}
    for record in (getattr(record, "chosen", record) for record in records):
        for item in settings(record):
            value = getattr(record, item.name)
            if isinstance(item.metadata["kind"], Changes):
                query |= {f"{item.metadata['kind'].prefix}{name}": text for name, text in value}
            elif every or value != default(item):
                query[item.name] = _written(item, value)
    return {VERSION: str(1 + len(MIGRATIONS)), **query}


def labels(*classes: type[Any]) -> dict[str, str]:
    """Return the label of each parameter that is ours: those of the fields, and those of a second
    setting.
    """
    found: dict[str, str] = {}
    for item in (item for cls in classes for item in settings(cls)):
        kind = item.metadata["kind"]
        if isinstance(kind, Changes):
            found |= {f"{kind.prefix}{name}": _in_side(label, kind) for name, label in labels(kind.of).items()}
        else:
            found[item.name] = _label(item)
    return found


def difference(one: object, other: object, also: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the fields in which two records of a class differ, and those named in `also`, as the other has them."""
    here, there = encode(one, every=True), encode(other, every=True)
    return tuple(
        (name, there[name]) for name in here if name != VERSION and (here[name] != there[name] or name in also)
    )


def apply_changes(record: Any, changes: Iterable[tuple[str, str]]) -> tuple[Any, list[str]]:
    """Return the record with some fields changed to what the texts mean, and what had to be changed to read them."""
    (other,), problems = decode(encode(record, every=True) | dict(changes), type(record))
    return other, problems


def _label(item: Field[Any]) -> str:
    return translate(item.metadata["label"])


def _in_side(label: str, kind: Changes) -> str:
    """Return the name of a field of a second setting."""
    return translate("{label} in {side}", label=label, side=kind.prefix[0].upper())


def _written(item: Field[Any], value: Any) -> str:
    kind = item.metadata["kind"]
    return str(kind.write(clean(value, kind.lines) if isinstance(kind, Text) else value))


def _default(item: Field[Any]) -> str:
    return shorten(_written(item, default(item)))


def decode(query: Mapping[str, Any], *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that an address means, one of each class, and what had to be changed to read it.

    Never raises, whatever the mapping holds.
    """
    problems: list[str] = []
    names = labels(*classes)
    known = {name: query[name] for name in query if name in names or name in RESERVED}
    given = _migrated(dict(_single(known, names, problems)), problems)
    problems += _unknown([str(name) for name in query if name not in known and not _hosting(str(name))])
    for name in given.pop(WITHOUT, "").split("."):
        if name in names and name not in given:
            problems.append(PROBLEMS["without"].format(label=names[name]))
    return tuple(_record(cls, given, problems) for cls in classes), problems


def _single(query: Mapping[str, Any], names: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield one text for each name, whatever was given."""
    for name, value in query.items():
        label = names.get(name) or translate("The parameter {name}", name=name)
        if isinstance(value, (list, tuple)) and value:
            if len(value) > 1:
                problems.append(PROBLEMS["twice"].format(label=label, n=len(value)))
            value = value[-1]
        if isinstance(value, str):
            yield name, value
        else:
            problems.append(PROBLEMS["no_text"].format(label=label, kind=type(value).__name__))


def _hosting(name: str) -> bool:
    return name.lower().startswith(_HOSTING)


def _unknown(names: list[str]) -> list[str]:
    if not names:
        return []
    listed, n = ", ".join(map(shorten, names[:3])), len(names) - 3
    return [PROBLEMS["unknown_many" if n > 0 else "unknown"].format(names=listed, n=n)]


def _migrated(query: dict[str, str], problems: list[str]) -> dict[str, str]:
    """Return the address as today's version would have written it."""
    newest = 1 + len(MIGRATIONS)
    text = query.pop(VERSION, str(newest))
    version = int(text) if len(text) < 9 and text.isascii() and text.isdecimal() else 0
    if not 1 <= version <= newest:
        problems.append(PROBLEMS["version"].format(version=shorten(text), newest=newest))
        version = newest
    for migrate in MIGRATIONS[version - 1 :]:
        query = migrate(query)
    return query


def _record(cls: type[Any], given: Mapping[str, str], problems: list[str]) -> Any:
    items = {item.name: item for item in settings(cls)}
    values = {name: default(item) for name, item in items.items()}
    values |= {name: _value(items[name], given[name], problems) for name in items if name in given}
    for name, item in items.items():
        if isinstance(item.metadata["kind"], Changes):
            values[name] = tuple(_changes(item.metadata["kind"], given, problems))
    fitting, _ = snap_to_valid(cls, values)
    for name, item in items.items():
        if fitting[name] != values[name]:
            was, used = (shorten(_written(item, side[name])) for side in (values, fitting))
            problems.append(PROBLEMS["unfitting"].format(label=_label(item), given=was, used=used))
    try:
        return cls(**fitting)
    except ValueError as error:
        return _without_one(cls, items, fitting, str(error)[:200], problems)


def _changes(kind: Changes, given: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what is otherwise in a second setting; what means nothing there stays as in the first."""
    for item in settings(kind.of):
        text = given.get(kind.prefix + item.name)
        if text is None:
            continue
        it = _in_side(_label(item), kind)
        try:
            value, problem = _read(item, text)
        except ValueError:
            allowed = allowed_by(item.metadata["kind"], text)
            problems.append(PROBLEMS["left"].format(label=it, given=shorten(text), allowed=allowed))
            continue
        if problem:
            problems.append(f"{it} {problem}.")
        yield item.name, _written(item, value)


def _without_one(cls: type[Any], items: Items, values: Mapping[str, Any], why: str, problems: list[str]) -> Any:
    """Return the record with one value at its default, so that the rest go together.

    All defaults if no single one does.
    """
    for name in sorted(items, key=lambda name: not why.startswith(name)):
        try:
            record = cls(**{**values, name: default(items[name])})
        except ValueError:
            continue
        problems.append(PROBLEMS["unusable"].format(label=_label(items[name]), why=why, used=_default(items[name])))
        return record
    problems.append(PROBLEMS["together"].format(why=why))
    return cls()


def _value(item: Field[Any], text: str, problems: list[str]) -> Any:
    """Return the value that `text` means; the default if it means none."""
    try:
        value, problem = _read(item, text)
    except ValueError:
        facts = {"given": shorten(text), "allowed": allowed_by(item.metadata["kind"], text), "used": _default(item)}
        problems.append(PROBLEMS["outside"].format(label=_label(item), **facts))
        return default(item)
    if problem:
        problems.append(f"{_label(item)} {problem}.")
    return value


def _read(item: Field[Any], text: str) -> tuple[Any, str | None]:
    """Parse a text, and return the value with the change that it needed; raises ValueError if it means nothing."""
    kind = item.metadata["kind"]
    if not isinstance(kind, (Text, SerialisedTuple)) and len(text) > _LONGEST_VALUE:
        raise ValueError(text)
    value, problem = kind.read(clean(text, kind.lines) if isinstance(kind, Text) else text)
    return value, problem


def fits_in_link(query: Mapping[str, str]) -> bool:
    """Return whether an address is short enough for a link."""
    return len(urlencode(query)) <= LONGEST_LINK


def shorten_to_fit(query: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the address without its longest values, until it fits, and their names.

    They are named in the address too.
    """
    short = dict(query)
    left_out: tuple[str, ...] = ()
    by_length = sorted(query.keys() - {*RESERVED}, key=lambda name: (len(urlencode({name: query[name]})), name))
    while not fits_in_link(short):
        left_out += (by_length.pop(),)
        del short[left_out[-1]]
        short[WITHOUT] = ".".join(left_out)
    return short, left_out


def restore_dropped(query: Mapping[str, Any], held: Mapping[str, str]) -> dict[str, Any]:
    """Return the address with what was too long for it put back from `held`, an address of any length."""
    without = query.get(WITHOUT, "")
    names = str(without[-1] if isinstance(without, list) and without else without).split(".")
    return {**query, **{name: held[name] for name in names if name in held and name not in query}}


def link(*records: object) -> str:
    """Return the query string of a link to the records.

    See `fits_in_link` and `to_file` for long ones.
    """
    return urlencode(shorten_to_fit(encode(*records))[0])


def open_link(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that a whole link, or what follows its question mark, means; and what had to be changed."""
    query = parse_qs(text.partition("?")[2] or text, keep_blank_values=True)
    return decode(query, *classes)


def to_file(*records: object) -> str:
    """Return the records as a JSON file: an address of any length."""
    return json.dumps({VERSION: str(1 + len(MIGRATIONS)), **encode(*records)}, indent=1)


def from_file(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that a file of `to_file` holds, and what had to be changed to read it; never raises."""
    try:  # numbers stay text, as in an address: no digit is lost and none is too many
        query = json.loads(text.lstrip("\ufeff"), parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return decode({}, *classes)[0], [PROBLEMS["no_json"]]
    if not isinstance(query, dict):
        return decode({}, *classes)[0], [PROBLEMS["no_settings"]]
    return decode(query, *classes)
