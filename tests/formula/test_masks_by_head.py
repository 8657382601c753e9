"""A typed mask that looks at the head: each head has its own, wherever a mask is read, kept, drawn or asked for."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, Trace, attend, run
from attnviz.classroom import run_questions
from attnviz.exports import archive
from attnviz.exports.mask_code import code, expression
from attnviz.live.program import program_of
from attnviz.ui.panels import mask_builder
from tests.support.cases import for_each
from tests.support.small_models import NAMES, model

SENTENCE = "the cat saw the dog and ran"
LINE = "j <= i and i - j < 2 * h"


def of(line: str = LINE, **more: object) -> Trace:
    return run(Config(**{"sentence": SENTENCE, "n_heads": 3, "mask": "formula", "mask_formula": line, **more}))


def by_hand(n: int = 7) -> np.ndarray:
    i, j = np.indices((n, n))
    return np.array([(j <= i) & (i - j < 2 * h) for h in (1, 2, 3)])


def test_each_head_sees_what_its_own_mask_allows() -> None:
    trace = of()
    assert trace["allowed"].axes == ("head", "query", "key")
    np.testing.assert_array_equal(trace["allowed"].array, by_hand())
    np.testing.assert_array_equal(trace["weights"].array > 0, by_hand())
    q, k, v = (trace[name].array for name in ("queries", "keys", "values"))
    np.testing.assert_allclose(trace["heads"].array, attend(q, k, v, allowed=by_hand()).output, rtol=1e-12)


def test_a_mask_that_does_not_look_at_the_head_is_one_for_all() -> None:
    assert of("j < n_heads")["allowed"].axes == ("query", "key")
    assert of("j < n_heads")["allowed"].array.sum(axis=1).tolist() == [3] * 7


def test_others_that_are_on_must_allow_too() -> None:
    trace = of(mask=("no_self", "formula"))
    np.testing.assert_array_equal(trace["allowed"].array, by_hand() & ~np.eye(7, dtype=bool))
    assert "no key" in " ".join(trace.notes) or "nothing" in " ".join(trace.notes)


def test_an_archive_keeps_it_and_no_other_axes() -> None:
    trace = of()
    for written in (archive.npz(trace), archive.to_json(trace).encode()):
        again = archive.read(written)
        assert again["allowed"].axes == ("head", "query", "key")
        np.testing.assert_array_equal(again["allowed"].array, by_hand())


@for_each("sentence", [SENTENCE, " ".join([SENTENCE] * 3)])
def test_its_code_is_that_of_every_head(sentence: str) -> None:
    trace = of(sentence=sentence)
    mask = trace["allowed"].array
    term = expression(trace.config, mask, trace.key_tokens)
    names: dict[str, np.ndarray] = {}
    exec(code("allowed", mask, term), names)  # noqa: S102 - that is the test
    np.testing.assert_array_equal(names["allowed"], mask)
    assert code("key_padding", mask, term).startswith("# The queries do not all see")
    assert not code("key_padding", of("j < 2 + 0 * h")["allowed"].array).startswith("#")


def test_pytorch_takes_its_code(torch: object) -> None:
    for name in ("sdpa", "multi_head", "additive"):
        names: dict[str, np.ndarray] = {}
        exec(code(name, of()["allowed"].array), names)  # noqa: S102 - that is the test
        assert names["attn_mask"].shape == (3, 7, 7), name


def test_a_model_takes_one_as_well() -> None:
    for name in NAMES[:3]:
        trace = model(name)("a cat sat on", mask="formula", mask_formula="i - j < h")
        i, j = np.indices(trace["weights"].shape[-2:])
        for h, A in enumerate(trace["weights"].array):
            assert not A[i - j > h].any(), name
        assert program_of(trace)["steps"]


def test_what_is_painted_is_one_for_all_heads() -> None:
    config = mask_builder.with_cells(of().config, by_hand()[0])
    np.testing.assert_array_equal(run(config)["allowed"].array, by_hand()[0])


def test_a_head_that_is_made_for_a_pattern_is_measured_under_its_own_mask() -> None:
    trace = of("j == i or h > 1", initialiser="by_hand", patterns=("previous", "previous", "previous"))
    (said,) = [note for note in trace.notes if "previous" in note or "mask" in note]
    assert "head 1" in said.lower()
    assert "head 2" not in said.lower()


def test_no_question_asks_for_a_mask_of_each_head() -> None:
    class Runs:
        trace = of()

        def step(self, name: str) -> object:
            return self.trace[name]

    with pytest.raises(ValueError, match="each head has a mask of its own"):
        run_questions.mask(Runs(), {})  # type: ignore[arg-type]
