"""Encode settings records in the address of the page or in a file, and decode them.

An address holds stable names, never labels, only the values that differ from the default, and the version of the
encoding. Decoding never raises: it uses what it can, and reports every correction in a sentence, which no library for
forms or settings does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import Field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode

from attnviz.settings.address_problems import PROBLEMS
from attnviz.settings.allowed_in_words import allowed as allowed_by
from attnviz.settings.faults import shorten
from attnviz.settings.fields import Changes, default, settings, snap_to_valid
from attnviz.settings.kinds import Named, Text
from attnviz.settings.language import current_language, full_stop, translate
from attnviz.settings.link_check import CHECK, LENGTH, WITHOUT, checked, fault, heal
from attnviz.settings.link_check import VERSION as VERSION
from attnviz.settings.plain_text import clean
from attnviz.settings.tuple_kinds import SerialisedTuple

MAX_LINK_CHARACTERS = 6_000
"""The length, percent-encoded, up to which proxies, chats and e-mail programs pass an address on unharmed."""


def _heads_solved_anew(query: dict[str, str]) -> dict[str, str]:
    """Keep what heads set by hand did in version 1: they were solved anew for the rest of the setting.

    So they were in what an assignment gives, and leaves a student to change.
    """
    by_hand = "by_hand" in (query.get("initialiser"), query.get("b_initialiser"))
    given = {"given_solved_anew": "yes"} if query.get("given_initialiser") == "by_hand" else {}
    return {**({"solved_anew": "yes"} if by_hand else {}), **given, **query}


MIGRATIONS: tuple[Callable[[dict[str, str]], dict[str, str]], ...] = (_heads_solved_anew,)
"""The i-th migrates an address from version i + 1 to i + 2; whoever changes a default adds a migration."""

RESERVED = (VERSION, WITHOUT, CHECK)

_HOSTING = ("embed", "utm_", "__", "fbclid", "gclid", "msclkid")
_LONGEST_VALUE = 1_000

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


def labels(*classes: type[Any]) -> Mapping[str, str]:
    """Return the label of every parameter of an address, with those of a second setting, in the current language."""
    return _labels(current_language(), classes)


@cache
def _labels(_: str, classes: tuple[type[Any], ...]) -> Mapping[str, str]:
    by_name: dict[str, str] = {}
    for item in (item for cls in classes for item in settings(cls)):
        kind = item.metadata["kind"]
        of = labels(kind.of) if isinstance(kind, Changes) else {}
        by_name |= {f"{kind.prefix}{name}": _in_side(of[name], kind) for name in of} or {item.name: _label(item)}
    return by_name


def difference(one: object, other: object, also: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the fields in which two records of a class differ, and those in `also`, with the values of the second."""
    query, other_query = encode(one, every=True), encode(other, every=True)
    return tuple(
        (name, other_query[name])
        for name in query
        if name != VERSION and (query[name] != other_query[name] or name in also)
    )


def apply_changes(record: Any, changes: Iterable[tuple[str, str]]) -> tuple[Any, list[str]]:
    """Return the record with some fields set from texts, and a sentence for each correction."""
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
    written = _written(item, default(item))
    return shorten(written) if written or not isinstance(item.metadata["kind"], Named) else translate("none")


def decode(query: Mapping[str, Any], *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that an address encodes, one of each class, and a sentence for each correction.

    Never raises, whatever the mapping holds.
    """
    problems: list[str] = []
    names = labels(*classes)
    known = {name: query[name] for name in query if name in names or name in RESERVED}
    texts = _migrated(dict(_single(known, names, problems)), problems)
    others = (str(name) for name in query if name not in known)
    problems += _unknown([name for name in others if not name.lower().startswith(_HOSTING)])
    for name in dict.fromkeys(texts.pop(WITHOUT, "").split(".")):
        if name in names and name not in texts:
            problems.append(PROBLEMS["without"].format(label=names[name]))
    return tuple(_record(cls, texts, problems) for cls in classes), problems


def _single(query: Mapping[str, Any], names: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each parameter with a single text; report those that were given several times, or not as text."""
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


def _unknown(names: list[str]) -> list[str]:
    if not names:
        return []
    listed, n = ", ".join(map(shorten, names[:3])), len(names) - 3
    return [PROBLEMS["unknown_many" if n > 0 else "unknown"].format(names=listed, n=n)]


def _migrated(query: dict[str, str], problems: list[str]) -> dict[str, str]:
    """Return the address migrated to the current version."""
    newest = 1 + len(MIGRATIONS)
    text = query.pop(VERSION, str(newest))
    version = int(text) if len(text) < 9 and text.isascii() and text.isdecimal() else 0
    if not 1 <= version <= newest:
        problems.append(PROBLEMS["version"].format(version=shorten(text), newest=newest))
        version = newest
    return migrated(query, version)


def migrated(query: Mapping[str, str], version: int = 1) -> dict[str, str]:
    """Return settings by name as the current version writes them; what is there already stays.

    >>> migrated({"initialiser": "by_hand"})
    {'solved_anew': 'yes', 'initialiser': 'by_hand'}
    """
    for migrate in MIGRATIONS[version - 1 :]:
        query = migrate({**query})
    return {**query}


def _record(cls: type[Any], texts: Mapping[str, str], problems: list[str]) -> Any:
    items = {item.name: item for item in settings(cls)}
    values = {name: default(item) for name, item in items.items()}
    values |= {name: _value(items[name], texts[name], problems) for name in items if name in texts}
    for name, item in items.items():
        if isinstance(item.metadata["kind"], Changes):
            values[name] = tuple(_changes(item.metadata["kind"], texts, problems))
    fitting, _ = snap_to_valid(cls, values)
    for name, item in items.items():
        if fitting[name] != values[name]:
            was, used = (shorten(_written(item, side[name])) for side in (values, fitting))
            problems.append(PROBLEMS["unfitting"].format(label=_label(item), given=was, used=used))
    try:
        return cls(**fitting)
    except ValueError as error:
        return _without_one(cls, items, fitting, str(error)[:200], problems)


def _changes(kind: Changes, texts: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the fields that differ in a second setting; one that cannot be read there stays as in the first."""
    for item in settings(kind.of):
        text = texts.get(kind.prefix + item.name)
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
            problems.append(f"{it} {problem}{full_stop()}")
        yield item.name, _written(item, value)


def _without_one(cls: type[Any], items: Items, values: Mapping[str, Any], why: str, problems: list[str]) -> Any:
    """Return the record with one value reset to its default so that the others are valid together.

    If no single reset is enough, all are reset.
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
    """Return the value that `text` encodes, or the default if it is invalid."""
    try:
        value, problem = _read(item, text)
    except ValueError:
        facts = {"given": shorten(text), "allowed": allowed_by(item.metadata["kind"], text), "used": _default(item)}
        problems.append(PROBLEMS["outside"].format(label=_label(item), **facts))
        return default(item)
    if problem:
        problems.append(f"{_label(item)} {problem}{full_stop()}")
    return value


def _read(item: Field[Any], text: str) -> tuple[Any, str | None]:
    """Parse a text; return the value, and the correction that it needed, if any. Raises ValueError if it is invalid."""
    kind = item.metadata["kind"]
    if not isinstance(kind, (Text, SerialisedTuple)) and len(text) > _LONGEST_VALUE:
        raise ValueError(text)
    if isinstance(kind, Named):
        return kind.now(text)
    value, problem = kind.read(clean(text, kind.lines) if isinstance(kind, Text) else text)
    return value, problem


def fits_in_link(query: Mapping[str, str]) -> bool:
    """Return whether an address, with its check, is short enough for a link."""
    return len(urlencode({**query, CHECK: "-" * LENGTH})) <= MAX_LINK_CHARACTERS


def shorten_to_fit(query: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the address of a link, with its longest values dropped until it fits, and the names of those.

    The address itself lists them in the parameter `without`, and ends with its check.
    """
    short = dict(query)
    left_out: tuple[str, ...] = ()
    by_length = sorted(query.keys() - {*RESERVED}, key=lambda name: (len(urlencode({name: query[name]})), name))
    while not fits_in_link(short):
        left_out += (by_length.pop(),)
        del short[left_out[-1]]
        short[WITHOUT] = ".".join(left_out)
    return checked(short), left_out


def restore_dropped(query: Mapping[str, Any], whole: Mapping[str, str]) -> dict[str, Any]:
    """Return the address with its dropped values restored from `whole`, an address of any length."""
    without = query.get(WITHOUT, "")
    names = str(without[-1] if isinstance(without, list) and without else without).split(".")
    return {**query, **{name: whole[name] for name in names if name in whole and name not in query}}


def query_string(*records: object) -> str:
    """Return the query string of a link to the records.

    See `fits_in_link` and `to_file` for long ones.
    """
    return urlencode(shorten_to_fit(encode(*records))[0])


def open_link(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that a link, or its query string, encodes, and a sentence for each correction."""
    return decode_link(parse_qs(text.partition("?")[2] or text, keep_blank_values=True), *classes)


def decode_link(
    query: Mapping[str, Any], *classes: type[Any], whole: Mapping[str, str] | None = None
) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that the parameters of a link encode, and a sentence for each correction.

    Unlike `decode`, it mends what happened to a link on its way, and says first if the check at its end does not fit.
    Values that were too long for a link are restored from `whole`, an address of any length.
    """
    names = labels(*classes)
    query = heal(query, names)
    problem = fault(query, names)
    records, problems = decode(restore_dropped(query, whole or {}), *classes)
    return records, [PROBLEMS[problem], *problems] if problem else problems


def to_file(*records: object) -> str:
    """Return the records as a JSON file: an address of any length."""
    return json.dumps({VERSION: str(1 + len(MIGRATIONS)), **encode(*records)}, indent=1)


def from_file(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that a file of `to_file` holds, and a sentence for each correction; never raises."""
    try:  # numbers stay text, as in an address, so that digits are exact
        query = json.loads(text.lstrip("\ufeff"), parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return decode({}, *classes)[0], [PROBLEMS["no_json"]]
    if not isinstance(query, dict):
        return decode({}, *classes)[0], [PROBLEMS["no_settings"]]
    return decode(query, *classes)
