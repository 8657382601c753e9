"""The proof that a row is one file: a score and a normaliser of a host's own, in everything that a row is in."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import (
    NORMALISERS,
    SCORES,
    CellLine,
    Config,
    ConfigError,
    Knob,
    LineRow,
    Trace,
    add_rows,
    attend,
    command,
    run,
)
from attnviz.arithmetic.cell import derive
from attnviz.classroom.question_codec import item, to_question
from attnviz.classroom.question_kinds import resolve
from attnviz.codegen.javascript import helpers, javascript
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.added_rows import load_rows
from attnviz.exports import archive, interactive_html
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.live import lines
from attnviz.pictures.answer.explanation import explanation
from attnviz.pictures.answer.explanation_parts import number
from attnviz.settings import fields, url_codec
from attnviz.text import changes
from attnviz.text.cost_ledger import multiply_adds_of_score
from tests.support import scripts
from tests.support.cases import for_each
from tests.ui.test_app import clean, opened, unfolded

FILE = '''
"""Rows of a school's own."""

from attnviz import CellLine, Knob, LineRow

ROW = LineRow(
    kind="score",
    name="laplace",
    label="Laplacian kernel",
    line="apart = sum(abs(q - k)); -apart / max(tau, width)",
    note="Near keys count more, by the sum of the differences.",
    source="a test",
    plain="-|q - k|",
    knobs=(Knob("width", "Least width", 0.5, 0.1, 4.0),),
)
MORE = [
    LineRow(
        kind="normaliser",
        name="power",
        label="Powers over their sum",
        line="p = relu(x)**gamma; ratio(p, sum(p) + rest)",
        note="Positive scores to a power, over their sum.",
        source="a test",
        plain="power",
        knobs=(Knob("gamma", "Power", 2.0, 1.0, 4.0), Knob("rest", "Rest of each head", 0.25, 0.0, 9.0, heads=True)),
        lines=(
            CellLine("powers", "p = relu(x)**gamma", "The powers", "Positive scores to a power.", symbol="p_{@}"),
            CellLine("sum", "total = sum(p) + rest", "Their sum", "The powers of the {line} and the rest added up."),
            CellLine("weight", "ratio(p, total)", "The weight", "This power over the sum.", brief="{p} of {total}"),
        ),
    )
]
'''
TAUS, RESTS = (0.2, 2.0, 3.0), (1.0, 0.5, 0.5)
CONFIG = {
    "sentence": "the cat sat on the mat",
    "n_heads": 3,
    "d_k": 2,
    "mask": "causal",
    "score": "laplace",
    "score_knobs": {"laplace.width": 1.25},
    "normaliser": "power",
    "normaliser_knobs": {"power.gamma": 1.5, "power.rest": RESTS},
    "edits": tuple((0, "score_tau", (h, 0), tau) for h, tau in enumerate(TAUS)),
    "temperature": 0.8,
    "scale": -0.3,
}


@pytest.fixture(scope="module", autouse=True)
def _rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The rows of one file, in their tables for these tests alone."""
    file = tmp_path_factory.mktemp("own") / "my_rows.py"
    file.write_text(FILE, encoding="utf-8")
    assert [row.name for row in load_rows(str(file))] == ["laplace", "power"]
    yield
    del SCORES["laplace"], NORMALISERS["power"]


def test_a_row_is_chosen_as_it_was_added() -> None:
    row = LineRow("normaliser", "flat", "Flat", "ratio(x*0 + 1, n)", "Shares alike.", "a test")
    score = LineRow("score", "sums", "Sums", "sum(q + k)", "A sum.", "a test")
    with pytest.raises(ConfigError, match=r"the row 'flat' is in no table yet; call add_rows\(row\) before"):
        Config(normaliser=row)
    with pytest.raises(ConfigError, match="add_rows takes rows made by LineRow, not 'flat'"):
        add_rows("flat")  # type: ignore[arg-type]
    add_rows(row, score)
    try:
        chosen = Config(normaliser=row, score=score)
        assert chosen == Config(normaliser="flat", score="sums")
        q = np.eye(2)
        named = attend(q, q, q, normaliser="flat", score="sums")
        np.testing.assert_array_equal(attend(q, q, q, normaliser=row, score=score).weights, named.weights)
        np.testing.assert_array_equal(named.weights, np.full((2, 2), 0.5))
        for wrong in (lambda: Config(score=row), lambda: attend(q, q, q, score=row)):
            with pytest.raises(ConfigError, match="the row 'flat' is a normaliser; choose it with normaliser="):
                wrong()
    finally:
        del NORMALISERS["flat"], SCORES["sums"]


@pytest.fixture(scope="module", name="trace")
def _trace(_rows: None) -> Trace:
    return run(Config(**CONFIG))


def by_hand(q: list[float], keys: list[list[float]], h: int) -> tuple[list[float], list[float]]:
    """The scores and weights of one query over the keys that it may see, one number after the other."""
    scores = [-sum(abs(a - b) for a, b in zip(q, k)) / max(TAUS[h], 1.25) for k in keys]
    powers = [max(-0.3 * s / 0.8, 0.0) ** 1.5 for s in scores]
    return scores, [p / (sum(powers) + RESTS[h]) for p in powers]


def test_the_numbers_are_those_of_the_lines(trace: Trace) -> None:
    layer = trace.layers[0]
    for h in range(3):
        Q, K = layer["queries"].head(h).tolist(), layer["keys"].head(h).tolist()
        for i, q in enumerate(Q):
            scores, weights = by_hand(q, K[: i + 1], h)
            np.testing.assert_allclose(layer["scores"].array[h, i, : i + 1], scores, rtol=1e-12)
            np.testing.assert_allclose(layer["weights"].array[h, i, : i + 1], weights, rtol=1e-12, atol=1e-15)
            assert not layer["weights"].array[h, i, i + 1 :].any()


def test_the_link_and_the_saved_run_hold_it(trace: Trace) -> None:
    (again,), problems = url_codec.open_link(url_codec.query_string(trace.config), Config)
    assert (again, problems) == (trace.config, [])
    assert archive.read(archive.npz(trace)).config == trace.config
    (moved,), problems = url_codec.decode({"score": "laplace", "score_knobs": "laplace.width~77"}, Config)
    assert moved.score_knobs == (("laplace.width", 4.0),)
    assert problems


def test_its_facts_follow_from_its_line(trace: Trace) -> None:
    score, normaliser = score_of(trace.config), normaliser_of(trace.config)
    assert (dict(score.parameters), score.any_widths) == ({"tau": ()}, False)
    assert not normaliser.sums_to_one
    assert {"score_knobs", "normaliser_knobs"} <= set(fields.relevant_fields(trace.config))
    assert not {"score_knobs", "normaliser_knobs"} & set(fields.relevant_fields(Config()))
    assert multiply_adds_of_score(trace, 0) == 0  # not one product in it


def test_every_cell_is_followed_line_by_line(trace: Trace) -> None:
    for h, i, j in ((0, 5, 2), (1, 0, 0), (2, 3, 3)):
        cell = derive(trace, 0, h, i, j)
        assert not cell.edited
        assert {"apart", "score", "powers", "sum", "weight"} <= {line.name for line in cell.lines}
        assert all(line.title and line.sentence and line.latex for line in cell.lines if line.active)
        np.testing.assert_allclose(cell["score"].computed, trace["scores"].array[h, i, j], rtol=1e-12)
        np.testing.assert_allclose(cell["weight"].computed, trace["weights"].array[h, i, j], rtol=1e-12, atol=1e-15)


def test_the_words_of_its_lines_are_said(trace: Trace) -> None:
    cell = derive(trace, 0, 0, 5, 2)
    assert cell["sum"].sentence == "The powers of the row and the rest added up."
    powers = [float(value) for _, value in cell["powers"].bars]
    assert math.isclose(cell["sum"].result, sum(powers) + RESTS[0])
    last = explanation(trace, cell, key=True)["lines"][2]
    assert last["note"] == f"{number(powers[2])} of {number(float(cell['sum'].result))}"


def test_questions_are_asked_about_it(trace: Trace) -> None:
    question = to_question(item("weight", {"query": 6, "key": 3, "head": 1}))
    found = resolve(question, trace)
    assert found.is_right(float(trace["weights"].array[0, 5, 2]))
    assert not found.is_right(float(trace["weights"].array[0, 5, 2]) + 0.2)
    assert {"powers", "sum", "weight"} <= {line.name for line in found.lines}


def test_its_script_gives_its_numbers(trace: Trace) -> None:
    scripts.compare(trace, scripts.execute(numpy_script(trace.config)), 1e-12, bits=True)


def test_its_script_of_pytorch_gives_its_numbers(trace: Trace, torch: None) -> None:
    from attnviz.exports.script.torch_script import torch_script

    scripts.compare(trace, scripts.execute(torch_script(trace.config)), 1e-9, bits=True)


@for_each("form", [name for name in FORMATS if "png" not in name])
def test_every_file_is_written(form: str, trace: Trace) -> None:
    if form == "xlsx" and importlib.util.find_spec("xlsxwriter") is None:
        pytest.skip("XlsxWriter is not installed")
    assert export(form, trace, ExportTarget(layer=0, step="scores"))


@pytest.mark.slow
def test_the_workbook_computes_it(trace: Trace, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    from attnviz.exports.workbook.book import workbook
    from tests.support import spreadsheets

    data = spreadsheets.Spreadsheet(workbook(trace)).stripped()
    sheet = spreadsheets.recalculated({"own": data}, tmp_path)["own"]
    for name in ("scores", "weights"):
        for h in range(3):
            found = sheet.block(f"{name}_1_{h + 1}")
            np.testing.assert_allclose(found, trace[name].array[h], rtol=1e-9, atol=1e-12)


def test_the_page_of_its_own_computes_it(trace: Trace, node: str) -> None:
    named = (lines.named_score(trace.config), lines.named_normaliser(trace.config))
    score, weight = (javascript(each[0]) for each in named if each)
    page = interactive_html.html(trace)
    assert score in page
    assert weight in page
    h, i, j = 0, 5, 2
    layer = trace.layers[0]
    cell = {"q": layer["queries"].array[h, i].tolist(), "k": layer["keys"].array[h, j].tolist(), "tau": TAUS[h]}
    cell |= {"sizes": dict.fromkeys(score_of(trace.config).typed.sizes, 2), "h": h + 1, "i": i, "j": j}
    row = {"x": (layer["masked"].array[h, i] / 0.8).tolist(), "h": h + 1, "i": i, "j": j, "n": 6, "places": [*range(6)]}
    numbers = {name: each[2][key] for each in named if each for name, key in each[1].items()}
    numbers = {name: value[h] if isinstance(value, list | tuple) else value for name, value in numbers.items()}
    cell, row = cell | numbers, row | numbers
    script = f"console.log(JSON.stringify([({score})({json.dumps(cell)}).value, ({weight})({json.dumps(row)}).value]))"
    done = subprocess.run([node, "-e", f"{helpers(script)}\n{script}"], capture_output=True, text=True, check=True)
    wanted = [layer["scores"].array[h, i, j], layer["weights"].array[h, i, j]]
    np.testing.assert_allclose(json.loads(done.stdout), wanted, rtol=1e-12)


@pytest.mark.slow
def test_the_page_draws_it_and_its_knobs(trace: Trace) -> None:
    at = opened(**url_codec.encode(trace.config))
    assert clean(at)
    assert at.selectbox(key="score").value == "laplace"
    at = unfolded("Normaliser", normaliser="power", normaliser_knobs="power.gamma~1.5")
    assert at.slider(key="normaliser_knobs.power.gamma").value == 1.5
    at.slider(key="normaliser_knobs.power.gamma").set_value(3.0).run()
    assert at.query_params["normaliser_knobs"] == "power.gamma~3.0"
    at.text_input(key="normaliser_knobs.power.rest").set_value("0, 1").run()
    assert at.query_params["normaliser_knobs"] == "power.gamma~3.0~~power.rest~0.0_1.0"
    at.text_input(key="normaliser_knobs.power.rest").set_value("many").run()
    assert at.query_params["normaliser_knobs"] == "power.gamma~3.0~~power.rest~0.0_1.0"
    assert any("0 to 9" in caption.value for caption in at.caption)
    assert clean(at)
    at.selectbox(key="normaliser").set_value("softmax").run()
    assert not [slider for slider in at.slider if slider.key and "knobs" in slider.key]
    assert clean(at)


def test_it_is_compared(trace: Trace) -> None:
    other = run(Config(**CONFIG | {"normaliser_knobs": {"power.gamma": 3.0}}))
    assert changes.change_summary(trace, other, 0, "weights")
    at = opened(page="compare", b_score="laplace", b_normaliser="power", b_normaliser_knobs="power.gamma~3.0")
    assert clean(at)
    assert at.query_params["b_normaliser_knobs"] == "power.gamma~3.0"


def test_attend_takes_it_by_name() -> None:
    q = np.array([[1.0, 2.0]])
    steps = attend(q, -q, q, score="laplace", params={"tau": 3.0}, scale=-1.0, normaliser="power")
    np.testing.assert_allclose(steps.weights, [[4.0 / 4.25]], rtol=1e-14)


def test_the_command_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "more.py", tmp_path / "out.npz"
    line = "LineRow('normaliser', 'third', 'A third', '1 / 3', 'Always a third.', 'a test')"
    file.write_text(f"from attnviz import LineRow\nROWS = [{line}]\n", encoding="utf-8")
    try:
        assert command.main(["--with", str(file), "render", "a b", "-o", str(out), "--normaliser", "third"]) == 0
        assert (archive.read(out.read_bytes())["weights"].array == 1 / 3).all()
    finally:
        NORMALISERS.pop("third", None)
    assert not capsys.readouterr().err
    assert command.main(["--with", str(tmp_path / "missing.py"), "render", "a b", "-o", str(out)]) == 2
    assert "cannot be run: FileNotFoundError" in capsys.readouterr().err
    file.write_text("x = 1\n", encoding="utf-8")
    assert command.main(["--with", str(file), "render", "a b", "-o", str(out)]) == 2
    assert "holds no rows" in capsys.readouterr().err


@for_each(
    "changes, message",
    [
        ({"kind": "mask"}, "choose one of: score, normaliser"),
        ({"name": "dot"}, "that no row has yet"),
        ({"name": "Two words"}, "that no row has yet"),
        ({"line": "tahn(q)"}, "did you mean tanh"),
        (
            {"lines": (CellLine("score", "total(q)", "A", "B."),)},
            "the lines that say 'mine': there is no function total",
        ),
        (
            {"line": "sum(q) * c", "knobs": (Knob("c", "C", 9.0, 0.1, 4.0),)},
            "knob 'c' of 'mine': is 9.0; choose 0.1 to 4",
        ),
        ({"line": "sum(q)", "knobs": (Knob("c", "C", 1.0, 0.1, 4.0),)}, "does not name its knob 'c'"),
    ],
)
def test_a_row_that_cannot_be_added_says_why(changes: dict[str, Any], message: str) -> None:
    before = list(SCORES)
    whole = {"kind": "score", "name": "mine", "label": "Mine", "line": "sum(q)", "note": "A sum.", "source": "a test"}
    with pytest.raises(ConfigError, match=message):
        add_rows(LineRow("score", "first", "First", "sum(k)", "A sum.", "a test"), LineRow(**whole | changes))
    assert list(SCORES) == before


def test_heads_without_a_number_of_their_own_have_the_last() -> None:
    config = Config(normaliser="power", normaliser_knobs={"power.rest": (0.0, 2.0)}, n_heads=3)
    sums = run(config)["weights"].array.sum(axis=-1)
    assert math.isclose(sums[0].max(), 1.0)
    assert (sums[1:] < 1).all()
