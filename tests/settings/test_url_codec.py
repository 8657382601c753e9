"""The address: exact both ways, readable for ever, and deaf to whatever else is put into it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.classroom.marking.assignments import Assignment
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.config import Config
from attnviz.settings import faults, fields, link_check, plain_text, url_codec
from attnviz.settings.kinds import Number, Option, Switch, Text
from attnviz.settings.rows import Choice, table
from attnviz.settings.tuple_kinds import Options
from attnviz.ui.session.selection import LESSON_NAMES, Selection
from tests.support.cases import for_each

FEW, MANY = (settings(max_examples=n, deadline=None, derandomize=True) for n in (60, 500))
SHAPES = table(*(Choice(name, name.title(), len, "x", "A shape.", "-") for name in ("none", "disc", "ring", "star")))


def divisors(values: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(n for n in range(1, 17) if values["rows"] % n == 0)


@dataclass(frozen=True)
class Paint:
    """One field of every kind, one number that depends on another, and one rule of its own."""

    title: str = fields.text("A picture", label="Title", longest=20_000)
    numbers: str = fields.text("1 2\n3 4", label="Numbers", longest=20_000, lines=3)
    rows: int = fields.number(4, 1, 16, label="Rows")
    bands: int | None = fields.number(None, 1, 16, label="Bands", none="as many as rows", offered=divisors)
    weight: float = fields.number(1.0, -1e300, 1e300, label="Weight", integer=False)
    glow: float | None = fields.number(None, 0.0, 5.0, label="Glow", integer=False, none="its own")
    framed: bool = fields.switch(True, label="Framed")
    shape: str = fields.option(SHAPES, "disc", label="Shape")
    layers: tuple[str, ...] = fields.options(SHAPES, "none", label="Layers")
    widths: int | tuple[int, ...] = fields.widths(3, 1, 9, most=4, label="Widths")

    def __post_init__(self) -> None:
        fields.check(self)
        if self.shape == "ring" and not self.framed:
            raise faults.ConfigError(f"shape is 'ring'; only a framed picture has one, and {self.title} is not")


@dataclass(frozen=True)
class Look:
    """A second record."""

    row: int = fields.number(0, 0, 15, label="Row")

    def __post_init__(self) -> None:
        fields.check(self)


def read(query: Mapping[str, Any]) -> tuple[Paint, Look, list[str]]:
    (paint, look), problems = url_codec.decode(query, Paint, Look)
    return paint, look, problems


def some(kind: fields.Kind) -> st.SearchStrategy[Any]:
    """Values that a field of this kind may hold."""
    match kind:
        case Text():
            return st.text(max_size=30).map(lambda text: plain_text.clean(text, kind.lines))
        case Number(integer=True):
            return st.integers(int(kind.low), int(kind.high)) if not kind.offered else st.sampled_from([None, 1])
        case Number():
            return st.floats(kind.low, kind.high) | (st.none() if kind.none else st.nothing())
        case Switch():
            return st.booleans()
        case Option():
            return st.sampled_from(list(kind.table))
        case Options():
            return st.lists(st.sampled_from(list(kind.table))).map(tuple)
        case _:
            width = st.integers(kind.low, kind.high)
            return width | st.lists(width, min_size=1, max_size=kind.most).map(tuple)


PAINTS = st.builds(
    Paint, **{item.name: some(item.metadata["kind"]) for item in fields.settings(Paint)} | {"framed": st.just(True)}
)
TOKENS = st.sampled_from(
    ["", "1e999", "nan", "-inf", "\x00", "\ud800", "auto", "yes", "9" * 5_000, ".,. ", "ring", "no", "7"]
)
ANYTHING = st.text() | TOKENS | st.lists(st.text() | TOKENS) | st.none() | st.integers() | st.floats() | st.binary()
NAMES = st.sampled_from([*(item.name for item in fields.settings(Paint)), "v", "without", "row", "embed"]) | st.text()


def test_the_defaults_need_no_address() -> None:
    assert url_codec.encode(Paint(), Look()) == {"v": "2"}
    assert read({}) == (Paint(), Look(), [])


@for_each("record", [Config, PretrainedConfig, Selection, Assignment, Paint, Look])
def test_a_default_is_what_its_check_would_make_of_it(record: type) -> None:
    for item in fields.settings(record):  # so a record need not check it again
        made = item.metadata["kind"].check(item.default)
        assert (type(made), made) == (type(item.default), item.default), item.name


def test_only_what_differs_is_written_by_its_stable_name() -> None:
    query = url_codec.encode(Paint(layers=("star", "ring"), framed=False), Look(row=2))
    assert query == {"v": "2", "framed": "no", "layers": "ring.star", "row": "2"}


@FEW
@given(PAINTS, st.integers(0, 15))
def test_what_is_written_is_read_back_exactly(paint: Paint, row: int) -> None:
    query = url_codec.encode(paint, Look(row))
    assert read(query) == (paint, Look(row), [])
    assert read(dict(parse_qsl(urlencode(query), keep_blank_values=True))) == (paint, Look(row), [])
    assert read(url_codec.encode(paint, Look(row), every=True)) == (paint, Look(row), [])
    assert url_codec.open_link("https://host/?" + url_codec.query_string(paint, Look(row)), Paint, Look)[0] == (
        paint,
        Look(row),
    )
    assert url_codec.from_file(url_codec.to_file(paint, Look(row)), Paint, Look) == ((paint, Look(row)), [])


@pytest.mark.slow
@MANY
@given(PAINTS, st.integers(0, 15))
def test_all_of_much_that_is_written_is_read_back_exactly(paint: Paint, row: int) -> None:
    test_what_is_written_is_read_back_exactly.hypothesis.inner_test(paint, row)


@FEW
@given(st.dictionaries(NAMES, ANYTHING, max_size=8))
def test_no_address_is_refused_and_what_was_read_stays(query: dict[str, Any]) -> None:
    paint, look, problems = read(query)
    again = url_codec.encode(paint, look)
    assert read(again) == (paint, look, [])
    for problem in problems:
        assert problem.endswith(".")
        assert len(problem) < 400
        problem.encode()


@pytest.mark.slow
@MANY
@given(st.dictionaries(NAMES, ANYTHING, max_size=8))
def test_none_of_many_addresses_is_refused(query: dict[str, Any]) -> None:
    test_no_address_is_refused_and_what_was_read_stays.hypothesis.inner_test(query)


@for_each("value", [0.1, 1 / 3, 5e-324, 1e300, -123456.789012345, 1.0000000000000002])
def test_numbers_keep_their_last_bit(value: float) -> None:
    assert read(url_codec.encode(Paint(weight=value)))[0].weight.hex() == value.hex()


@for_each(
    "query, field, value, words",
    [
        ({"rows": "99"}, "rows", 16, ["Rows", "'99'", "16", "1 to 16"]),
        ({"rows": "-1e999"}, "rows", 1, ["Rows", "1 to 16"]),
        ({"rows": "2.6"}, "rows", 3, ["Rows", "'2.6'"]),
        ({"rows": "nan"}, "rows", 4, ["Rows", "'nan'", "1 to 16", "'4'"]),
        ({"rows": "\x00"}, "rows", 4, ["Rows", r"\x00"]),
        ({"rows": ["2", "3"]}, "rows", 3, ["Rows", "2 times", "last"]),
        ({"rows": []}, "rows", 4, ["Rows", "list"]),
        ({"rows": None}, "rows", 4, ["Rows", "NoneType"]),
        ({"framed": "maybe"}, "framed", True, ["Framed", "'maybe'", "yes or no"]),
        ({"shape": "blob"}, "shape", "disc", ["Shape", "'blob'", "none, disc, ring, star", "'disc'"]),
        ({"layers": "star.blob"}, "layers", ("star",), ["Layers", "'blob'"]),
        ({"layers": "x." * 400}, "layers", ("none",), ["Layers", "'x'", "more"]),
        ({"layers": "x." * 400_000}, "layers", ("none",), ["Layers"]),
        ({"widths": "4,99"}, "widths", (4, 9), ["Widths", "9"]),
        ({"widths": "?"}, "widths", 3, ["Widths", "1 to 9"]),
        ({"title": "x" * 1_000_000}, "title", "x" * 20_000, ["Title", "1,000,000", "20,000"]),
        ({"rows": "6", "bands": "4"}, "bands", 3, ["Bands", "'4'", "'3'", "the rest"]),
        ({"shape": "ring", "framed": "no", "title": "x" * 9_000}, "shape", "disc", ["Shape", "framed", "'disc'"]),
        ({"without": "numbers"}, "numbers", "1 2\n3 4", ["Numbers", "Too long", "file"]),
    ],
)
def test_a_value_that_cannot_stand_is_replaced_and_said(
    query: dict[str, Any], field: str, value: Any, words: list[str]
) -> None:
    paint, _, problems = read(query)
    assert getattr(paint, field) == value
    assert len(problems) == 1
    assert len(problems[0]) < 400
    for word in words:
        assert word in problems[0]


def test_of_a_long_list_only_the_names_that_look_most_like_what_was_given_are_said() -> None:
    _, problems = url_codec.decode({"lesson": "why_rot"}, Selection)
    assert problems[0].startswith(f"Lesson was 'why_rot'; choose from {len(LESSON_NAMES)} names, such as why_root")
    _, problems = url_codec.decode({"lesson": "0" * 5_000}, Selection)
    assert f"such as {', '.join([*LESSON_NAMES][:3])}; " in problems[0]


def test_unknown_names_are_said_in_one_sentence() -> None:
    problems = read({f"odd{i}": "1" for i in range(10_000)})[2]
    assert problems == ["There is no setting called 'odd0', 'odd1', 'odd2' and 9,997 more; ignored."]


@for_each("name", ["embed", "embed_options", "utm_source", "fbclid", "__theme"])
def test_what_belongs_to_the_host_is_left_alone_in_silence(name: str) -> None:
    assert read({name: "x"})[2] == []


@for_each("version", ["3", "0", "-1", "x", "", "9" * 5_000, "١"])
def test_an_unknown_version_is_said_and_read_all_the_same(version: str) -> None:
    paint, _, problems = read({"v": version, "rows": "7"})
    assert paint.rows == 7
    assert len(problems) == 1
    assert "version" in problems[0]


def test_an_old_link_is_migrated_and_a_new_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(url_codec, "MIGRATIONS", (lambda query: {"rows": "9", **query},))
    assert read({"v": "1"})[0].rows == 9
    assert read({"v": "1", "rows": "2"})[0].rows == 2
    assert read({"v": "2"})[0].rows == 4
    assert read({})[0].rows == 4
    assert url_codec.encode(Paint(rows=5))["v"] == "2"


def test_text_is_cleaned_of_what_no_font_shows_and_of_nothing_else() -> None:
    kept = "👩‍🍳 ❤️ لا‌ έ a\tb"
    assert plain_text.clean(kept) == kept
    assert plain_text.clean("a\x00b\x7fc\x85d\u202ee\u2066f") == "abcdef"
    assert plain_text.clean("\ud83d\ude00 \ud83d!") == "😀 \ufffd!"
    assert plain_text.clean("a\r\nb\rc") == "a b c"
    assert plain_text.clean("a\r\nb\rc", lines=2) == "a\nb\nc"
    assert read({"title": "a\x00\ud800b"})[0].title == "a\ufffdb"
    url_codec.query_string(Paint(title="a\ud800b"))


def test_what_is_too_long_for_a_link_is_left_out_by_name_and_can_be_put_back() -> None:
    long = Paint(title="1" * 3_000, numbers="é" * 2_000, rows=7)
    whole = url_codec.encode(long)
    assert not url_codec.fits_in_link(whole)
    short, left_out = url_codec.shorten_to_fit(whole)
    assert left_out == ("numbers",)
    kept = {"v": "2", "title": "1" * 3_000, "rows": "7", "without": "numbers"}
    assert short == link_check.checked(kept)
    assert url_codec.fits_in_link(short)
    assert read(url_codec.restore_dropped(short, whole)) == (long, Look(), [])
    assert read(url_codec.restore_dropped({**short, "without": ["numbers"]}, whole)) == (long, Look(), [])
    assert url_codec.restore_dropped({**short, "numbers": "5"}, whole)["numbers"] == "5"
    assert url_codec.from_file(url_codec.to_file(long), Paint)[0] == (long,)


def test_a_link_is_opened_with_or_without_its_host() -> None:
    assert url_codec.open_link("https://host/page?rows=7", Paint) == ((Paint(rows=7),), [])
    assert url_codec.open_link("rows=7", Paint) == ((Paint(rows=7),), [])


def test_a_link_of_exactly_the_longest_length_still_fits() -> None:
    room = url_codec.MAX_LINK_CHARACTERS - len("title=") - len("&c=aaaa")
    assert url_codec.fits_in_link({"title": "x" * room})
    assert not url_codec.fits_in_link({"title": "x" * (room + 1)})
    assert url_codec.shorten_to_fit({"title": "x" * room}) == (link_check.checked({"title": "x" * room}), ())


@for_each("text", ["[" * 100_000, "", "{", "nonsense", '{"rows": 1} x', "[]", '"rows"', "7", "\x00"])
def test_a_file_that_holds_no_settings_gives_the_defaults_and_says_so(text: str) -> None:
    (paint,), problems = url_codec.from_file(text, Paint)
    assert paint == Paint()
    assert len(problems) == 1
    assert "defaults" in problems[0]


def test_a_file_edited_by_hand_is_read_as_far_as_it_goes() -> None:
    text = '\ufeff{"rows": 7, "weight": NaN, "title": "\\ud800", "framed": true, "widths": ' + "9" * 100_000 + "}"
    (paint,), problems = url_codec.from_file(text, Paint)
    assert paint == Paint(rows=7, title="\ufffd")
    assert Counter(problem.split()[0] for problem in problems) == {"Weight": 1, "Framed": 1, "Widths": 1}
    assert [problem for problem in problems if "'NaN'" in problem]


def test_a_file_is_an_object_of_the_address() -> None:
    assert json.loads(url_codec.to_file(Paint(rows=7))) == {"v": "2", "rows": "7"}
    assert json.loads(url_codec.to_file(Paint())) == {"v": "2"}


def test_the_records_of_the_page_share_no_name_and_need_no_address() -> None:
    names = Counter(item.name for record in (Config, Selection) for item in fields_of(record))
    assert max(names.values()) == 1
    assert not names.keys() & {*url_codec.RESERVED}
    assert not [name for name in names if name.startswith(("embed_options", "utm_", "__"))]
    assert url_codec.encode(Config(), Selection()) == {"v": "2"}


def test_every_setting_of_the_page_survives_a_link() -> None:
    whole = url_codec.encode(Config(), Selection(), every=True)
    assert url_codec.decode(whole, Config, Selection) == ((Config(), Selection()), [])


@for_each("text", ["٣", "３", "³", "1_0", "٣٫٥"])
def test_a_number_is_written_in_the_digits_of_links(text):
    for name in ("n_heads", "temperature"):
        (config,), problems = url_codec.decode({name: text}, Config)
        assert getattr(config, name) == getattr(Config(), name)
        assert len(problems) == 1


def test_a_version_is_read_in_the_digits_that_the_page_writes() -> None:
    (problem,) = url_codec.decode({"v": "١"}, Config)[1]
    assert problem == "The link's version '١' is not known here; it is read as version 2."
