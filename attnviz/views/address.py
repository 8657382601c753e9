"""Settings records <-> the address of the page, and the same as a file.

An address holds stable names and never labels, only what differs from the default, and the version of its meaning.
Reading one never raises: what can be used is used, and every change made to it is said in one plain sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import Field
from typing import Any
from urllib.parse import parse_qs, urlencode

from attnviz.core.fields import (
    Changes,
    Kind,
    Listed,
    Number,
    Option,
    Options,
    Switch,
    Text,
    Widths,
    Written,
    default,
    mended,
    settings,
    shorten,
)

LONGEST_LINK = 6_000
"""Characters of a percent-encoded address that every proxy, chat and e-mail in use lets through."""

MIGRATIONS: tuple[Callable[[dict[str, str]], dict[str, str]], ...] = ()
"""The i-th turns an address of version i + 1 into one of version i + 2. Changing a default adds one."""

VERSION = "v"
WITHOUT = "without"
RESERVED = (VERSION, WITHOUT)

_HOSTING = ("embed", "utm_", "__", "fbclid", "gclid", "msclkid")
_LONGEST_VALUE = 1_000
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_DROPPED = {code: None for code in _CONTROLS if chr(code) not in "\t\n"}


Items = Mapping[str, Field[Any]]


def clean(text: str, lines: int = 1) -> str:
    """`text` without what no font shows: controls and bidi overrides go, lone surrogates become U+FFFD.

    Joiners and variation selectors stay, as emoji and many scripts need them.

    >>> clean("a\\x00b\\ud800") == "ab\\ufffd"
    True
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    shown = whole.replace("\r\n", "\n").replace("\r", "\n").translate(_DROPPED)
    return shown if lines > 1 else shown.replace("\n", " ")


def encode(*records: object, every: bool = False) -> dict[str, str]:
    """The records as an address: the version, and what differs from the default, or `every` setting."""
    query: dict[str, str] = {}
    for record in records:
        for item in settings(record):
            value = getattr(record, item.name)
            if isinstance(item.metadata["kind"], Changes):
                query |= {f"{item.metadata['kind'].prefix}{name}": text for name, text in value}
            elif every or value != default(item):
                query[item.name] = _written(item, value)
    return {VERSION: str(1 + len(MIGRATIONS)), **query}


def labels(*classes: type[Any]) -> dict[str, str]:
    """What each parameter that is ours is called on the page: those of the fields, and those of a second setting."""
    found: dict[str, str] = {}
    for item in (item for cls in classes for item in settings(cls)):
        kind = item.metadata["kind"]
        if isinstance(kind, Changes):
            found |= {
                f"{kind.prefix}{name}": f"{said} in {kind.prefix[0].upper()}" for name, said in labels(kind.of).items()
            }
        else:
            found[item.name] = _label(item)
    return found


def difference(one: object, other: object, also: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """The fields in which two records of a class differ, and those named in `also`, as the other has them."""
    here, there = encode(one, every=True), encode(other, every=True)
    return tuple(
        (name, there[name]) for name in here if name != VERSION and (here[name] != there[name] or name in also)
    )


def changed(record: Any, changes: Iterable[tuple[str, str]]) -> tuple[Any, list[str]]:
    """The record with some fields changed to what the texts mean, and what had to be changed to read them."""
    (other,), problems = decode(encode(record, every=True) | dict(changes), type(record))
    return other, problems


def _label(item: Field[Any]) -> str:
    return str(item.metadata["label"])


def _written(item: Field[Any], value: Any) -> str:
    kind = item.metadata["kind"]
    return clean(value, kind.lines) if isinstance(kind, Text) else str(kind.write(value))


def _default(item: Field[Any]) -> str:
    return shorten(_written(item, default(item)))


def decode(query: Mapping[str, Any], *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """The records that an address means, one of each class, and what had to be changed to read it.

    Never raises, whatever the mapping holds.
    """
    problems: list[str] = []
    names = labels(*classes)
    known = {name: query[name] for name in query if name in names or name in RESERVED}
    given = _migrated(dict(_single(known, names, problems)), problems)
    problems += _unknown([str(name) for name in query if name not in known and not _hosting(str(name))])
    for name in given.pop(WITHOUT, "").split("."):
        if name in names and name not in given:
            problems.append(f"{names[name]} was too long for a link; open the saved file to have it.")
    return tuple(_record(cls, given, problems) for cls in classes), problems


def _single(query: Mapping[str, Any], names: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """One text for each name, whatever was given."""
    for name, value in query.items():
        label = names.get(name, f"The parameter {name}")
        if isinstance(value, (list, tuple)) and value:
            if len(value) > 1:
                problems.append(f"{label} was given {len(value):,} times; the last is used.")
            value = value[-1]
        if isinstance(value, str):
            yield name, value
        else:
            problems.append(f"{label} was given as {type(value).__name__}, not as text; ignored.")


def _hosting(name: str) -> bool:
    return name.lower().startswith(_HOSTING)


def _unknown(names: list[str]) -> list[str]:
    if not names:
        return []
    listed = ", ".join(map(shorten, names[:3])) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    return [f"There is no setting called {listed}; ignored."]


def _migrated(query: dict[str, str], problems: list[str]) -> dict[str, str]:
    """The address as today's version would have written it."""
    newest = 1 + len(MIGRATIONS)
    text = query.pop(VERSION, str(newest))
    version = int(text) if len(text) < 9 and text.isascii() and text.isdecimal() else 0
    if not 1 <= version <= newest:
        problems.append(f"The link's version {shorten(text)} is not known here; it is read as version {newest}.")
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
    fitting, _ = mended(cls, values)
    for name, item in items.items():
        if fitting[name] != values[name]:
            was, used = (shorten(_written(item, side[name])) for side in (values, fitting))
            problems.append(f"{_label(item)} was {was}, which does not go with the rest; {used} is used.")
    try:
        return cls(**fitting)
    except ValueError as error:
        return _without_one(cls, items, fitting, str(error)[:200], problems)


def _changes(kind: Changes, given: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    """What is otherwise in a second setting; what means nothing there stays as in the first."""
    for item in settings(kind.of):
        text = given.get(kind.prefix + item.name)
        if text is None:
            continue
        it = f"{_label(item)} in {kind.prefix[0].upper()}"
        try:
            value, problem = _read(item, text)
        except ValueError:
            problems.append(f"{it} was {shorten(text)}; choose {_allowed(item.metadata['kind'])}; left as it is in A.")
            continue
        if problem:
            problems.append(f"{it} {problem}.")
        yield item.name, _written(item, value)


def _without_one(cls: type[Any], items: Items, values: Mapping[str, Any], why: str, problems: list[str]) -> Any:
    """The record with one value at its default, so that the rest go together; all defaults if no single one does."""
    for name in sorted(items, key=lambda name: not why.startswith(name)):
        try:
            record = cls(**{**values, name: default(items[name])})
        except ValueError:
            continue
        problems.append(f"{_label(items[name])} could not be used ({why}); {_default(items[name])} is used.")
        return record
    problems.append(f"The settings do not go together ({why}); the defaults are used.")
    return cls()


def _value(item: Field[Any], text: str, problems: list[str]) -> Any:
    """The value that `text` means; the default if it means none."""
    try:
        value, problem = _read(item, text)
    except ValueError:
        allowed = _allowed(item.metadata["kind"])
        problems.append(f"{_label(item)} was {shorten(text)}; choose {allowed}; {_default(item)} is used.")
        return default(item)
    if problem:
        problems.append(f"{_label(item)} {problem}.")
    return value


def _read(item: Field[Any], text: str) -> tuple[Any, str | None]:
    """What a text means and what was changed to read it; raises ValueError if it means nothing."""
    kind = item.metadata["kind"]
    if not isinstance(kind, (Text, Written)) and len(text) > _LONGEST_VALUE:
        raise ValueError(text)
    value, problem = kind.read(clean(text, kind.lines) if isinstance(kind, Text) else text)
    return value, problem


def _allowed(kind: Kind) -> str:
    match kind:
        case Number():
            return kind.range
        case Switch():
            return "yes or no"
        case Option() | Options():
            return f"from {', '.join(kind.table)}"
        case Widths():
            return f"{kind.low} to {kind.high}, once or for each head"
        case Listed():
            return f"from {', '.join(kind.table)}"
        case Written() | Changes():
            return "as a link that was copied has it"
        case Text():
            return f"at most {kind.longest:,} characters"


def fits(query: Mapping[str, str]) -> bool:
    """Whether an address is short enough for a link."""
    return len(urlencode(query)) <= LONGEST_LINK


def fitting(query: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The address without its longest values, until it fits, and their names; they are named in the address too."""
    short = dict(query)
    left_out: tuple[str, ...] = ()
    by_length = sorted(query.keys() - {*RESERVED}, key=lambda name: (len(urlencode({name: query[name]})), name))
    while not fits(short):
        left_out += (by_length.pop(),)
        del short[left_out[-1]]
        short[WITHOUT] = ".".join(left_out)
    return short, left_out


def completed(query: Mapping[str, Any], held: Mapping[str, str]) -> dict[str, Any]:
    """The address with what was too long for it put back from `held`, an address of any length."""
    without = query.get(WITHOUT, "")
    names = str(without[-1] if isinstance(without, list) and without else without).split(".")
    return {**query, **{name: held[name] for name in names if name in held and name not in query}}


def link(*records: object) -> str:
    """What follows the question mark in a link to the records; see `fits` and `to_file` for long ones."""
    return urlencode(fitting(encode(*records))[0])


def open_link(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """The records that a whole link, or what follows its question mark, means; and what had to be changed."""
    query = parse_qs(text.partition("?")[2] or text, keep_blank_values=True)
    return decode(query, *classes)


def to_file(*records: object) -> str:
    """The records as a JSON file: an address of any length."""
    return json.dumps({VERSION: str(1 + len(MIGRATIONS)), **encode(*records)}, indent=1)


def from_file(text: str, *classes: type[Any]) -> tuple[tuple[Any, ...], list[str]]:
    """The records that a file of `to_file` holds, and what had to be changed to read it; never raises."""
    try:  # numbers stay text, as in an address: no digit is lost and none is too many
        query = json.loads(text.lstrip("\ufeff"), parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return decode({}, *classes)[0], ["The file could not be read as JSON; the defaults are used."]
    if not isinstance(query, dict):
        return decode({}, *classes)[0], ["The file holds no settings by name; the defaults are used."]
    return decode(query, *classes)
