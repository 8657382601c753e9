"""The command line, called as a function: every kind of file, every setting as an option, and every kind of mistake."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import Config, ConfigError, command, run, serving
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.settings import url_codec
from attnviz.settings.fields import default, settings
from attnviz.settings.kinds import Named, Number, Option, Switch, Text
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, Widths
from attnviz.ui.session.selection import Selection
from tests.support.cases import for_each
from tests.support.page_figures import figures

ROOT = Path(__file__).parents[2]
WORDS = "the cat sat on mats"
SMALL = Config(sentence=WORDS, n_heads=3, mask=("causal", "window"), d_k=(4, 3, 2), n_layers=2)
OPTIONS = ["--heads", "3", "--mask", "causal,window", "--d-k", "4,3,2", "--layers", "2"]


def rendered(*words: str) -> int:
    return command.main(["render", *words])


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * ("png" in n)) for n in FORMATS])
def test_every_kind_of_file_is_written(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"out.{name}"
    code = rendered(WORDS, *OPTIONS, "-o", str(file))
    output = capfd.readouterr().err
    if "pip install" in output and not os.environ.get("CI"):
        pytest.skip(output)
    assert (code, output) == (0, "")
    whole = export(name, run(SMALL), ExportTarget())
    assert file.read_bytes() == (whole.encode() if isinstance(whole, str) else whole)
    assert len(whole) > 100


def test_a_table_holds_the_numbers_of_one_step(tmp_path: Path) -> None:
    file = tmp_path / "keys.csv"
    assert rendered(WORDS, *OPTIONS, "--step", "keys", "--layer", "2", "--head", "3", "-o", str(file)) == 0
    _, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
    numbers = np.array([row[1:] for row in rows], dtype=float)
    np.testing.assert_array_equal(numbers, run(SMALL).layers[1]["keys"].head(2))
    assert numbers.shape == (5, 2)


def test_a_table_without_a_head_holds_them_all(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    assert rendered(WORDS, "--step", "scores", "-o", str(file)) == 0
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert [float(row["value"]) for row in rows] == run(Config(sentence=WORDS))["scores"].array.ravel().tolist()


def test_the_position_reaches_what_holds_only_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    class Module:
        page = row = cell = staticmethod(lambda trace, *position: str(calls.append(position)))
        drawn = staticmethod(str.encode)
        View = staticmethod(lambda **view: view["head"])

    monkeypatch.setattr("attnviz.exports.formats.import_module", lambda name: Module)
    trace = run(SMALL)
    export("svg", trace, ExportTarget(layer=1))
    assert export("png", trace, ExportTarget(layer=1)) == b"None"
    export("tex", trace, ExportTarget(layer=1))
    export("tex", trace, ExportTarget(layer=1, head=2, query=3))
    export("tex", trace, ExportTarget(layer=0, head=2, query=3, key=1))
    assert calls == [(1, None), (1, None), (1, 0, 4), (1, 2, 3), (0, 2, 3, 1)]


def caught(monkeypatch: pytest.MonkeyPatch, *words: str) -> Config:
    """The setting that a command line means."""
    seen: list[Config] = []

    def enough(config: Config) -> None:
        seen.append(config)
        raise ConfigError("enough")

    monkeypatch.setattr(command, "run", enough)
    assert rendered(*words, "-o", "-", "--format", "json") == 2
    return seen[0]


def another(item: Any) -> tuple[list[str], Any]:
    """What may follow an option, and what the field then holds: something else than if nothing is said."""
    match item.metadata["kind"]:
        case Number() as kind:
            value = kind.low if kind.low != default(item) else kind.high
            return [f"{value}"], value
        case Option() as kind:
            name = next(name for name in reversed(kind.table) if name != default(item))
            return [name], name
        case Options():
            return ["window,causal"], ("causal", "window")
        case Listed():
            return ["next,first"], ("next", "first")
        case Widths():
            return ["3,2"], (3, 2)
        case Switch():
            return [], not default(item)
        case Text():
            return ["1 2"], "1 2"
        case Named():
            return ["tiny~0123abcd"], "tiny~0123abcd"
        case Knobs():
            return ["softmax_with_sink.sink~2"], (("softmax_with_sink.sink", 2.0),)
        case _:
            return ["scores.1.1.2.3~4.0"], ((0, "scores", (0, 1, 2), 4.0),)


# No score of the package has a knob: its field waits for those of a host.
@for_each("item", [item for item in settings(Config) if item.name != "score_knobs"])
def test_every_setting_is_an_option(item: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text, value = another(item)
    option = f"--{item.name.replace('_', '-')}"
    if isinstance(value, bool) and not value:
        option = option.replace("--", "--no-")
    words = [*text] if item.name == "sentence" else [option, *text]
    monkeypatch.setattr(command, "with_model", lambda config, must: config)  # it opens the model
    config = caught(monkeypatch, *words)
    text_of = Config(**{item.name: value})  # some settings tidy what they are given
    assert config == text_of != Config()


def test_auto_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = url_codec.query_string(Config(scale=2.0, n_kv_heads=2))
    assert caught(monkeypatch, "--link", saved, "--scale", "auto").scale is None
    assert caught(monkeypatch, "--link", saved, "--kv-heads", "auto").n_kv_heads is None
    assert caught(monkeypatch, "--scale", "-2.5").scale == -2.5


BAD = {
    "nothing to write to": (["a b"], "-o/--output"),
    "no kind": (["a b", "-o", "out"], "choose a name that ends in .html, .svg"),
    "unknown kind": (["a b", "-o", "out.doc"], "'out.doc' does not say"),
    "unknown format": (["a b", "-o", "out", "--format", "doc"], "choose from"),
    "output without a kind": (["-o", "-"], "add --format and one of html, svg"),
    "no such folder": (["-o", "missing/out.npz"], "'missing/out.npz' cannot be written: no such file"),
    "a folder": (["-o", ".", "--format", "npz"], "cannot be written"),
    "a name with a null": (["-o", "a\0.npz"], "cannot be written"),
    "above the range": (["-o", "a.npz", "--heads", "99"], "--heads is '99'; choose 1 to 16"),
    "no number": (["-o", "a.npz", "--n-heads", "many"], "--heads is 'many'; choose 1 to 16"),
    "half a head": (["-o", "a.npz", "--heads", "2.5"], "--heads is '2.5'; choose 1 to 16"),
    "not a number": (["-o", "a.npz", "--scale", "nan"], "or the score's own (auto)"),
    "unknown row": (["-o", "a.npz", "--score", "soft"], "--score is 'soft'; choose one of: scaled_dot, dot"),
    "unknown mask": (["-o", "a.npz", "--mask", "causal,soft"], "choose one of: none, causal"),
    "unknown pattern": (["-o", "a.npz", "--patterns", "first,soft"], "choose one of: previous"),
    "width": (["-o", "a.npz", "--d-k", "4,99"], "--d-k is '4,99'; choose 1 to 64"),
    "long": (["-o", "a.npz", "a" * 10_001], "has 10,001 characters; at most 10,000 fit"),
    "edits": (["-o", "a.npz", "--edits", "scores"], "--edits cannot be read at 'scores'"),
    "numbers that do not fit": (["-o", "a.npz", "--kv-heads", "3"], "choose one of: 1, 2, 4"),
    "no value": (["-o", "a.npz", "--seed"], "--seed: expected one argument; where a value begins with a dash"),
    "unknown option": (["-o", "a.npz", "--hedas=3"], "there is no '--hedas=3'; attnviz render --help"),
    "shortened option": (["-o", "a.npz", "--initial", "normal"], "there is no '--initial'"),
    "no quotes": (["-o", "a.npz", "the", "cat"], "'cat' is one word too many; put the sentence in quotes"),
    "layer": (["-o", "a.csv", "--layer", "2"], "layer is 2; this run has 1 to 1"),
    "head": (["-o", "a.csv", "--head", "5"], "head is 5; this run has 1 to 4"),
    "query": (["a b", "-o", "a.csv", "--query", "3"], "query is 3; this run has 1 to 2"),
    "key": (["a b", "--second-sentence", "c", "-o", "a.csv", "--key", "2"], "key is 2; this run has 1 to 1"),
    "head of shared keys": (["-o", "a.csv", "--kv-heads", "2", "--head", "3", "--step", "keys"], "1 to 2"),
    "head of no heads": (["-o", "a.csv", "--head", "2", "--step", "embedded"], "the step embedded has 1 to 1"),
    "step": (["-o", "a.csv", "--step", "soft"], "step is 'soft'; this run has token_embeddings"),
    "no such setting": (["-o", "a.csv", "--link", "missing.json"], "'missing.json' cannot be read: no such file"),
    "no setting": (["-o", "a.csv", "--link", "list.json"], "'list.json' holds no settings"),
    "no text": (["-o", "a.csv", "--link", "bytes.json"], "'bytes.json' holds no settings"),
    "deep": (["-o", "a.csv", "--link", "deep.json"], "'deep.json' holds no settings"),
}


@for_each("words, sentence", BAD.values())
def test_a_mistake_is_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files = {"list.json": b"[1]", "bytes.json": b"\xff\xfe{", "deep.json": b"[" * 100_000}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    assert rendered(*words) == 2
    out, output = capfd.readouterr()
    assert out == ""
    assert output.startswith("attnviz: ")
    assert output.count("\n") == 1
    assert sentence in output
    assert {path.name for path in tmp_path.iterdir()} == files.keys()


def test_a_link_gives_setting_and_position(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    link = "http://x.org/?" + url_codec.query_string(SMALL, Selection(step="scores", layer=1, head=1, page="class"))
    assert rendered("--link", link, "--seed", "7", "-o", "-", "--format", "csv") == 0
    out, output = capfdbinary.readouterr()
    assert (out, output) == (export("csv", run(replace(SMALL, seed=7)), ExportTarget(1, "scores", 1)).encode(), b"")


def test_a_link_is_mended_and_that_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.npz"
    link = "?v=1&n_heads=99&layer=5&key=9&sentence=a+b&nonsense=1"
    assert rendered("--link", link, "--heads", "3", "-o", str(file)) == 0
    output = capfd.readouterr().err.splitlines()
    assert output[0] == "attnviz: There is no setting called 'nonsense'; ignored."
    assert output[1].startswith("attnviz: Heads was '99'; 16 is used")
    assert file.read_bytes() == export("npz", run(Config(sentence="a b", n_heads=3)))


def test_a_saved_setting_is_opened(tmp_path: Path) -> None:
    saved, file = tmp_path / "attnviz.json", tmp_path / "a.npz"
    saved.write_text("\ufeff" + url_codec.to_file(SMALL, Selection()), encoding="utf-8")
    file.write_bytes(b"what was there before")
    assert rendered("--link", str(saved), "-o", str(file)) == 0
    assert file.read_bytes() == export("npz", run(SMALL))


def test_what_a_run_says_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert rendered("a b c", "--max-tokens", "2", "-o", str(tmp_path / "a.json")) == 0
    notes = run(Config(sentence="a b c", max_tokens=2)).notes
    assert notes
    assert capfd.readouterr().err.splitlines() == [f"attnviz: {note}" for note in notes]


def test_a_word_that_no_text_can_hold_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    assert rendered("a\udcff b", "-o", str(file)) == 0
    assert json.loads(file.read_text(encoding="utf-8"))


def test_bytes_are_kept_from_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert rendered("-o", "-", "--format", "npz") == 0
    assert capfdbinary.readouterr().out == export("npz", run(Config()))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert rendered("-o", "-", "--format", "npz") == 2
    out, output = capfdbinary.readouterr()
    assert out == b""
    assert b"standard output is a terminal" in output


@pytest.mark.slow
def test_a_reader_may_stop_reading() -> None:
    command = [sys.executable, "-m", "attnviz", "render", "-o", "-", "--format", "json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_missing_library_is_said_with_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(sys.modules, "attnviz.exports.tables", raising=False)
    assert rendered("-o", str(tmp_path / "a.csv")) == 2
    message = 'attnviz: a .csv file needs pandas, which is not installed; pip install "attnviz[app]" brings it\n'
    assert capfd.readouterr().err == message


@pytest.mark.parametrize("kind", [RuntimeError, ImportError])
def test_what_cannot_be_drawn_here_is_said(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Module:
        @staticmethod
        def npz(trace: object) -> None:
            raise kind("There is no font.")

    monkeypatch.setattr("attnviz.exports.formats.import_module", lambda name: Module)
    assert rendered("-o", "a.npz") == 2
    assert capfd.readouterr().err == "attnviz: There is no font.\n"


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {form.extra for form in FORMATS.values()} - {""} <= project["optional-dependencies"].keys()


@pytest.fixture
def streamlit(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What Streamlit is called with."""
    calls: list[list[str]] = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda words, prog_name: calls.append(words))
    return calls


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The options of a file by their full names."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def test_the_page_is_started_with_its_settings(streamlit: list[list[str]]) -> None:
    assert command.main(["--port", "8600", "--server.baseUrlPath=x", "--server.headless=false"]) == 0
    [[run_word, script, *flags]] = streamlit
    assert run_word == "run"
    assert Path(script) == Path(attnviz.__file__).with_name("app.py")
    options = dict(flag.removeprefix("--").split("=") for flag in flags)
    file = flat(tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")))
    words = {name: json.dumps(value).strip('"') for name, value in file.items()}
    added = {"server.address": "localhost", "server.port": "8600", "server.baseUrlPath": "x"}
    assert options == words | added | {"server.headless": "false"}
    assert flags[-1] == "--server.headless=false"  # Streamlit takes the last of two


def test_the_page_can_be_opened_to_others(streamlit: list[list[str]]) -> None:
    assert command.main(["--address", "0.0.0.0"]) == 0  # noqa: S104
    assert "--server.address=0.0.0.0" in streamlit[0]
    assert not any(flag.startswith("--server.port") for flag in streamlit[0])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--port", "0"], "--port is '0'; choose 1 to 65535"),
        (["--port", "65536"], "--port is '65536'; choose 1 to 65535"),
        (["--port", "9" * 5000], "choose 1 to 65535"),
        (["--port", "web"], "--port is 'web'"),
        (["--hedas"], "there is no '--hedas'; attnviz --help"),
        (["rendr"], "choose from"),
    ],
)
def test_a_page_that_cannot_be_started(
    words: list[str], sentence: str, streamlit: list[list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(words) == 2
    output = capfd.readouterr().err
    assert sentence in output
    assert output.count("\n") == 1
    assert streamlit == []


def test_a_page_without_streamlit(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    assert command.main([]) == 2
    message = 'attnviz: the page needs streamlit, which is not installed; pip install "attnviz[app]" brings it\n'
    assert capfd.readouterr().err == message


@pytest.mark.parametrize("words", [["--help"], ["render", "--help"], ["--version"]])
def test_help_lists_everything(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(words)
    assert end.value.code == 0
    out = capfd.readouterr().out
    if words == ["--version"]:
        assert out == f"{attnviz.__version__}\n"
    if words[0] == "render":
        assert all(f"--{item.name.replace('_', '-')}" in out for item in settings(Config) if item.name != "sentence")
        assert all(f".{name} " in out for name in FORMATS)


def test_the_command_loads_numpy_and_nothing_heavier() -> None:
    code = "import attnviz.command, sys; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert set(loaded.split()) & {"numpy", "plotly", "pandas", "streamlit"} == {"numpy"}


def test_the_script_in_the_package_is_the_page() -> None:
    at = AppTest.from_file(str(Path(attnviz.__file__).with_name("app.py")), default_timeout=30).run()
    assert not at.exception
    assert len(figures(at)) == 3


def test_weights_of_your_own_are_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    A = np.array([[1.0, 0.0], [0.25, 0.75]])
    np.savez(tmp_path / "w.npz", weights=A)
    file = tmp_path / "w.csv"
    assert rendered("the cat", "--weights", str(tmp_path / "w.npz"), "-o", str(file)) == 0
    _, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
    assert [float(row[-1]) for row in rows] == A.ravel().tolist()
    assert {"the", "cat"} <= {word for row in rows for word in row}
    assert rendered("--weights", str(tmp_path / "no.npz"), "-o", str(file)) == 2
    assert "cannot be read" in capfd.readouterr().err
