"""Numbers of a typed bias that are learned: steps of the layer, the same as those of the score by the same letter."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, FormulaError, Trace, gradients, run
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.short_derivation import four_lines
from attnviz.engine.learning.learnable import obstacle
from attnviz.exports import archive

SENTENCE = "the cat saw the dog"


def of(line: str = "-g * abs(i - j)", **more: object) -> Trace:
    return run(Config(**{"sentence": SENTENCE, "n_heads": 3, "bias": "formula", "bias_formula": line, **more}))


def test_a_number_a_head_is_a_step_and_begins_at_one() -> None:
    trace = of()
    i, j = np.indices((5, 5))
    assert trace["score_g"].axes == ("head", "number")
    np.testing.assert_array_equal(trace["score_g"].array, np.ones((3, 1)))
    np.testing.assert_array_equal(trace["bias"].array, np.broadcast_to(-abs(i - j), (3, 5, 5)))


def test_it_can_be_supplied_and_edited_and_all_that_follows_uses_it() -> None:
    given = run(of().config, projections={"score_g": [np.array(x) for x in (0.5, 2.0, 3.0)]})
    i, j = np.indices((5, 5))
    np.testing.assert_allclose(given["bias"].array, np.array([0.5, 2.0, 3.0])[:, None, None] * -abs(i - j))
    edited = run(of().config, edits=[(0, "score_g", (1, 0), 2.0)])
    np.testing.assert_allclose(edited["bias"].array[1], -2.0 * abs(i - j))
    np.testing.assert_array_equal(edited["weights"].array[[0, 2]], of()["weights"].array[[0, 2]])


def test_its_gradient_is_the_slope_of_what_if() -> None:
    trace, step = of(mask="causal"), 1e-6
    G = np.random.default_rng(0).normal(size=trace["output"].shape)
    slopes = gradients(trace, {(0, "output"): G}).layers[0]["score_g"].array
    for h in range(3):
        up, down = (run(trace.config, edits=[(0, "score_g", (h, 0), 1.0 + way)]) for way in (step, -step))
        found = ((up["output"].array - down["output"].array) * G).sum() / (2 * step)
        assert slopes[h, 0] == pytest.approx(found, rel=1e-5)


def test_a_letter_that_the_score_has_too_is_the_same_number() -> None:
    trace = of(score="formula", score_formula="g * sum(q*k) + alpha")
    assert [name for name in trace.layers[0] if name.startswith("score_")] == ["score_g", "score_alpha"]
    edited = run(trace.config, edits=[(0, "score_g", (0, 0), 3.0)])
    np.testing.assert_allclose(edited["bias"].array[0], 3.0 * trace["bias"].array[0])
    assert not np.allclose(edited["scores"].array[0], trace["scores"].array[0])


def test_what_is_said_of_a_cell_names_what_was_added() -> None:
    learned, plain = of("-g * abs(i - j) / 4"), of("-abs(i - j) / 4")
    for trace in (learned, plain):
        (change,) = [each for each in four_lines(trace, derive(trace, 0, 1, 3, 1)).changes if each.name == "bias"]
        assert change.by == -0.5
    assert "bias_of_line" in [line.name for line in derive(learned, 0, 1, 3, 1).score]


def test_an_archive_keeps_it() -> None:
    again = archive.read(archive.npz(of()))
    np.testing.assert_array_equal(again["bias"].array, of()["bias"].array)
    np.testing.assert_array_equal(again["score_g"].array, of()["score_g"].array)


def test_a_bias_that_is_no_number_names_its_cell() -> None:
    with pytest.raises(FormulaError, match="the bias is nan at query 1 and key 1"):
        of("g * log(-1 - i)")


def test_only_numbers_are_learned_there() -> None:
    for line in ("v * i", "W * j", "b[j]"):
        with pytest.raises(FormulaError):
            of(line)


def test_the_trainer_says_that_it_cannot() -> None:
    learned = Config(task="translation", initialiser="learned", bias="formula", bias_formula="-g * abs(i - j)")
    assert obstacle(learned) == "supports no typed bias with numbers that are learned"
    assert "typed bias" in " ".join(run(learned).notes)
    assert not obstacle(Config(task="translation", initialiser="learned", bias="formula", bias_formula="-abs(i - j)"))
