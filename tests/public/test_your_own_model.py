"""The notebook about models of one's own, run as it stands: its figures hold the attention of BERT and of GPT-2."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow

NOTEBOOK = Path(__file__).parents[2] / "docs" / "your-own-model.ipynb"


@pytest.fixture(scope="module")
def ran() -> dict[str, Any]:
    """What the notebook's cells define, run one after the other."""
    for module in ("torch", "transformers"):
        if find_spec(module) is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("pip install -r tests/requirements-torch.txt")
    defined: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), defined)  # noqa: S102 - it is our own
    return defined


@pytest.mark.filterwarnings("default")  # what the libraries warn of is theirs
@pytest.mark.parametrize(("name", "layers", "heads"), [("bert", 3, 4), ("gpt2", 2, 3)])
def test_every_head_is_shown_as_it_is(ran: dict[str, Any], name: str, layers: int, heads: int) -> None:
    figure, attentions = ran[f"{name}_figure"], ran[f"{name}_attentions"]
    assert len(attentions) == layers
    assert len(figure.data) == layers * heads
    for layer, each in enumerate(attentions):
        for head in range(heads):
            weights = each[0, head].detach().numpy()
            np.testing.assert_array_equal(np.asarray(figure.data[layer * heads + head].z), weights.astype(float))
    assert list(figure.layout.yaxis.ticktext) == [f"{n} {token}" for n, token in enumerate(ran["tokens"], 1)]


@pytest.mark.filterwarnings("default")
def test_gpt2_looks_back_only(ran: dict[str, Any]) -> None:
    A = ran["trace"].layers[0]["weights"].array
    assert (A[:, ~np.tri(6, dtype=bool)] == 0).all()
    np.testing.assert_allclose(A.sum(axis=-1), 1, rtol=1e-6)


def test_the_notebook_is_one() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))
