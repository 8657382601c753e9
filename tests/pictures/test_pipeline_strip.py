"""The flow of steps, their thumbnails, and the shape ledger."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from attnviz import MASKS, Config, run
from attnviz.engine.records.step_specs import AXES, STEPS
from attnviz.pictures import colours, pipeline_strip, thumbnails
from attnviz.pictures.thumbnails import HIGHEST, LOWEST, MASKED_CELL, MAX_PIXELS, NO_CELL, NOT_FINITE
from attnviz.text import step_names
from attnviz.text.cost_ledger import ledger
from tests.support.cases import for_each

ZERO = (LOWEST + HIGHEST) // 2
BUSY = {
    "sentence": "a b c",
    "second_sentence": "x y",
    "d_model": 5,
    "n_heads": 4,
    "n_kv_heads": 2,
    "d_k": (3, 2),
    "d_v": (1, 2),
    "position": "rope",
    "bias": "alibi",
    "softcap": 2.0,
    "projection_bias": True,
    "residual": True,
    "norm": "pre",
    "feed_forward": "relu",
    "d_ff": 7,
    "d_a": 4,
    "n_layers": 2,
}


def by_name(config: Config, layer: int = 0, **more) -> dict[str, pipeline_strip.FlowStep]:
    return {entry.name: entry for entry in pipeline_strip.entries(run(config, **more), layer)}


# Order, words, folding -----------------------------------------------------------------------------------------------


def test_every_step_has_its_place():
    assert sorted(step_names.ORDER) == sorted(STEPS)
    assert set(step_names.PARAMETERS) < set(STEPS)


def test_the_order_is_that_of_the_data():
    found = "".join(
        entry.text for entry in pipeline_strip.entries(run(Config(mask="causal", bias="alibi", softcap=1.0)), 0)
    )
    assert found == "EPXW_QW_KW_VQKVSS′S″BMŜAZCW_OY"


def test_the_path_of_a_plain_layer():
    shown = [
        entry.text for entry in pipeline_strip.entries(run(Config(mask="causal")), 0) if entry.on_path and entry.changes
    ]
    assert shown == ["X", "Q", "K", "V", "S", "S′", "Ŝ", "A", "Z", "C", "W_O", "Y"]


@pytest.mark.parametrize("cross", [False, True])
def test_the_flow_holds_every_recorded_step_once_and_in_order(cross):
    config = Config(**BUSY | ({} if cross else {"second_sentence": ""}))
    trace = run(config)
    outer = [name for name in trace.around if cross or not name.endswith("_kv")]
    assert set(step_names.steps(trace, 0)) == {*outer, *trace.layers[0]}
    later = step_names.steps(trace, 1)
    assert set(later) == {"embedded", *trace.layers[1], *(["embedded_kv"] if cross else [])}
    assert list(later) == [name for name in step_names.ORDER if name in later]
    stages = [entry.stage for entry in pipeline_strip.entries(trace, 1)]
    assert stages == sorted(stages)


def test_a_later_layer_reads_what_the_former_hands_on():
    trace = run(Config(**BUSY))
    read = step_names.steps(trace, 1)["embedded"]
    np.testing.assert_array_equal(read.array, trace.layers[0]["ff_added"].array)
    assert (read.symbol, read.axes, read.meaning) == ("X", ("query", "model"), "what layer 1 passes on")
    assert step_names.steps(trace, 0)["embedded"] is trace["embedded"]


@for_each(
    "settings, name",
    [
        ({"scale": 0.5}, "scaled"),
        ({"softcap": 1.0}, "capped"),
        ({"mask": "causal"}, "masked"),
        ({"bias": "alibi"}, "masked"),
        ({"mask": "causal"}, "allowed"),
        ({"bias": "alibi"}, "bias"),
        ({"n_heads": 2}, "concat"),
        ({"position": "sinusoidal"}, "token_embeddings"),
        ({"position": "sinusoidal"}, "positions"),
    ],
)
def test_a_step_that_equals_the_one_before_is_told(settings, name):
    still = Config(sentence="a b c", score="dot", n_heads=1, position="none", output_projection=False)
    calm = by_name(still)
    assert name not in calm or not calm[name].changes
    moved = {field: getattr(still, field) for field in ("sentence", "score", "n_heads", "position")} | settings
    assert by_name(Config(**moved))[name].changes


def test_queries_turned_by_nothing_are_folded():
    for name in ("projected_queries", "projected_keys"):
        assert not by_name(Config(sentence="a", position="rope"))[name].changes
        assert by_name(Config(sentence="a b", position="rope"))[name].changes


def test_an_edit_of_a_folded_step_unfolds_it():
    config = Config(sentence="a b c", score="dot")
    assert by_name(config, edits=[(0, "capped", (1, 2, 0), 9.0)])["capped"].changes


def test_the_output_is_never_folded():
    config = Config(sentence="a", n_heads=1, output_projection=False)
    assert not by_name(Config(n_heads=2, output_projection=False))["concat"].changes
    last = pipeline_strip.entries(run(config), 0)[-1]
    assert (last.name, last.changes, last.on_path) == ("output", True, True)


def test_shapes_in_words():
    busy = by_name(Config(**BUSY))
    assert busy["scores"].words == "(4 heads, 3 queries, 2 keys)"
    assert busy["queries"].words == "(4 heads, 3 queries, d_k 3/3/2/2)"
    assert busy["values"].words == "(2 key/value heads, 2 keys, d_v 1/2)"
    assert busy["embedded"].words == "(3 tokens, d_model 5)"
    assert busy["embedded_kv"].words == "(2 tokens, d_model 5)"
    assert busy["concat"].words == "(3 tokens, Σ d_v 6)"
    assert busy["w_o"].words == "(Σ d_v 6, d_out 5)"
    assert busy["queries"].shape == "4 × 3 × 2–3"
    one = by_name(Config(sentence="a", n_heads=1))
    assert one["keys"].words == "(1 head, 1 key, d_k 4)"
    many = by_name(Config(n_heads=8, d_k=tuple(range(1, 9))))
    assert many["queries"].words == "(8 heads, 7 queries, d_k 1–8)"


def test_formulas_name_only_the_biases_that_there_are():
    plain, biased = by_name(Config()), by_name(Config(projection_bias=True))
    assert plain["queries"].plain_formula == "Q_h = X W_Qʰ"
    assert biased["queries"].plain_formula == "Q_h = X W_Qʰ + b_Qʰ"
    assert plain["output"].formula == "Y = C W_O"
    assert biased["output"].formula == "Y = C W_O + b_O"
    assert by_name(Config(normaliser="sparsemax", temperature=0.5))["weights"].plain_formula == "sparsemax(Ŝ / 0.5)"


@for_each("mask", MASKS)
def test_no_latex_is_left_in_plain_text(mask):
    for entry in pipeline_strip.entries(run(Config(**BUSY | {"mask": mask})), 1):
        assert not set(entry.text + entry.plain_formula) & set("\\{}^")
        assert entry.text


# Thumbnails ----------------------------------------------------------------------------------------------------------


def test_a_small_step_is_drawn_cell_by_cell():
    config = Config(sentence="a b c", n_heads=2, mask="causal")
    trace = run(config)
    A = trace["weights"].array
    picture = by_name(config)["weights"].thumbnail
    assert picture.dtype == np.uint8
    assert picture.shape == (3, 7)
    assert (picture[:, 3] == NO_CELL).all()
    for head in (0, 1):
        for i in range(3):
            for j in range(3):
                wanted = MASKED_CELL if j > i else LOWEST + round(A[head, i, j] * (HIGHEST - LOWEST))
                assert picture[i, 4 * head + j] == wanted


def test_signed_numbers_are_symmetric_about_zero():
    trace = run(Config(sentence="a b", n_heads=1, d_model=2), edits=[(None, "embedded", (0, 0), 0.0)])
    step = trace["embedded"]
    picture = thumbnails.thumbnail(step, -0.5, 0.5)
    assert picture[0, 0] == ZERO
    span = (HIGHEST - LOWEST) / 2
    np.testing.assert_allclose(picture, ZERO + np.clip(step.array / 0.5, -1, 1) * span, atol=0.5)


def test_the_colours_are_those_of_all_pictures():
    found = by_name(Config(mask="causal"))
    assert found["scores"].colours is colours.SIGNED
    assert found["weights"].colours is colours.SHARE
    assert found["allowed"].thumbnail[0].tolist() == [HIGHEST] + [MASKED_CELL] * 6
    extreme = np.abs(run(Config())["scores"].array).max()
    signs = {LOWEST: -extreme, HIGHEST: extreme}
    drawn = [index for index in found["scores"].thumbnail.ravel().tolist() if index in signs]
    assert len(drawn) == 1


def test_ragged_heads_show_true_columns_only():
    picture = by_name(Config(sentence="a b c", n_heads=2, d_k=(3, 1)))["queries"].thumbnail
    assert picture.shape == (3, 7)
    assert (picture[:, 4] >= LOWEST).all()
    assert (picture[:, 5:] == NO_CELL).all()


def test_what_is_not_finite_stands_out():
    step = run(Config(sentence="a b c", n_heads=1))["scores"]
    odd = step.array.copy()
    odd[0, 0] = math.nan, math.inf, -math.inf
    assert thumbnails.thumbnail(replace(step, array=odd), -1, 1)[0].tolist() == [NOT_FINITE] * 3


@pytest.mark.slow
@for_each("n_heads", [1, 2, 3, 5, 8, 16])
@for_each("n", [1, 2, 12, 33, 64])
def test_a_thumbnail_never_grows_beyond_its_limits(n, n_heads):
    config = Config(sentence=" ".join(["w"] * n), n_heads=n_heads, d_model=512, d_k=64, d_v=(64, 1))
    for entry in pipeline_strip.entries(run(config), 0):
        height, width = entry.thumbnail.shape
        assert 1 <= height <= MAX_PIXELS[1]
        assert 1 <= width <= MAX_PIXELS[0]


def test_of_all_arrangements_the_one_that_keeps_most_cells():
    picture = by_name(Config(sentence="a b c d e f g", n_heads=16))["scores"].thumbnail
    assert picture.shape == (4 * 8 - 1, 5 * 8 - 1)


def test_a_large_step_shows_of_each_block_what_stands_out_most():
    signed = np.full((6, 4), ZERO, np.uint8)
    signed[0, 1], signed[4, 3], signed[2, 2] = LOWEST, HIGHEST - 9, MASKED_CELL
    signed[2:4, 0:2] = MASKED_CELL
    assert thumbnails._pooled(signed, (2, 2), signed=True).tolist() == [
        [LOWEST, ZERO],
        [MASKED_CELL, ZERO],
        [ZERO, HIGHEST - 9],
    ]
    share = np.full((2, 3), LOWEST, np.uint8)
    share[0, 0], share[1, 2] = 90, NOT_FINITE
    assert thumbnails._pooled(share, (2, 2), signed=False).tolist() == [[90, NOT_FINITE]]


# Ledger --------------------------------------------------------------------------------------------------------------


class Counted:
    """Matrices as nested lists, and every product of two numbers counted."""

    def __init__(self) -> None:
        self.n = 0

    def times(self, a: float, b: float) -> float:
        self.n += 1
        return a * b

    def product(self, A, B):
        return [[sum(self.times(a, row[j]) for a, row in zip(line, B)) for j in range(len(B[0]))] for line in A]

    def pairs(self, Q, K, pair):
        return [[pair(q, k) for k in K] for q in Q]

    def dot(self, q, k):
        return sum(self.times(a, b) for a, b in zip(q, k))

    def squared(self, q, k):
        return sum(self.times(a - b, a - b) for a, b in zip(q, k))

    def qk_norm(self, Q, K, p):
        root = math.sqrt(len(Q[0]))
        normed = []
        for M, gains in ((Q, p["score_vector_u"]), (K, p["score_vector_w"])):
            lengths = [math.sqrt(self.dot(x, x)) for x in M]
            grown = [[self.times(root, entry / length) for entry in x] for x, length in zip(M, lengths)]
            normed.append([[self.times(entry, gain) for entry, gain in zip(x, gains)] for x in grown])
        return [[s / root for s in row] for row in self.pairs(*normed, self.dot)]

    KNOWN = (
        *("scaled_dot", "dot", "general", "location", "gaussian", "negative_distance", "cosine"),
        *("multiplicative_tanh", "scaled_cosine", "qk_norm", "additive"),
    )

    def scores(self, name, Q, K, p):
        if name in ("scaled_dot", "dot"):
            return self.pairs(Q, K, self.dot)
        if name == "general":
            return self.pairs(self.product(Q, p["score_w"]), K, self.dot)
        if name == "location":
            return self.product(Q, p["score_w"])
        if name == "gaussian":
            return self.pairs(Q, K, lambda q, k: self.times(-0.5, self.squared(q, k)))
        if name == "negative_distance":
            return self.pairs(Q, K, lambda q, k: -math.sqrt(self.squared(q, k)))
        if name == "cosine":
            unit = [
                [[x / math.sqrt(length) for x in row] for row in M for length in [self.dot(row, row)]] for M in (Q, K)
            ]
            return self.pairs(*unit, self.dot)
        if name == "multiplicative_tanh":
            return [[math.tanh(s) for s in row] for row in self.scores("general", Q, K, p)]
        if name == "scaled_cosine":
            return [[s / max(p["score_tau"][0], 0.01) for s in row] for row in self.scores("cosine", Q, K, p)]
        if name == "qk_norm":
            return self.qk_norm(Q, K, p)
        left, right = self.product(Q, p["score_w_q"]), self.product(K, p["score_w_k"])
        b = p["score_b"]
        return self.pairs(
            left, right, lambda q, k: self.dot(p["score_v"], [math.tanh(x + y + z) for x, y, z in zip(q, k, b)])
        )


def part(step, h):
    return step.head(h).tolist()


@for_each("score", Counted.KNOWN)
def test_the_multiply_adds_of_scores_against_loops_that_give_the_same_scores(score):
    trace = run(Config(**BUSY | {"score": score}))
    layer = trace.layers[1]
    counted = Counted()
    own = [name for name in layer if name.startswith("score_")]
    for h in range(4):
        found = counted.scores(
            score, part(layer["queries"], h), part(layer["keys"], h // 2), {n: part(layer[n], h) for n in own}
        )
        np.testing.assert_allclose(found, layer["scores"].array[h], rtol=0, atol=1e-9)
    assert rows(trace)["scores"].n_multiply_adds == counted.n


def rows(trace, layer=1):
    return {row.name: row for row in ledger(trace, layer).rows}


@pytest.mark.parametrize("position", ["rope", "none"])
def test_the_multiply_adds_of_the_other_steps_against_loops(position):
    trace = run(Config(**BUSY | {"position": position}))
    layer, ledger_rows = trace.layers[1], rows(trace)
    for name, source, matrix, result in [
        ("q", layer["normed"], "w_q", "queries"),
        ("k", trace["embedded_kv"], "w_k", "keys"),
        ("v", trace["embedded_kv"], "w_v", "values"),
    ]:
        counted = Counted()
        result = f"projected_{result}" if position == "rope" and name != "v" else result
        for h in range(len(layer[matrix].array)):
            found = np.array(counted.product(source.array.tolist(), part(layer[matrix], h)))
            np.testing.assert_allclose(found + layer[f"b_{name}"].head(h), layer[result].head(h), rtol=0, atol=1e-9)
        assert ledger_rows[result].n_multiply_adds == counted.n
    counted = Counted()
    for h in range(4):
        found = counted.product(layer["weights"].array[h].tolist(), part(layer["values"], h // 2))
        np.testing.assert_allclose(found, layer["heads"].head(h), rtol=0, atol=1e-9)
    assert ledger_rows["heads"].n_multiply_adds == counted.n
    for result, source, matrix in [
        ("output", "concat", "w_o"),
        ("ff_hidden", "ff_normed", "w_1"),
        ("ff_output", "ff_hidden", "w_2"),
    ]:
        counted = Counted()
        counted.product(layer[source].array.tolist(), layer[matrix].array.tolist())
        assert ledger_rows[result].n_multiply_adds == counted.n


def test_the_multiply_adds_of_a_turn_a_scale_a_cap_and_a_norm():
    trace = run(Config(**BUSY))
    ledger_rows = rows(trace)
    # widths 3 and 2 each hold one pair of columns, and turning a pair takes four products
    assert ledger_rows["queries"].n_multiply_adds == 3 * 4 * (1 + 1 + 1 + 1)
    assert ledger_rows["keys"].n_multiply_adds == 2 * 4 * (1 + 1)
    assert ledger_rows["scaled"].n_multiply_adds == ledger_rows["capped"].n_multiply_adds == 4 * 3 * 2
    assert ledger_rows["normed"].n_multiply_adds == ledger_rows["ff_normed"].n_multiply_adds == 3 * 5
    for name in ("masked", "weights", "bias", "concat", "added", "allowed", "embedded", "w_q"):
        assert ledger_rows[name].n_multiply_adds == 0
    plain = rows(run(Config(score="dot")), 0)
    assert plain["scaled"].n_multiply_adds == plain["capped"].n_multiply_adds == 0
    assert rows(run(Config(n_heads=2, d_k=(1, 4))), 0)["scaled"].n_multiply_adds == 7 * 7  # 1/sqrt(1) is no scale
    assert rows(run(Config(output_projection=False)), 0)["output"].n_multiply_adds == 0


def test_parameters_count_true_widths():
    ledger_rows = rows(run(Config(**BUSY | {"score": "additive"})))
    counts = {name: row.n_parameters for name, row in ledger_rows.items() if row.n_parameters}
    assert counts == {
        "w_q": 5 * (3 + 3 + 2 + 2),
        "b_q": 10,
        "w_k": 5 * (3 + 2),
        "b_k": 5,
        "w_v": 5 * (1 + 2),
        "b_v": 3,
        "score_w_q": 10 * 4,
        "score_w_k": 10 * 4,
        "score_v": 4 * 4,
        "score_b": 4 * 4,
        "w_o": (1 + 1 + 2 + 2) * 5,
        "b_o": 5,
        "w_1": 35,
        "b_1": 7,
        "w_2": 35,
        "b_2": 5,
    }


def test_tied_matrices_count_once():
    config = {"n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2), "projection_bias": True, "d_model": 5}
    free, tied = (rows(run(Config(**config, tied=tied)), 0) for tied in (False, True))
    assert [free[name].n_parameters for name in ("w_q", "w_k", "b_q", "b_k")] == [50, 25, 10, 5]
    assert [tied[name].n_parameters for name in ("w_q", "w_k", "b_q", "b_k")] == [25, 0, 5, 0]
    untied = rows(run(Config(**config, tied=True), edits=[(0, "w_k", (0, 0, 0), 9.0)]), 0)
    assert [untied[name].n_parameters for name in ("w_q", "w_k")] == [50, 25]
    alike = rows(run(Config(initialiser="identity")), 0)
    assert alike["w_k"].n_parameters == 4 * 16 * 4


def test_the_totals_and_the_axes():
    whole = ledger(run(Config(**BUSY)), 1)
    assert whole.n_parameters == sum(row.n_parameters for row in whole.rows) > 0
    assert whole.n_multiply_adds == sum(row.n_multiply_adds for row in whole.rows) > 0
    queries = next(row for row in whole.rows if row.name == "queries")
    assert queries.axes == (("head", "4", AXES["head"]), ("query", "3", AXES["query"]), ("d_k", "2–3", AXES["d_k"]))
