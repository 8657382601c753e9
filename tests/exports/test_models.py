"""Scripts, notebook and workbook of runs through trained models: each computed anew and held to the run's arrays."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz import ConfigError, Trace
from attnviz.exports import archive
from attnviz.exports.formats import PROGRAMS, export
from attnviz.exports.interactive_html import html
from attnviz.exports.script import model_parameters, next_words
from attnviz.exports.script.notebook import notebook
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from attnviz.exports.workbook import layers
from attnviz.exports.workbook.book import workbook
from attnviz.models.model import Model
from attnviz.models.safetensors import Tensors
from attnviz.text.cell_sentence import percent
from tests.exports.workbook.test_book import differences, stale
from tests.support import readings, scripts, spreadsheets
from tests.support.small_models import FOLDER, NAMES, given, model
from tests.support.spreadsheets import Spreadsheet

EDITS = [(None, "token_embeddings", (0, 1), 0.3), (0, "w_q", (1, 2, 0), 0.7), (1, "scores", (0, 1, 0), 2.0)]
"""Numbers that the kinds of number in the files do not all hold."""


@cache
def traces() -> dict[str, Trace]:
    """A run through a model of each family, one with changed numbers, and one of what applies to a model."""
    found = {name: model(name)(given(name, "a cat sat")) for name in (*NAMES, "vit")}
    found["changed"] = attnviz.load("small")("anna gave", edits=EDITS)
    free = {"mask": "no_self", "temperature": 0.7, "normaliser": "sparsemax"}
    found["chosen"] = model("gemma2")("a cat sat on", **free)
    return found


def by_notebook(trace: Trace) -> None:
    cells = json.loads(notebook(trace))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    scripts.compare(trace, scripts.execute(code), readings.CLOSE, bits=False)


def by(write: Callable[[Trace], str], trace: Trace) -> None:
    scripts.compare(trace, scripts.execute(write(trace)), readings.CLOSE, bits=False)


@pytest.mark.slow
def test_the_script_of_every_family_computes_its_run() -> None:
    found = readings.disagreeing(traces(), traces().values(), {"numpy": partial(by, numpy_script)})
    few = {name: traces()[name] for name in ("bert", "mistral", "changed")}
    assert found + readings.disagreeing(few, few.values(), {"notebook": by_notebook}) == []


def test_so_does_the_script_in_pytorch(torch: Any) -> None:
    assert readings.disagreeing(traces(), traces().values(), {"torch": partial(by, torch_script)}) == []
    modules = {name for name, trace in traces().items() if "MultiheadAttention(" in torch_script(trace)}
    own = {"bart", "bert", "camembert", "distilbert", "electra", "gpt2", "opt", "roberta", "vit", "xlm-roberta"}
    assert modules == own, "the families whose attention is the library's module"
    plain = model("gpt2")
    tensors = {name: array for name, array in Tensors(FOLDER / "gpt2").items() if not name.endswith("attn.c_proj.bias")}
    config = json.loads((FOLDER / "gpt2" / "config.json").read_text())
    trace = Model.of_parts(config, tensors, plain.tokenise)("a cat")
    assert "MultiheadAttention(" not in torch_script(trace), "which has either all biases or none"
    by(torch_script, trace)


def test_the_script_of_a_model_in_the_package_needs_numpy_alone(tmp_path: Path) -> None:
    trace = attnviz.load("small")("anna gave the book to")
    trace.save(tmp_path / "small.py")
    run = [sys.executable, "-I", "-W", "error", str(tmp_path / "small.py")]
    done = subprocess.run(run, capture_output=True, check=True, cwd=tmp_path)
    likely = [f"{word} {share:.4f}" for word, share in attnviz.load("small").next_words(trace, 10)]
    with np.printoptions(precision=3, suppress=True, linewidth=120):
        assert done.stdout.decode().strip() == "\n".join([*likely, str(trace["weights"].array)])
    script = (tmp_path / "small.py").read_text()
    assert "attnviz" not in script
    assert "float16" in script
    assert max(map(len, script.splitlines())) <= 120


def test_the_matrices_of_a_large_model_are_read_from_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_parameters, "MOST", 0)
    monkeypatch.setattr(next_words, "MOST", 0)
    trace = traces()["llama"]
    script = numpy_script(trace)
    assert f"FOLDER = {str(FOLDER / 'llama')!r}" in script
    assert len(script) < 10_000
    scripts.compare(trace, scripts.execute(script), readings.CLOSE, bits=False)
    with pytest.raises(AssertionError, match="other weights"):
        scripts.execute(script.replace(str(FOLDER / "llama"), str(FOLDER / "mistral")))


def said(code: str) -> tuple[dict[str, Any], list[str]]:
    """The variables of a script when it has run, and the lines that it prints on the next words."""
    space: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, space)  # noqa: S102
    return space, printed.getvalue().splitlines()[: next_words.SHOWN]


def ends_in_the_next_words(trace: Trace, code: str) -> None:
    space, lines = said(code)
    made = trace.model
    assert isinstance(made, Model)
    likely = made.next_words(trace, len(made.words_table))
    shares = dict(zip(space["vocabulary"], np.asarray(space["shares"])))
    np.testing.assert_allclose([shares[word] for word, _ in likely], [x for _, x in likely], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.asarray(space["logits"]), made.scores(trace)[-1], rtol=0, atol=1e-9)
    assert lines == [f"{word} {share:.4f}" for word, share in likely[: next_words.SHOWN]]
    assert ("the two are tied" in code) == made.is_tied


DECODERS = [name for name in NAMES if model(name).writes_on]


def test_scripts_of_decoders_end_in_the_next_words(torch: Any) -> None:
    found = {name: traces()[name] for name in DECODERS} | {"changed": traces()["changed"]}
    found["own words"] = attnviz.load("full")("When Zelda met Otto, Otto gave a book to")
    assert {trace.model.is_tied for trace in found.values()} == {True, False}
    for trace in found.values():
        ends_in_the_next_words(trace, numpy_script(trace))
        ends_in_the_next_words(trace, torch_script(trace))
    cells = json.loads(notebook(found["own words"]))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    space, lines = said(code)
    assert lines[0].startswith("zelda ")
    assert "zelda" in space["vocabulary"]
    assert "logits" not in numpy_script(traces()["bert"])
    assert "logits" not in numpy_script(attnviz.Config())


def test_an_interactive_file_says_the_next_words_and_where_it_ends() -> None:
    page = html(attnviz.load("small")("When Zelda met Otto, Otto gave a book to"))
    [said] = re.findall('<p id="next" class="quiet">(.*?)</p>', page)
    [(word, share), *_] = attnviz.load("small").next_words("When Zelda met Otto, Otto gave a book to", 1)
    assert unescape(said).startswith(f"After this sentence the model goes on with “{word}” {percent(share)}, “")
    assert "the output matrix, which makes words of that, is not in this file" in said
    for other in (traces()["bert"], attnviz.run(attnviz.Config())):
        assert 'id="next"' not in html(other)


def test_an_output_matrix_that_is_too_large_for_a_script_is_read_from_the_files(
    monkeypatch: pytest.MonkeyPatch, torch: Any
) -> None:
    trace = traces()["gpt2"]
    for most in (0, trace.model.sizes.n_weights):  # no matrix stands in the script, or those of the layers alone
        monkeypatch.setattr(model_parameters, "MOST", most)
        monkeypatch.setattr(next_words, "MOST", 0)
        assert "U = np.array(model.words_table.astype(float))" in numpy_script(trace)
        ends_in_the_next_words(trace, numpy_script(trace))
        ends_in_the_next_words(trace, torch_script(trace))
    trace.model.folder = None
    try:
        code = numpy_script(trace)
        assert "# The output matrix has 4,608 numbers" in code
        assert "logits =" not in code
        scripts.compare(trace, scripts.execute(code), readings.CLOSE, bits=False)
    finally:
        trace.model.folder = FOLDER / "gpt2"


@pytest.mark.slow
def test_a_workbook_recalculated_is_the_run_and_follows_what_is_changed_in_it(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    runs = {name: model(name)("a") for name in ("bert", "mixtral", "olmo2", "qwen3")}
    written = {name: Spreadsheet(workbook(trace)) for name, trace in runs.items()}
    files = {name: sheet.stripped() for name, sheet in written.items()}
    changes = {written["qwen3"].corner("g_q_1", 0, 2): 0.5, written["qwen3"].corner("temperature", 0, 0): 0.5}
    files["changed"] = written["qwen3"].stripped(changes)
    computed = spreadsheets.recalculated(files, tmp_path)
    for name, trace in runs.items():
        assert differences(trace, computed[name]) == [], name
        assert stale(written[name], computed[name]) == [], name
    after = model("qwen3")("a", temperature=0.5, edits=[(0, "g_q", (2,), 0.5)])
    assert differences(after, computed["changed"]) == []


@pytest.mark.slow
def test_the_workbook_of_a_family_with_other_parts_holds_its_run() -> None:
    pytest.importorskip("xlsxwriter")
    runs = {
        name: model(name)("a")
        for name in ("gemma2", "gemma3", "gpt_neox", "gpt2", "gpt_oss", "mixtral", "olmo2", "qwen3_moe")
    }
    runs["vit"] = model("vit")(given("vit", ""))
    runs["changed"] = model("llama")("a", edits=[(None, "embedded_kv", (0, 1), 2.0), (1, "scores", (0, 0, 0), 2.0)])
    assert readings.disagreeing(runs, runs.values(), {"workbook": readings.by_workbook}) == []


def test_what_cannot_be_written_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traces()["llama"]
    read = archive.read(bytes(export("npz", trace)))
    for kind in (*PROGRAMS, *(["xlsx"] if find_spec("xlsxwriter") else [])):
        with pytest.raises(ConfigError, match="leaves the matrices of the trained model out"):
            export(kind, read)
    monkeypatch.setattr(model_parameters, "MOST", 100)
    trace.model.folder = None
    try:
        with pytest.raises(ConfigError, match=r"up to 100 numbers of a model, and this one in memory has [\d,]+"):
            numpy_script(trace)
    finally:
        trace.model.folder = FOLDER / "llama"
    monkeypatch.setattr(layers, "MOST_CELLS", 100)
    with pytest.raises(ConfigError, match=r"up to 100 numbers, and the matrices of this model are [\d,]+"):
        workbook(trace)
