"""Five published worked examples of attention, each run here from the numbers that it prints.

Printed inputs are rounded in their last place, so what follows from them is compared to 2e-8. Where a document prints
something that does not follow from its own inputs, the test holds both: what is printed and what is true.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnviz import Config, attend, multi_head, run
from tests import reference

ROUNDING = {"rtol": 0, "atol": 2e-8}


def bits(*shape: int, seed: int) -> np.ndarray:
    """Random zeros and ones that are the same in every run."""
    return np.random.default_rng(seed).integers(2, size=shape).astype(float)


def own(rows: np.ndarray) -> str:
    """A matrix as one would type it: a line a row."""
    return "\n".join(" ".join(repr(x) for x in row) for row in rows.tolist())


# A sentence of random zeros and ones; heads of different sizes, one after the other ----------------------------------


class TestRandomBitsAndHeadsOfDifferentSizes:
    """Att(X) = softmax(Q K^T / sqrt(d_K)) V for s = 5 words of w = 7 bits, chained to an (s, d) matrix."""

    def test_one_head_has_the_shapes_that_are_checked_in_print(self):
        config = Config(
            sentence="five words make this sentence",
            embedding="binary",
            position="none",
            initialiser="binary",
            d_model=7,
            n_heads=1,
            d_k=3,
            d_v=3,
            output_projection=False,
        )
        trace = run(config)
        layer = trace.layers[0]
        sentence = trace["embedded"].array
        assert sentence.shape == (5, 7)
        assert set(np.unique(sentence)) == {0, 1}
        assert set(np.unique(layer["w_q"].array)) == {0, 1}
        assert [layer[name].array.shape for name in ("queries", "keys", "values")] == [(1, 5, 3)] * 3
        assert layer["weights"].array.shape == (1, 5, 5)
        assert trace["output"].array.shape == (5, 3)
        q, k, v = (sentence @ layer[name].array[0] for name in ("w_q", "w_k", "w_v"))
        np.testing.assert_array_equal(layer["scores"].array[0], q @ k.T)
        opinion = reference.attend_heads(q, k, v)
        np.testing.assert_allclose(layer["weights"].array[0], opinion.weights, atol=1e-13)
        np.testing.assert_allclose(trace["output"].array, opinion.output, atol=1e-13)

    def test_heads_of_different_sizes_are_free_to_stand_side_by_side(self):
        config = Config(
            sentence="five words make this sentence",
            embedding="binary",
            position="none",
            initialiser="binary",
            d_model=7,
            n_heads=3,
            d_k=(3, 2, 4),
            d_v=(3, 2, 4),
        )
        layer = run(config).layers[0]
        assert layer["concat"].array.shape == (5, 9)
        assert layer["w_o"].array.shape == (9, 7)
        sentence, start = run(config)["embedded"].array, 0
        for h, width in enumerate((3, 2, 4)):
            q, k, v = (sentence @ layer[name].array[h, :, :width] for name in ("w_q", "w_k", "w_v"))
            alone = reference.attend_heads(q, k, v).output
            np.testing.assert_allclose(layer["concat"].array[:, start : start + width], alone, atol=1e-13)
            start += width

    def test_heads_chained_one_after_the_other_end_in_the_last_size(self):
        x = opinion = bits(5, 7, seed=24)
        for step, d in enumerate((3, 2, 4)):
            w = bits(3, 1, x.shape[1], d, seed=52 + step)
            x = multi_head(x, w_q=w[0], w_k=w[1], w_v=w[2]).output
            q, k, v = (np.array(reference.project(opinion.tolist(), one[0].tolist())) for one in w)
            opinion = reference.attend_heads(q, k, v).output
        assert x.shape == (5, 4)
        np.testing.assert_allclose(x, opinion, atol=1e-12)


# Keys, queries and values of different sizes, Glorot projections -----------------------------------------------------


class TestGlorotCrossAttentionWithThreeWidths:
    """Query and key inputs of width d_K, value inputs of width d_V, latent spaces of width d_L; W is (d_L, d_in)."""

    D_K, D_V, D_L, N_Q, N_K = 6, 4, 3, 5, 7

    def test_the_class_by_loops(self):
        draw = np.random.default_rng(65)
        limit = math.sqrt(6 / (self.D_K + self.D_L))
        w_q, w_k, w_v = (draw.uniform(-limit, limit, size=(self.D_L, d)) for d in (self.D_K, self.D_K, self.D_V))
        shapes = (self.N_Q, self.D_K), (self.N_K, self.D_K), (self.N_K, self.D_V)
        q_in, k_in, v_in = (draw.normal(size=shape) for shape in shapes)
        steps = attend(q_in @ w_q.T, k_in @ w_k.T, v_in @ w_v.T)
        latent = [
            [[sum(x * y for x, y in zip(row, unit, strict=True)) for unit in w] for row in rows]
            for rows, w in ((q_in.tolist(), w_q.tolist()), (k_in.tolist(), w_k.tolist()), (v_in.tolist(), w_v.tolist()))
        ]
        for i, query in enumerate(latent[0]):
            similarity = [sum(a * b for a, b in zip(query, key, strict=True)) for key in latent[1]]
            powers = [math.exp(s / math.sqrt(self.D_L)) for s in similarity]
            weights = [power / sum(powers) for power in powers]
            mixed = [sum(w * value[c] for w, value in zip(weights, latent[2], strict=True)) for c in range(self.D_L)]
            np.testing.assert_allclose(steps.weights[i], weights, rtol=1e-12)
            np.testing.assert_allclose(steps.output[i], mixed, rtol=1e-11, atol=1e-13)

    def test_a_run_draws_within_the_glorot_limits(self):
        config = Config(
            sentence="one two three four five",
            second_sentence="uno dos tres cuatro cinco seis siete",
            initialiser="glorot",
            d_model=40,
            n_heads=2,
            d_k=30,
            d_v=20,
            output_projection=False,
        )
        trace = run(config)
        layer = trace.layers[0]
        assert layer["weights"].array.shape == (2, 5, 7)
        assert layer["heads"].array.shape == (2, 5, 20)
        for name, width in (("w_q", 30), ("w_k", 30), ("w_v", 20)):
            limit, drawn = math.sqrt(6 / (40 + width)), layer[name].array
            assert drawn.shape == (2, 40, width)
            assert limit * 0.98 < abs(drawn).max() <= limit
            assert abs(drawn.mean()) < limit / 10
            assert drawn.std() == pytest.approx(limit / math.sqrt(3), rel=0.05)
        q = trace["embedded"].array @ layer["w_q"].array
        k, v = (trace["embedded_kv"].array @ layer[name].array for name in ("w_k", "w_v"))
        opinion = reference.attend_heads(q, k, v)
        np.testing.assert_allclose(layer["weights"].array, opinion.weights, atol=1e-12)
        np.testing.assert_allclose(layer["heads"].array, opinion.output, atol=1e-12)


# Le chat mange du poisson --------------------------------------------------------------------------------------------

FRENCH = np.array([[-0.2, 0.3, 0.5], [0.1, -0.4, 0.2], [0.4, -0.1, 0.6], [0.2, 0.5, -0.1], [0.3, -0.2, 0.4]])
ENGLISH = np.array([[0.1, 0.2, -0.3], [-0.4, 0.3, 0.2], [0.5, 0.1, -0.2], [-0.2, 0.4, 0.3]])


class TestTranslatingLeChatMangeDuPoisson:
    """Four English queries over five French words, which are keys and values at once; printed with one row a key."""

    PRINTED_S = [
        [0.11, 0.24, -0.26, 0.02],
        [-0.09, 0.22, 0.14, 0.16],
        [0.01, -0.34, 0.34, -0.26],
        [-0.01, 0.37, -0.12, 0.18],
        [0.07, 0.08, 0.22, -0.14],
    ]
    TRUE_S = [
        [-0.11, 0.27, -0.17, 0.31],
        [-0.13, -0.12, -0.03, -0.12],
        [-0.16, -0.07, 0.07, 0.06],
        [0.15, 0.05, 0.17, 0.13],
        [-0.13, -0.10, 0.05, -0.02],
    ]
    PRINTED_ALPHA = [
        [0.3218, 0.2411, 0.1202, 0.3057],
        [0.2586, 0.2142, 0.2679, 0.3319],
        [0.2857, 0.1693, 0.3423, 0.1809],
        [0.2784, 0.2414, 0.1356, 0.3422],
        [0.3055, 0.1340, 0.1340, 0.2193],
    ]
    TRUE_ALPHA = [
        [0.191992, 0.257594, 0.164676, 0.251035],
        [0.188190, 0.174406, 0.189422, 0.163301],
        [0.182628, 0.183348, 0.209344, 0.195506],
        [0.249000, 0.206724, 0.231361, 0.209682],
        [0.188190, 0.177929, 0.205198, 0.180475],
    ]
    PRINTED_C = [
        [0.1866, -0.0502, 0.4296],
        [0.0815, 0.0269, 0.2632],
        [0.1333, 0.0125, 0.3869],
        [0.1621, 0.0738, 0.1943],
    ]
    TRUE_C = [
        [0.159729, 0.050921, 0.293587],
        [0.133984, 0.056957, 0.324186],
        [0.177576, 0.027340, 0.304772],
        [0.140405, 0.059186, 0.326704],
    ]
    TRUE_ADDITIVE = [
        [0.559824, -0.099668, 0.853098, 0.515731, 0.479617],
        [0.604368, -0.011032, 0.861412, 0.566329, 0.537050],
        [0.962574, 0.245737, 1.096247, 0.850105, 0.761744],
        [0.888456, 0.362449, 1.204986, 0.913673, 0.901411],
    ]
    TRUE_ADDITIVE_C = [
        [0.180738, 0.053385, 0.354895],
        [0.178455, 0.052605, 0.351216],
        [0.168128, 0.062994, 0.350295],
        [0.183342, 0.047290, 0.348722],
    ]
    SIX_DIGITS = {"rtol": 0, "atol": 5.1e-7}

    def test_every_printed_number_is_wrong_and_these_are_right(self):
        steps = attend(ENGLISH, FRENCH, FRENCH, score="dot")
        np.testing.assert_allclose(steps.scores.T, self.TRUE_S, rtol=0, atol=1e-15)
        np.testing.assert_allclose(steps.weights.T, self.TRUE_ALPHA, **self.SIX_DIGITS)
        np.testing.assert_allclose(steps.output, self.TRUE_C, **self.SIX_DIGITS)
        assert (abs(steps.scores.T - self.PRINTED_S) > 0.02).all()
        assert (abs(steps.weights.T - self.PRINTED_ALPHA) > 0.01).all()
        assert (abs(steps.output - self.PRINTED_C) > 0.01).all()

    def test_the_printed_steps_do_not_even_follow_from_each_other(self):
        unit = np.eye(5)
        from_printed_s = attend(np.transpose(self.PRINTED_S), unit, unit, score="dot").weights.T
        assert (abs(from_printed_s - self.PRINTED_ALPHA) > 0.002).all()
        assert (abs(np.transpose(self.PRINTED_ALPHA) @ FRENCH - self.PRINTED_C) > 0.005).all()
        np.testing.assert_allclose(np.sum(self.PRINTED_ALPHA, axis=0), [1.45, 1, 1, 1.38], atol=1e-12)

    def test_the_additive_score_of_the_same_document(self):
        steps = attend(ENGLISH, FRENCH, FRENCH, score="additive")
        np.testing.assert_allclose(steps.scores, self.TRUE_ADDITIVE, **self.SIX_DIGITS)
        np.testing.assert_allclose(steps.output, self.TRUE_ADDITIVE_C, **self.SIX_DIGITS)
        opinion = reference.attend(ENGLISH.tolist(), FRENCH.tolist(), FRENCH.tolist(), score="additive")
        np.testing.assert_allclose(steps.output, opinion.output, rtol=1e-14)

    def test_the_additive_score_with_matrices_of_its_own(self):
        draw = np.random.default_rng(2)
        params = {"W_q": draw.normal(size=(3, 4)), "W_k": draw.normal(size=(3, 4)), "v": draw.normal(size=4)}
        steps = attend(ENGLISH, FRENCH, FRENCH, score="additive", params=params)
        opinion = reference.attend_heads(ENGLISH, FRENCH, FRENCH, score="additive", params=params)
        np.testing.assert_allclose(steps.output, opinion.output, rtol=1e-13)

    def test_the_sentences_typed_in(self):
        config = Config(
            sentence="The cat eats fish",
            second_sentence="Le chat mange du poisson",
            embedding="own",
            own_numbers=own(ENGLISH),
            own_numbers_second=own(FRENCH),
            position="none",
            initialiser="identity",
            d_model=3,
            n_heads=1,
            d_k=3,
            d_v=3,
            score="dot",
            output_projection=False,
        )
        trace = run(config)
        assert trace.query_tokens == ("The", "cat", "eats", "fish")
        assert trace.key_tokens == ("Le", "chat", "mange", "du", "poisson")
        np.testing.assert_array_equal(trace["embedded"].array, ENGLISH)
        np.testing.assert_array_equal(trace["embedded_kv"].array, FRENCH)
        np.testing.assert_allclose(trace.layers[0]["weights"].array[0].T, self.TRUE_ALPHA, **self.SIX_DIGITS)
        np.testing.assert_allclose(trace["output"].array, self.TRUE_C, **self.SIX_DIGITS)


# The cat sat on the mat. ---------------------------------------------------------------------------------------------


class TestTheCatSatOnTheMat:
    """Six printed queries, keys and values of width 4; no scale; a causal mask of -inf; then a layer of 8 heads."""

    Q = np.array([
        [-0.17726915, -0.60715105, 0.27040047, 1.32262995],
        [-0.35466501, -1.00190095, 0.49971724, 0.52404003],
        [-0.96664612, -0.92880235, 0.31031606, 1.47667384],
        [2.58801299, 0.91252951, 0.47811754, -1.90542747],
        [0.39023975, 1.89121848, -0.77398807, 0.55986816],
        [-0.11781247, 0.66704404, 0.74030888, 0.80908705],
    ])  # fmt: skip
    K = np.array([
        [1.31088812, 0.03025595, 0.02526448, -0.6110974],
        [0.03582415, 0.53263921, -0.34596446, 0.67464531],
        [-0.21136, 1.38581759, -2.44668208, -0.46287517],
        [-0.4030099, -0.90153947, -0.72863338, -1.69069868],
        [-0.05841235, 0.88533137, 0.23723818, 1.64457024],
        [0.90458896, -0.71120042, -0.77826392, 1.28070143],
    ])  # fmt: skip
    V = np.array([
        [0.76514641, -1.69868336, -1.59656269, -0.76914076],
        [-0.81664305, -0.10608875, -1.38933315, -2.52314108],
        [0.20812633, 0.43433177, -1.68935144, -0.07477778],
        [1.00473554, 0.71972715, -0.40171648, -0.90225516],
        [-1.03943008, -2.32277988, 1.68366562, 0.53501308],
        [1.49572558, 0.46566221, -0.26506452, 1.31825037],
    ])  # fmt: skip
    WEIGHTS = [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.39241945, 0.60758055, 0.0, 0.0, 0.0, 0.0],
        [0.06890137, 0.8818494, 0.04924923, 0.0, 0.0, 0.0],
        [0.95480366, 0.00402563, 0.01479945, 0.02637126, 0.0, 0.0],
        [0.01492158, 0.06423303, 0.78734935, 0.00128508, 0.13221096, 0.0],
        [0.04566295, 0.15950434, 0.02440449, 0.00717102, 0.68879132, 0.07446588],
    ]
    OUTPUT = [
        [0.76514641, -1.69868336, -1.59656269, -0.76914076],
        [-0.19591809, -0.73105386, -1.47065405, -1.83483723],
        [-0.65718648, -0.18920541, -1.41838721, -2.28170805],
        [0.75685338, -1.59692818, -1.56559208, -0.76943592],
        [-0.01330302, 0.00363734, -1.22109125, -0.1628469],
        [-0.68760497, -1.64396236, 0.80133911, 0.02080885],
    ]

    @pytest.mark.parametrize(
        "options",
        [
            {"score": "dot", "causal": True},
            {"score": "scaled_dot", "scale": 1, "causal": True},
            {"score": "dot", "bias": np.where(np.tri(6) > 0, 0, -np.inf)},
            {"score": "dot", "allowed": np.tri(6, dtype=bool)},
        ],
        ids=["causal", "scale one", "the printed mask", "allowed"],
    )
    def test_weights_and_outputs_as_printed(self, options):
        steps = attend(self.Q, self.K, self.V, **options)
        np.testing.assert_allclose(steps.weights, self.WEIGHTS, **ROUNDING)
        np.testing.assert_allclose(steps.output, self.OUTPUT, **ROUNDING)

    def test_the_formula_above_the_printed_numbers_is_scaled_and_they_are_not(self):
        scaled = attend(self.Q, self.K, self.V, causal=True)
        assert abs(scaled.weights - self.WEIGHTS).max() > 0.1

    def test_the_sentence_typed_in(self):
        config = Config(
            sentence="The cat sat on the mat.",
            tokeniser="whitespace",
            embedding="own",
            own_numbers=own(np.hstack([self.Q, self.K, self.V])),
            d_model=12,
            position="none",
            n_heads=1,
            d_k=4,
            d_v=4,
            score="dot",
            mask="causal",
            output_projection=False,
        )
        cut = np.eye(12).reshape(1, 12, 3, 4)
        trace = run(config, projections={f"w_{letter}": cut[:, :, i] for i, letter in enumerate("qkv")})
        assert trace.query_tokens == ("The", "cat", "sat", "on", "the", "mat.")
        np.testing.assert_allclose(trace.layers[0]["weights"].array[0], self.WEIGHTS, **ROUNDING)
        np.testing.assert_allclose(trace["output"].array, self.OUTPUT, **ROUNDING)

    def test_the_layer_of_eight_heads_against_a_loop(self):
        """One fused projection, reshaped to (heads, 3 d_k) and cut in three; W_O; both with the biases of nn.Linear."""
        n, d_model, heads, d = 6, 512, 8, 64
        draw = np.random.default_rng(36)
        x, bound = draw.normal(size=(n, d_model)), 1 / math.sqrt(d_model)
        w, b = draw.uniform(-bound, bound, (d_model, 3 * d_model)), draw.uniform(-bound, bound, 3 * d_model)
        w_o, b_o = draw.uniform(-bound, bound, (d_model, d_model)), draw.uniform(-bound, bound, d_model)
        fused = {"w": w.reshape(d_model, heads, 3, d), "b": b.reshape(heads, 3, d)}
        given = {f"w_{letter}": fused["w"][:, :, i].swapaxes(0, 1) for i, letter in enumerate("qkv")}
        given |= {f"b_{letter}": fused["b"][:, i] for i, letter in enumerate("qkv")}
        mask = np.where(np.tri(n) > 0, 0, -np.inf)
        ours = multi_head(x, **given, w_o=w_o, b_o=b_o, bias=mask)
        qkv = x @ w + b
        mixed = []
        for h in range(heads):
            q, k, v = np.split(qkv[:, h * 3 * d : (h + 1) * 3 * d], 3, axis=1)
            one = reference.attend(q.tolist(), k.tolist(), v.tolist(), causal=True)
            np.testing.assert_allclose(ours.weights[h], one.weights, atol=1e-13)
            mixed.append(one.output)
        output = np.array(reference.concat(mixed)) @ w_o + b_o
        np.testing.assert_allclose(ours.output, output, atol=1e-12)
        assert ours.output.shape == (6, 512)


# Three tokens of four dimensions, one matrix for queries and keys ----------------------------------------------------


class TestThreeTokensWithTiedQueriesAndKeys:
    """X (3, 4), W_q = W_k (4, 6), W_v (4, 5), all printed; scaled by sqrt(6)."""

    X = np.array([
        [0.47403009, 0.32876477, 0.20495151, 0.85971434],
        [0.80437388, 0.22153859, 0.88344645, 0.47825417],
        [0.18688316, 0.1481623, 0.90946148, 0.42144322],
    ])  # fmt: skip
    W_QK = np.array([
        [0.85457913, 0.72805367, 0.52885905, 0.81602111, 0.11114425, 0.16665275],
        [0.99075152, 0.43915368, 0.09446376, 0.81835108, 0.449025, 0.76979672],
        [0.45029968, 0.60978598, 0.99083217, 0.20000659, 0.37349433, 0.5733803],
        [0.68608398, 0.72666931, 0.09941451, 0.34274698, 0.34492009, 0.53264535],
    ])  # fmt: skip
    W_V = np.array([
        [0.36952055, 0.22762371, 0.03909977, 0.43702857, 0.80597927],
        [0.94430039, 0.39320212, 0.00445702, 0.11603836, 0.68048885],
        [0.30011805, 0.76770143, 0.00765135, 0.02766898, 0.96769012],
        [0.11024414, 0.62303738, 0.50907588, 0.35974711, 0.28597405],
    ])  # fmt: skip
    QUERIES = [
        [1.41294625, 1.23920219, 0.57029209, 0.99151971, 0.57339029, 0.90751846],
        [1.63282901, 1.56916273, 1.36922034, 1.17829769, 0.68379961, 1.06588145],
        [1.00517413, 1.06195371, 1.05585209, 0.60009606, 0.57234251, 0.89114652],
    ]
    VALUES = [
        [0.64190468, 0.93014723, 0.45922777, 0.56026456, 1.04996474],
        [0.8242946, 1.24639735, 0.28266546, 0.57373595, 1.7907339],
        [0.52837434, 1.06156653, 0.22947264, 0.27564264, 1.25204546],
    ]
    PRINTED_SCORES = [
        [5.06798984, 3.09132164, 3.47594607],
        [3.09132164, 2.35205625, 2.25159346],
        [3.47594607, 2.25159346, 2.57544933],
    ]
    TRUE_SCORES = [
        [5.99274977, 7.56016158, 5.07029108],
        [7.56016158, 9.9952372, 6.80166571],
        [5.07029108, 6.80166571, 4.73477765],
    ]
    PRINTED_WEIGHTS = [
        [0.50805787, 0.22669918, 0.26524295],
        [0.40828812, 0.30192217, 0.28978971],
        [0.43497103, 0.26386552, 0.30116346],
    ]
    TRUE_WEIGHTS = [
        [0.27913669, 0.52932086, 0.19154244],
        [0.22542662, 0.60917779, 0.16539558],
        [0.2564399, 0.51994606, 0.22361404],
    ]
    PRINTED_CONTEXT = [
        [1.35183866, 1.20284683, 0.68933144, 1.02996614, 1.47134148],
        [1.30738598, 1.16640691, 0.69458305, 1.00196277, 1.37074831],
        [1.32670181, 1.17789289, 0.69657226, 1.0192344, 1.40538209],
    ]
    TRUE_CONTEXT = [
        [0.71670159, 1.12271739, 0.3217618, 0.51287807, 1.48077635],
        [0.73423515, 1.14453595, 0.31366945, 0.52139582, 1.53464812],
        [0.71135062, 1.12396743, 0.31604842, 0.5036235, 1.48031283],
    ]

    @pytest.fixture
    def trace(self):
        config = Config(
            sentence="one two three",
            embedding="own",
            own_numbers=own(self.X),
            position="none",
            tied=True,
            d_model=4,
            n_heads=1,
            d_k=6,
            d_v=5,
            output_projection=False,
        )
        return run(config, projections={"w_q": self.W_QK[None], "w_k": self.W_QK[None], "w_v": self.W_V[None]})

    def test_queries_keys_and_values_as_printed(self, trace):
        layer = trace.layers[0]
        for name, printed in (("queries", self.QUERIES), ("keys", self.QUERIES), ("values", self.VALUES)):
            np.testing.assert_allclose(layer[name].array[0], printed, **ROUNDING)

    def test_the_printed_scores_are_not_the_product_of_the_printed_queries(self, trace):
        scores = trace.layers[0]["scores"].array[0]
        np.testing.assert_allclose(scores, self.TRUE_SCORES, **ROUNDING)
        assert (abs(scores - self.PRINTED_SCORES) > 0.9).all()
        assert (abs(np.array(self.QUERIES) @ np.transpose(self.QUERIES) - self.PRINTED_SCORES) > 0.9).all()

    def test_the_printed_weights_do_follow_from_the_printed_scores(self):
        unit = np.eye(3)
        steps = attend(self.PRINTED_SCORES, unit, unit, scale=1 / math.sqrt(6))
        np.testing.assert_array_equal(steps.scores, self.PRINTED_SCORES)
        np.testing.assert_allclose(steps.weights, self.PRINTED_WEIGHTS, **ROUNDING)

    def test_the_weights_that_follow_from_the_printed_inputs(self, trace):
        weights = trace.layers[0]["weights"].array[0]
        np.testing.assert_allclose(weights, self.TRUE_WEIGHTS, **ROUNDING)
        assert (abs(weights - self.PRINTED_WEIGHTS) > 0.07).all()

    def test_the_printed_context_belongs_to_other_values(self, trace):
        np.testing.assert_allclose(trace["output"].array, self.TRUE_CONTEXT, **ROUNDING)
        from_print = np.array(self.PRINTED_WEIGHTS) @ self.VALUES
        assert (abs(from_print - self.PRINTED_CONTEXT) > 0.03).all()
        assert (abs(trace["output"].array - self.PRINTED_CONTEXT) > 0.009).all()
