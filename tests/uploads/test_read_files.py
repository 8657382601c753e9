"""Files that people bring: good ones are read exactly, all others are refused in one sentence and without a cost."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, ConfigError, run
from attnviz.exports import tables
from attnviz.uploads import npy as arrays
from attnviz.uploads import parse_text
from attnviz.uploads.parse_text import from_text, matrix
from attnviz.uploads.read_files import BUDGET, read
from tests.support.cases import for_each

A = np.random.default_rng(4).normal(size=(2, 3, 5))
ROOT = Path(__file__).parents[2]


def npy(array: object) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def npz(**named: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **{name: np.asarray(array) for name, array in named.items()})
    return out.getvalue()


def packed(**named: object) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **{name: np.asarray(array) for name, array in named.items()})
    return out.getvalue()


def headed(header: str, body: bytes = b"") -> bytes:
    return arrays.MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1") + body


def shaped(shape: str, body: bytes = b"", descr: str = "'<f8'") -> bytes:
    return headed(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n", body)


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def only(name: str, data: bytes) -> np.ndarray:
    found = read(name, data).arrays
    assert len(found) == 1
    return next(iter(found.values()))


@for_each("dtype", ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i4", "<u2", "|i1", "|b1"])
@for_each("order", ["C", "F"])
def test_numbers_of_every_kind_and_order_are_read_exactly(dtype: str, order: str) -> None:
    array = np.array(A * 9 > 3 if dtype == "|b1" else A * 9, order=order).astype(dtype)  # type: ignore[call-overload]
    for name, data in (("a.npy", npy(array)), ("a.npz", npz(weights=array))):
        assert np.array_equal(only(name, data), array)


def test_all_versions_of_a_header_are_read() -> None:
    for version in ((1, 0), (2, 0), (3, 0)):
        out = io.BytesIO()
        np.lib.format.write_array(out, A, version=version)
        assert np.array_equal(only("a.npy", out.getvalue()), A)


def test_arrays_tokens_and_texts_in_one_file() -> None:
    brought = read("A.NPZ", npz(q=A, k=A[:1], tokens=["the", "", "c\u00e4t\ud83d\ude00"], about="x"))
    assert list(brought.arrays) == ["q", "k"]
    assert brought.query_tokens == brought.key_tokens == ("the", "", "cät😀")
    assert brought.texts == {"about": "x"}
    two = read("a.json", json.dumps({"w": [[1, 0]], "query_tokens": ["a"], "key_tokens": ["b", "c"]}).encode())
    assert (two.query_tokens, two.key_tokens) == (("a",), ("b", "c"))


@for_each(
    "text",
    [
        "0.5,-0.25,1e-3\n0,1,2",
        "0.5\t-0.25\t1e-3\r\n0\t1\t2\r\n",
        "\ufeff0.5 -0.25 1e-3\n\n 0  1 2 \n",
        " .5, −0.25, +1E-3\n0,1.,2\n",
        "[[0.5, -0.25, 0.001], [0, true, 2]]",
        '\n{"x": [[0.5, -0.25, 1e-3], [0, 1, 2]]}',
        ",a,b,c\nx,0.5,-0.25,0.001\ny,0,1,2",
        '"a","b,","c"\n"0.5",-0.25,0.001\n0,1,2',
        "x 0.5 -0.25 0.001\ny 0 1 2",
        "0.5;-0.25;1e-3\n0;1;2",
        "0,5;-0,25;1E-3\r\n0;1;2\r\n",
        "sep=;\n,5;−0,25;0,001\n0;1,0;2",
        "sep=,\n0.5,-0.25,0.001\n0,1,2",
        "0,5\t-0,25\t0,001\n0\t1\t2",
        ";a;b;c\nx;0,5;-0,25;0,001\ny;0;1;2",
        ",1,2,3\n1,0.5,-0.25,0.001\n2,0,1,2",
        "query,1,2,3\n1 the,0.5,-0.25,0.001\n2 cat,0,1,2",
        "query,key,value\n2,1,0\n2,2,1\n2,3,2\n1,1,0.5\n1,2,-0.25\n1,3,0.001",
    ],
)
def test_tables_in_every_dress_are_the_same_numbers(text: str) -> None:
    name = "a.json" if text.lstrip()[:1] in "[{" else "a.csv"
    assert only(name, text.encode()).tolist() == [[0.5, -0.25, 0.001], [0.0, 1.0, 2.0]]


@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_spreadsheet_may_save_in_its_own_way(encoding: str) -> None:
    brought = read("a.csv", "sep=;\r\n;müde;süß\r\nmüde;0,5;0,5\r\nsüß;0,25;0,75\r\n".encode(encoding))
    assert brought.arrays[""].tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert brought.query_tokens == brought.key_tokens == ("müde", "süß")


def test_json_in_utf_16_is_json() -> None:
    assert only("a.json", "[[1, 2]]".encode("utf-16")).tolist() == [[1.0, 2.0]]


@for_each("name", ["weights", "scores", "masked", "queries", "w_q", "w_o", "embedded"])
def test_the_pages_own_files_are_read_back_exactly(name: str) -> None:
    trace = run(Config(sentence='the "cat", the, =1', mask="causal", tokeniser="whitespace"))
    step, tokens = trace[name], (trace.query_tokens, trace.key_tokens)
    brought = from_text(tables.csv(tables.tidy(step, *tokens)))
    assert np.array_equal(brought.arrays[""], np.atleast_2d(step.array))
    if name == "weights":
        assert brought.query_tokens == ("the", '"cat",', "the,", "'=1")
    for head in range(len(step.array) if step.axes[0] == "head" else 1):
        expected = step.array[head] if step.axes[0].endswith("head") else step.array
        one = matrix(tables.csv(tables.tidy(step, *tokens)), head=head, minus_infinity=True)
        assert np.array_equal(one, expected)
        shown = matrix(tables.csv(tables.matrix(step, *tokens, head)), minus_infinity=True)
        assert np.array_equal(shown, expected)


def test_one_head_of_a_table_of_several() -> None:
    two = "head,query,key,value\n1,1,1,0.5\n2,1,1,0.25\n2,1,2,0.75"
    assert matrix(two, head=1).tolist() == [[0.25, 0.75]]
    assert matrix(two, head=0).tolist() == [[0.5]]
    with pytest.raises(ConfigError, match="the table has 2 heads and none of them is head 4"):
        matrix(two, head=3)
    assert matrix("head,query,key,value\n7,1,1,0.5", head=0).tolist() == [[0.5]]


def test_labels_become_tokens_and_lose_our_numbers() -> None:
    brought = from_text(",1 the,2 7\n1 the,0.5,0.5\n2 7,1,0")
    assert (brought.query_tokens, brought.key_tokens) == (("the", "7"), ("the", "7"))
    assert from_text("the,cat\n0,1\n1,0").key_tokens == ("the", "cat")
    assert from_text("the,0,1\ncat,1,0").query_tokens == ("the", "cat")


def test_minus_infinity_is_read_where_it_may_be() -> None:
    for text in ("-inf 0", "−∞ 0", '[["-inf", 0]]', "[[-Infinity, 0]]"):
        assert from_text(text).arrays[""].tolist() == [[-np.inf, 0.0]]
    assert matrix("-inf 0", minus_infinity=True)[0, 0] == -np.inf
    with pytest.raises(ConfigError, match="'-inf' in row 1, column 1 is not a number; give a finite number, such as"):
        matrix("-inf 0")


@for_each(
    "text, message",
    [
        ("", "there is nothing in it"),
        ("1 2\n3", "numbers in row 2: 1, in the rows above: 2"),
        ("1,2\n3;4", "row 2 has a semicolon, and the first row has none"),
        ("0,5;0.6", "'0.6' in row 1, column 2 has a point, and other numbers have a comma"),
        ("1.234,5;2", "'1.234,5' in row 1, column 1 is not a number"),
        (
            "1\t2\n3\t1,250",
            "'1,250' in row 2, column 2 may hold a thousands separator or a decimal comma; write a decimal point",
        ),
        ("50%,50%\n0.5,0.5", "'50%' in row 1, column 1 is not a number"),
        ("sep=;", "there is nothing in it"),
        ("head,query,key,value\n1,1,1,0.5\n1,2,2,0.5", "there are 2 numbers for 4 cells"),
        ("query,key,value\n1,1,0.5\n1,1,0.5", "row 3 repeats a cell of a row above it"),
        ("query,key,value\n1,0,0.5", "'0' in row 2, column 2 is not a position; give a whole number from 1 to 4,096"),
        ("query,key,value\n1,9999999999,0.5", "'9999999999' in row 2, column 2 is not a position"),
        ("query,key,value\n4096,4096,0.5", "there are 1 numbers for 16,777,216 cells"),
        ("query,key,value\n1,1,x", "'x' in row 2, column 3 is not a number"),
        ("query,key,value\n1,1", "numbers in row 2: 2, in the rows above: 3"),
        ("query,key,value", "there is nothing in it"),
        ("1,,2", "row 1, column 2 is empty"),
        ("1,2,\n3,4,", "row 1, column 3 is empty"),
        ("1 nan", "'nan' in row 1, column 2 is not a number"),
        ("1 inf", "'inf' in row 1, column 2"),
        ("-1E999 1", "'-1E999' in row 1, column 1"),
        ("0.1,x\n1,2", "'x' in row 1, column 2"),
        ("1_000 2", "'1_000' in row 1, column 1"),
        ("١ 2", "'١' in row 1, column 1"),
        (",a,b\nx,1,2\ny,3,z", "'z' in row 3, column 3"),
        ('1,"2\n3,4', "'2|quotation mark"),
        ("1" * 5000, "in row 1, column 1 is not a number"),
        (" ".join("1" for _ in range(5000)), "5,000 columns; at most 4,096"),
        ("1\n" * 5000, "5,000 rows; at most 4,096"),
        ("1 " * 1001 + ("\n" + "1 " * 1001) * 999, "1,001,000 numbers; up to 1,000,000 are read from text"),
        (f"[{', '.join(['[1' + ',1' * 1000 + ']'] * 1000)}]", "1,001,000 numbers; up to 1,000,000"),
        ("[" * 100_000, "nested too deep"),
        ("[[1" + "0" * 5000 + "]]", "a number that is too long"),
        ("[[1" + "0" * 400 + "]]", "at position 1, 1 is not a number"),
        ("[[1, 2], [3]]", "1 entries, not 2, at position 2; give lists of equal length"),
        ("[[1, 2], 3]", "no list at position 2"),
        ("[[1, null]]", "'None' at position 1, 2 is not a number"),
        ("[[1, NaN]]", "'nan' at position 1, 2"),
        ("[[1, 1e999]]", "'inf' at position 1, 2"),
        ("[]", "there is nothing in it"),
        ("[[[[[[1]]]]]]", "nested too deep"),
        ("[1, 2", "the JSON cannot be read at line 1, column 6"),
        ('{"a": 1}', "neither lists of numbers nor names"),
        ('{"w": [[1]], "tokens": [1]}', "tokens are not a list of strings"),
    ],
)
def test_a_fault_in_a_text_is_said_with_its_position(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        from_text(text)
    assert len(str(error.value)) < 300


def test_lone_surrogates_and_hidden_controls_leave_the_tokens() -> None:
    brought = from_text('{"w": [[1, 0], [0, 1]], "tokens": ["a\\ud800", "b\\u202e\\u0000"]}')
    assert brought.query_tokens == ("a\ufffd", "b")
    assert len(parse_text.tokens("x" * 1000)[0]) == parse_text.LONGEST_TOKEN  # type: ignore[index]


class Payload:
    """An object that leaves a trace if anyone unpickles it."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return (Path.touch, (Path("canary"),))


PICKLE = pickle.dumps(Payload())


OBJECTS = npy(np.array([Payload()], dtype=object))


def relied(size: int) -> bytes:
    """An archive in which a member says that it has another size than it has."""
    data = bytearray(zipped(("w.npy", npy(A))))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = size.to_bytes(4, "little")
    return bytes(data)


def flagged() -> bytes:
    """An archive whose member says that it is encrypted."""
    data = bytearray(zipped(("w.npy", npy(A))))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


BOMB = npy(np.zeros(2_500_000))  # 20 MB that deflate to some kilobytes
HUGE = str(10**18)

BAD = {
    "empty": ("a.npy", b"", "empty"),
    "large": ("a.csv", b"1," * 2_600_000, "5,200,000 bytes; at most 5,000,000"),
    "pickle": ("a.npz", PICKLE, "holds neither text nor arrays of NumPy; a pickle is never opened"),
    "table as npy": ("a.npy", b"1,2", "holds a table of numbers"),
    "pickle as csv": ("a.csv", PICKLE, "not readable text, from byte 1 on"),
    "pickle by name": ("a.pkl", PICKLE, "ending that is not known here; use a file that ends in .npz, .npy"),
    "objects": ("a.npy", OBJECTS, "Python objects, which would have to be run"),
    "objects inside": ("a.npz", zipped(("w.npy", OBJECTS)), "'w' holds Python objects"),
    "records": ("a.npy", npy(np.zeros(3, dtype=[("x", "f8")])), "holds records"),
    "complex": ("a.npy", npy(np.array([[1j]])), "complex numbers"),
    "bytes": ("a.npy", npy(np.array([b"x"])), "holds bytes"),
    "long double": ("a.npy", shaped("(1,)", b"\0" * 16, "'<f16'"), "numbers of the kind f16"),
    "dates": ("a.npy", npy(np.array(["2020-01-01"], dtype="M8[D]")), "holds dates"),
    "no end": ("a.npy", shaped(f"(0, {HUGE})"), "at most 5 axes of 1 to 4,096"),
    "2 to the 40": ("a.npy", shaped("(1099511627776,)"), "at most 5 axes"),
    "10 to the 18": ("a.npy", shaped(f"({HUGE},)"), "at most 5 axes"),
    "2 to the 31 cubed": ("a.npy", shaped("(2147483648, 2147483648, 2147483648)"), "at most 5 axes"),
    "long shape": ("a.npy", shaped("(" + "9" * 5000 + ",)"), "no header that can be read"),
    "below zero": ("a.npy", shaped("(-1, 3)"), "at most 5 axes of 1 to 4,096"),
    "six axes": ("a.npy", shaped("(1, 1, 1, 1, 1, 1)", b"\0" * 8), "at most 5 axes"),
    "too short": ("a.npy", shaped("(3, 5)", b"\0" * 119), "says it holds 120 bytes of numbers and holds 119"),
    "too long": ("a.npy", shaped("(3, 5)", b"\0" * 121), "says it holds 120 bytes of numbers and holds 121"),
    "large but absent": ("a.npy", shaped("(4096, 4096, 4096, 4096)"), "and holds 0; it is damaged"),
    "header cut": ("a.npy", npy(A)[:40], "no header that can be read"),
    "header of code": ("a.npy", headed("__import__('os').system('touch canary')"), "no header"),
    "deep header": ("a.npy", headed("(" * 9000), "no header"),
    "version": ("a.npy", arrays.MAGIC + b"\x09\x00" + b"\0" * 20, "no header that can be read"),
    "magic alone": ("a.npy", arrays.MAGIC, "no header"),
    "bad text": ("a.npy", shaped("(1,)", b"\xff\xff\xff\xff", "'<U1'"), "invalid characters"),
    "bomb": ("a.npz", zipped(("w.npy", BOMB)), "would unpack to 20,000,128 bytes; 16,000,000 are left"),
    "two bombs": (
        "a.npz",
        zipped(*((f"w{i}.npy", npy(np.zeros((1100, 1000)))) for i in range(2))),
        "'w1' would unpack to 8,800,128 bytes; 7,199,872 are left",
    ),
    "says less": ("a.npz", relied(200), "damaged|not a readable NumPy archive"),
    "says more": ("a.npz", relied(10_000), "damaged|not a readable NumPy archive"),
    "members": ("a.npz", zipped(*((f"w{i}.npy", b"") for i in range(2000))), "2,000 arrays; at most 512"),
    "twice": ("a.npz", zipped(("w.npy", npy(A)), ("w.npy", npy(A))), "holds 'w' twice"),
    "path up": ("a.npz", zipped(("../../w.npy", npy(A))), "'../../w.npy', which is not an array"),
    "absolute path": ("a.npz", zipped(("/etc/w.npy", npy(A))), "which is not an array"),
    "other system": ("a.npz", zipped(("c:\\w.npy", npy(A))), "which is not an array"),
    "no array": ("a.npz", zipped(("data.pkl", PICKLE)), "'data.pkl', which is not an array"),
    "encrypted": ("a.npz", flagged(), "'w' is encrypted; save it without a password"),
    "bzip2": ("a.npz", zipped(("w.npy", npy(A)), method=zipfile.ZIP_BZIP2), "packed in a way"),
    "lzma": ("a.npz", zipped(("w.npy", npy(A)), method=zipfile.ZIP_LZMA), "packed in a way"),
    "cut zip": ("a.npz", npz(w=A)[:-30], "not a readable NumPy archive"),
    "noise in zip": (
        "a.npz",
        npz(w=A)[:60] + b"\xff" * 40 + npz(w=A)[100:],
        "no header|not a readable NumPy archive|damaged",
    ),
    "npz as csv": ("a.csv", npz(w=A), "holds an archive of NumPy (.npz), which its ending does not say"),
    "npy as npz": ("a.npz", npy(A), "holds an array of NumPy (.npy)"),
    "json as csv": ("a.csv", b"[[1]]", "holds JSON"),
    "csv as json": ("a.json", b"1,2", "holds a table of numbers"),
    "sheet": ("a.xlsx", zipped(("xl/workbook.xml", b"")), "ending that is not known"),
    "no ending": ("weights", b"1 2", "ending that is not known"),
    "half a letter": (
        "a.csv",
        "1,2".encode("utf-16")[:-1],
        "not readable text, from byte 7 on; save it as UTF-8",
    ),
    "no mark": ("a.csv", "1,\u00fc".encode("utf-16-le"), "not readable text, from byte 5|is not a number"),
    "no letter": ("a.csv", b"1,\x81", "not readable text, from byte 3 on"),
}


def test_numbers_of_one_byte_count_as_what_they_become() -> None:
    """Otherwise a small file would stay in a session with eight times what may be read."""
    whole = np.zeros((5, 1000, 1000), dtype=np.int8)
    assert only("all.npz", packed(w=whole)).size == BUDGET.n_numbers
    with pytest.raises(
        ConfigError, match=r"^'v' would hold 3 numbers; 0 are left of what can be read, so upload less$"
    ):
        read("more.npz", packed(w=whole, v=np.zeros(3, dtype=bool)))


@pytest.mark.parametrize(("name", "data", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_one_sentence_and_takes_no_memory(
    name: str, data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError) as error:
            read(name, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    sentence = str(error.value)
    assert any(part in sentence for part in message.split("|")), sentence
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert peak < 20_000_000  # no more than the largest file that is read
    assert not list(tmp_path.iterdir()), "something in the file was run"


def test_the_canary_can_sing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pickle.loads(PICKLE)  # noqa: S301 - the only one, to see that the payload works
    assert (tmp_path / "canary").exists()


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["a.npz", "a.npy", "a.csv", "a.json"]), st.integers(0, 900), st.binary(max_size=12))
def test_damage_anywhere_is_read_or_refused_never_anything_else(name: str, at: int, damage: bytes) -> None:
    good = {"npz": npz(weights=A), "npy": npy(A), "csv": b"0.5,0.5\n0,1", "json": b'{"w": [[0.5, 0.5]]}'}[name[2:]]
    with suppress(ConfigError):
        read(name, good[:at] + damage + good[at + len(damage) :])


@pytest.mark.slow
def test_nothing_in_the_repository_lets_a_file_be_unpickled() -> None:
    word = "allow" + "_pickle"
    files = [path for path in ROOT.rglob("*.py") if not {".venv", "build"} & set(path.relative_to(ROOT).parts)]
    assert len(files) > 50
    assert [path for path in files if word in path.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the  cat\n", ("the", "cat")),
        ('["New York", "!"]', ("New York", "!")),
        ("  ", None),
    ],
)
def test_tokens_out_of_a_line(text: str, expected: tuple[str, ...] | None) -> None:
    assert parse_text.tokens(text) == expected


@pytest.mark.parametrize("text", ['["a", 1]', "[1", '[["a"]]'])
def test_tokens_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_text.tokens(text)
