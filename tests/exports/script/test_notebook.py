"""The exported notebook: a valid file whose cells, run in order, compute what the page shows."""

from __future__ import annotations

import ast
import json
import re

import pytest

from attnviz import Config, ConfigError, run
from attnviz.exports.script.notebook import notebook
from attnviz.exports.script.numpy_script import numpy_script
from tests.support import scripts
from tests.support.cases import for_each

SOME = [
    "plain",
    "cross_one_hot",
    "by_hand_induction",
    "layers_cross",
    "three_layers",
    "edits_layers",
    "ragged_additive",
]


def cells(config: Config, kind: str) -> list[dict]:
    return [cell for cell in json.loads(notebook(config))["cells"] if cell["cell_type"] == kind]


def source(cell: dict) -> str:
    return "".join(cell["source"])


@for_each("name", SOME)
def test_its_cells_in_order_compute_what_the_page_shows(name):
    config, trace = scripts.traced(name)
    code = "\n".join(source(cell) for cell in cells(config, "code"))
    scripts.compare(trace, scripts.execute(code), 1e-12, bits=True)


@for_each("name", SOME)
def test_it_is_a_notebook(name):
    text = notebook(scripts.config(name))
    book = json.loads(text)
    assert set(book) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one in ids)
    for cell in book["cells"]:
        own = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | own
        assert source(cell).strip()
        assert all(line.endswith("\n") for line in cell["source"][:-1])
    assert text.isascii()
    assert notebook(scripts.config(name)) == text


@for_each("name", SOME)
def test_its_format_is_the_one_that_is_published(name):
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(notebook(scripts.config(name)), as_version=4))


@pytest.mark.parametrize("name", ["plain", "capped", "ragged_rope"])
def test_it_holds_the_lines_of_the_script(name):
    config = scripts.config(name)
    code = "\n".join(source(cell) for cell in cells(config, "code"))
    assert ast.dump(ast.parse(code)) == ast.dump(ast.Module(ast.parse(numpy_script(config)).body[1:], []))


def test_text_and_code_take_turns():
    kinds = [cell["cell_type"] for cell in json.loads(notebook(scripts.config("three_layers")))["cells"]]
    assert kinds == ["markdown", "code"] * (len(kinds) // 2)


def test_layers_follow_each_other_under_headings():
    texts = [source(cell) for cell in cells(scripts.config("three_layers"), "markdown")]
    assert [text.splitlines()[0] for text in texts if text.startswith("# ")][1:] == [
        "# Layer 1",
        "# Layer 2",
        "# Layer 3",
    ]
    ids = [cell["id"] for cell in cells(Config(sentence="a b", n_layers=2, mask="causal", bias="alibi"), "code")]
    assert ids[ids.index("indices") :][:4] == ["indices", "mask", "bias", "layer-1-projections"]
    assert not [text for text in (source(c) for c in cells(scripts.config("plain"), "markdown")) if "# Layer" in text]


def formulas(**more) -> list[str]:
    texts = "\n".join(source(cell) for cell in cells(Config(sentence="a b", **more), "markdown"))
    return re.findall(r"\$\$(.+?)\$\$", texts)


def test_formulas_name_what_there_is():
    plain = formulas(position="none", score="dot")
    assert "X = E" in plain
    assert r"Q_h = X W_Q^h" in plain
    assert any(formula.endswith("z = S") for formula in plain)
    busy = formulas(projection_bias=True, softcap=2.0, mask=("causal", "prefix"), bias="alibi", score="dot")
    assert r"Q_h = X W_Q^h + b_Q^h" in busy
    assert r"S'' = c \tanh(S / c)" in busy
    assert r"\hat S = S'' + B,\; -\infty \text{ where forbidden}" in busy
    assert r"(j \le i) \;\text{and}\; (j \le i \;\text{ or }\; j < p)" in busy
    assert r"\hat S = S' + B" in formulas(bias="linear")
    assert any(formula.endswith(r"z = S'") for formula in formulas())


def test_words_in_angle_brackets_are_no_tags():
    texts = "".join(source(cell) for cell in cells(Config(mask="padding"), "markdown"))
    assert "&lt;pad&gt; keys" in texts
    assert "<pad> keys" not in texts


@for_each("sentence", scripts.HOSTILE)
def test_no_sentence_stands_anywhere_but_in_strings_of_code(sentence):
    config = Config(sentence=sentence, tokeniser="whitespace", n_heads=1, d_model=2)
    harmless = Config(sentence="a", tokeniser="whitespace", n_heads=1, d_model=2)
    shape = r"\((\d+(?:, )?)+,?\)"
    wanted, found = (
        [re.sub(shape, "", source(cell)) for cell in json.loads(notebook(c))["cells"] if cell["id"] != "tokens"]
        for c in (harmless, config)
    )
    assert found == wanted
    code = "\n".join(source(cell) for cell in cells(config, "code"))
    scripts.compare(run(config), scripts.execute(code), 1e-12, bits=True)


def test_a_setting_that_cannot_be_run_says_so():
    with pytest.raises(ConfigError, match="no tokens"):
        notebook(Config(sentence=" "))
