"""Attention that was computed elsewhere becomes a Trace: the steps that follow from it, and no number altered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from attnviz import SCORES, Config, ConfigError, attend, of_scores, of_vectors, of_weights, run
from attnviz.engine.external import traces as external
from attnviz.engine.records.trace import Trace
from tests.support.cases import for_each

RNG = np.random.default_rng(3)
A = RNG.dirichlet(np.ones(7), size=(2, 3, 5))
QUERIES, KEYS = tuple("abcde"), tuple("tuvwxyz")
MASKED = Config(mask=("causal", "window"), reach=3, scale=0.7, softcap=2.0, temperature=0.5, normaliser="entmax15")


def steps(trace: Trace) -> list[str]:
    return list(trace.layers[0])


class Tensor:
    """What a tensor of another library offers: it has to leave its graph, its device and its type behind."""

    def __init__(self, array: np.ndarray, dtype: str = "float64") -> None:
        self.array, self.dtype, self.shape = array, dtype, array.shape

    def detach(self) -> Tensor:
        return Tensor(self.array, self.dtype)

    def float(self) -> Tensor:
        return Tensor(self.array, "float32")

    def cpu(self) -> SimpleNamespace:
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return SimpleNamespace(numpy=lambda: self.array)


@for_each(
    "weights, batch, expected",
    [
        (A[1, 2], None, A[1:, 2:]),
        (A[1], None, A[1:]),
        (A, None, A),
        (A[1, 2].tolist(), None, A[1:, 2:]),
        (A.tolist(), None, A),
        (tuple(A[:, None]), None, A),
        (tuple(A), None, A),
        (list(A[1]), None, A[1:]),
        (A[:, None], None, A),
        (tuple(np.stack([layer, layer[::-1]]) for layer in A), 1, A[:, ::-1]),
        (A, 1, A[1:]),
        (tuple(Tensor(layer[None]) for layer in A), None, A),
        (Tensor(A, "torch.bfloat16"), None, A),
        (np.asfortranarray(A), None, A),
        (A.astype(">f8"), None, A),
    ],
)
def test_every_form_of_weights_becomes_layers_and_heads(
    weights: object, batch: int | None, expected: np.ndarray
) -> None:
    trace = of_weights(weights, QUERIES, KEYS, batch=batch)
    assert np.array_equal([layer["weights"].array for layer in trace.layers], expected)
    assert steps(trace) == ["weights"]
    assert (trace.config.n_layers, trace.config.n_heads) == expected.shape[:2]
    assert (trace.query_tokens, trace.key_tokens) == (QUERIES, KEYS)
    assert [note for note in trace.notes if "first axis" not in note] == []


@for_each("dtype", [np.float16, np.float32, np.int8, bool])
def test_numbers_of_other_types_keep_their_values(dtype: type) -> None:
    weights = np.eye(5, 7).astype(dtype)
    assert np.array_equal(of_weights(weights)["weights"].array[0], np.eye(5, 7))


@for_each(
    "weights, batch, message",
    [
        (np.ones(3), None, r"weights has shape \(3,\); give \(rows, columns\)"),
        (np.ones((1, 1, 1, 1, 1, 1)), None, "give"),
        (np.ones((2, 0, 3)), None, "holds no number"),
        ([[1.0, 2.0], [3.0]], None, "rows of different length"),
        ([[None, 1.0]], None, "holds object; give real numbers"),
        ([[1j]], None, "holds complex128; give real numbers"),
        ("ab", None, "give real numbers"),
        (np.where(A[1, 2, 3, 4] == A, np.nan, A), None, "nan at layer 2, head 3, row 4, column 5"),
        (np.full((2, 2), -np.inf), None, "-inf at row 1, column 1; give a finite number"),
        ((np.ones((2, 3, 4, 4)),), None, "a batch of 2; choose one with batch=0 to 1"),
        ((np.ones((2, 3, 4, 4)),), 2, "batch is 2; weights holds 2, choose 0 to 1"),
        (A[0], 1, "no batch axis; leave it out"),
        ((A[0], A[1, :2]), None, r"arrays of shape \(3, 5, 7\) and \(2, 5, 7\)"),
        (np.ones((external.MOST_HEADS + 1, 1, 1)), None, "n_heads is 129; choose 1 to 128"),
    ],
)
def test_what_is_no_weights_is_refused_with_its_position(weights: object, batch: int | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        of_weights(weights, batch=batch)


def test_odd_weights_are_kept_and_said() -> None:
    odd = A.copy()
    odd[1, 0, 3, 2] = -0.25
    odd[0, 2, 1] = 0.0
    trace = of_weights(odd)
    assert np.array_equal(trace.layers[1]["weights"].array, odd[1])
    total = odd[1, 0, 3].sum()
    assert trace.notes == (
        "Layer 2, head 1, row 4, column 3 is negative, -0.25; left as given.",
        "Layer 1, head 3, row 2 adds to 0, not to 1, and 1 more rows do so; left as given.",
    )
    assert abs(total - 1) > 0.1
    assert of_weights(A.astype(np.float32)).notes == ()
    assert not external.are_shares(trace, 0)
    assert external.are_shares(of_weights(A), 1)


def test_tokens_are_counted_shared_and_numbered() -> None:
    assert of_weights(A).key_tokens == tuple("1234567")
    assert of_weights(A).config.is_cross_attention
    alone = of_weights(A[..., :5], key_tokens=QUERIES)
    assert alone.query_tokens == alone.key_tokens == QUERIES
    assert not alone.config.is_cross_attention
    assert of_weights(A[..., :5], QUERIES, KEYS[:5]).config.is_cross_attention
    assert of_weights([[1.0]], ["a\ud800"]).query_tokens == ("a\ufffd",)


@for_each("tokens, message", [(["a"], "1 query tokens; give 5"), ("abcde", "give a list"), ([1] * 5, "give a list")])
def test_tokens_that_do_not_fit_are_refused(tokens: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        of_weights(A, tokens)  # type: ignore[arg-type]


def allowed(n_query: int, n_key: int) -> np.ndarray:
    i, j = np.arange(n_query)[:, None], np.arange(n_key)
    return (j <= i) & (abs(i - j) <= 3)


def test_vectors_give_what_attend_gives() -> None:
    q, k, v = RNG.normal(size=(4, 5, 3)), RNG.normal(size=(2, 6, 3)), RNG.normal(size=(2, 6, 2))
    trace = of_vectors(q, k, v, config=MASKED)
    settings = {"scale": 0.7, "softcap": 2.0, "temperature": 0.5, "normaliser": "entmax15"}
    expected = attend(q, k, v, allowed=allowed(5, 6), **settings)  # type: ignore[arg-type]
    for name in ("scores", "scaled", "capped", "masked", "weights"):
        assert np.array_equal(trace[name].array, getattr(expected, name)), name
    assert np.array_equal(trace["heads"].array, expected.output)
    assert np.array_equal(trace["output"].array, np.concatenate(list(expected.output), axis=-1))
    assert np.array_equal(trace["keys"].array, k)
    assert steps(trace)[:3] == ["queries", "keys", "values"]
    assert (trace.config.group_size, trace["queries"].formula) == (2, "Q_h")


def test_scores_go_on_where_vectors_would() -> None:
    q, k = RNG.normal(size=(2, 3, 5, 4)), RNG.normal(size=(2, 3, 7, 4))
    scores = q @ np.swapaxes(k, -1, -2)
    trace = of_scores(scores, config=MASKED)
    whole = of_vectors(q, k, k, config=MASKED)
    assert steps(trace) == ["allowed", "scores", "scaled", "capped", "masked", "weights"]
    for at in range(2):
        for name in steps(trace):
            assert np.array_equal(trace.layers[at][name].array, whole.layers[at][name].array), (at, name)


def test_minus_infinity_in_scores_stays_forbidden_under_a_cap_and_an_empty_row_is_said() -> None:
    scores = np.array([[0.0, -np.inf, 1.0], [-np.inf, -np.inf, -np.inf]])
    trace = of_scores(scores, config=Config(softcap=1.0, scale=2.0))
    assert np.array_equal(np.isneginf(trace["masked"].array[0]), np.isneginf(scores))
    assert not trace["weights"].array[0, 1].any()
    assert trace.notes == ("Row 2 has nothing to attend to: weights and output are zeros there.",)
    with pytest.raises(ConfigError, match="inf at row 1, column 2; give a finite number, or -inf"):
        of_scores(-scores)


def test_given_scores_have_no_scale_of_their_own() -> None:
    assert np.array_equal(of_scores(A)["scaled"].array, A[1])


@for_each(
    "q, k, v, message",
    [
        ((5, 3), (6, 4), (6, 2), "the same number of columns"),
        ((5, 3), (6, 3), (7, 2), "same rows"),
        ((4, 5, 3), (3, 6, 3), (3, 6, 2), "a divisor"),
        ((4, 5, 3), (2, 6, 3), (4, 6, 2), "same rows and heads"),
        ((2, 1, 5, 3), (1, 6, 3), (1, 6, 2), "the same number of layers"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(
    q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        of_vectors(np.ones(q), np.ones(k), np.ones(v))


@for_each("score", [name for name, row in SCORES.items() if row.parameters])
def test_a_score_with_matrices_of_its_own_cannot_be_had(score: str) -> None:
    with pytest.raises(ConfigError, match="matrices of its own"):
        of_vectors(np.ones((5, 3)), np.ones((6, 3)), np.ones((6, 2)), config=Config(score=score))


def test_a_run_is_not_given_and_what_is_given_says_where_it_begins() -> None:
    plain = run(Config())
    assert not external.is_external(plain)
    assert external.first_steps(plain.layers[0]) == ()
    vectors = of_vectors(np.ones((5, 3)), np.ones((6, 3)), np.ones((6, 2)))
    assert external.first_steps(vectors.layers[0]) == ("queries", "keys", "values")
    assert external.first_steps(of_scores(A).layers[0]) == ("scores",)
    assert external.first_steps(of_weights(A).layers[0]) == ("weights",)
    assert not external.forbidden(of_weights(A).layers[0]).any()


def test_tensors_of_torch(torch: Any) -> None:
    tensors = tuple(torch.tensor(layer[None], requires_grad=True) for layer in A)
    assert np.array_equal(of_weights(tensors).layers[0]["weights"].array, A[0])
    halves = torch.tensor(A).to(torch.bfloat16)
    assert np.array_equal(of_weights(halves)["weights"].array, halves[1].float().numpy())


@for_each("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_numbers_of_types_that_numpy_does_not_know_are_real(dtype: str) -> None:
    weights = np.eye(5, 7).astype(np.dtype(getattr(ml_dtypes, dtype)))
    assert np.array_equal(of_weights(weights)["weights"].array[0], np.eye(5, 7))
    assert np.array_equal(attend(weights, weights, weights).scores, attend(*[np.eye(5, 7)] * 3).scores)


def test_integers_and_complex_numbers_of_such_types_keep_their_answers() -> None:
    with pytest.raises(ConfigError, match="holds complex128; give real numbers"):
        of_weights(np.eye(2) * 1j)
    with pytest.raises(ConfigError, match=r"holds \|V2; give real numbers"):
        of_weights(np.zeros((2, 2), dtype="V2"))


@for_each("form", ["to_sparse", "to_sparse_csr", "float8_e4m3fn", "float8_e5m2", "bfloat16"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_tensors_of_every_kind_are_taken(form: str, torch: Any) -> None:
    tensor = torch.eye(3)
    weights = getattr(tensor, form)() if form.startswith("to_") else tensor.to(getattr(torch, form))
    assert np.array_equal(of_weights(weights)["weights"].array[0], np.eye(3))


def test_a_tensor_without_numbers_is_said(torch: Any) -> None:
    with pytest.raises(ConfigError, match="weights is on the device meta, which holds no numbers"):
        of_weights(torch.eye(3, device="meta"))
    with pytest.raises(ConfigError, match="holds complex64; give real numbers"):
        of_weights(torch.eye(3, dtype=torch.complex64))


@for_each(
    "nothing", [(), None, (None, None), ((), ()), SimpleNamespace(attentions=None), SimpleNamespace(attentions=())]
)
def test_a_model_that_kept_no_weights_is_told_how_to_keep_them(nothing: object) -> None:
    with pytest.raises(ConfigError, match=r'attn_implementation="eager"\) and call it with output_attentions=True'):
        of_weights(nothing)


def test_a_whole_output_is_taken_where_it_has_one_attention() -> None:
    trace = of_weights(SimpleNamespace(attentions=tuple(A[:, None])), QUERIES, KEYS)
    assert np.array_equal([layer["weights"].array for layer in trace.layers], A)
    several = SimpleNamespace(encoder_attentions=(A,), cross_attentions=(A,))
    with pytest.raises(ConfigError, match=r"from a beam search.*; generate with num_beams=1"):
        of_weights(SimpleNamespace(attentions=((A,),), beam_indices=A))
    with pytest.raises(ConfigError, match="whole output, with encoder_attentions, cross_attentions; give one"):
        of_weights(several)


def test_the_steps_of_a_generation_become_one_matrix() -> None:
    whole = np.tril(RNG.random((2, 3, 5, 5))) + np.tril(np.ones((5, 5)))
    whole /= whole.sum(axis=-1, keepdims=True)
    first = tuple(layer[None, :, :3, :3] for layer in whole)
    later = [tuple(layer[None, :, n : n + 1, : n + 1] for layer in whole) for n in (3, 4)]
    trace = of_weights((first, *later), list("abcde"))
    assert np.array_equal([layer["weights"].array for layer in trace.layers], whole)
    assert trace.notes == ()


def test_what_a_model_wrote_may_come_with_its_last_token() -> None:
    first = tuple(RNG.dirichlet(np.ones(3), size=(1, 4, 3)) for _ in range(2))
    second = tuple(RNG.dirichlet(np.ones(4), size=(1, 4, 1)) for _ in range(2))
    output = type("Output", (), {"attentions": (first, second)})()
    for value in (output, (first, second)):
        trace = of_weights(value, ["a", "b", "c", "d", "{e}"])
        assert trace.query_tokens == trace.key_tokens == ("a", "b", "c", "d")
        assert trace.notes == (
            "The last token, “{e}”, is left out: it was written last, and the model did not read it.",
        )
        assert of_weights(value, list("abcd")).notes == ()
        with pytest.raises(ConfigError, match="there are 6 query tokens; give 4"):
            of_weights(value, list("abcdef"))
    with pytest.raises(ConfigError, match="there are 4 query tokens; give 3"):
        of_weights(first, list("abcd"))  # nothing was written here, so that one token is wrong


def test_the_first_axis_of_a_tensor_may_be_a_batch_and_that_is_said(torch: Any) -> None:
    A = torch.full((2, 1, 3, 3), 1 / 3)
    said = "The first axis is read as 2 layers; if it is a batch, choose one of it with batch=0."
    assert of_weights(A).notes == (said,)
    assert of_weights(A, batch=1).notes == of_weights(A[:1]).notes == of_weights((A[:1], A[1:])).notes == ()


def test_settings_and_tokens_of_another_type_are_said() -> None:
    with pytest.raises(ConfigError, match="config is 'causal'; give a Config"):
        of_scores(np.eye(2), config="causal")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the query tokens are 5; give a list of strings"):
        of_weights(np.eye(2), 5)  # type: ignore[arg-type]


def test_a_dictionary_has_an_array_a_layer() -> None:
    class Cache:
        """As TransformerLens has it: no dictionary, and looked up like one."""

        def __init__(self, arrays: dict[str, np.ndarray]) -> None:
            self.keys, self.__class__.__getitem__ = arrays.keys, lambda _, key: arrays[key]

    A = RNG.dirichlet(np.ones(3), size=(12, 2, 3))
    S = np.where(np.tri(3, dtype=bool), RNG.normal(size=(12, 2, 3, 3)), -np.inf)
    hooks = {f"blocks.{i}.attn.hook_pattern": A[i] for i in reversed(range(12))}
    cache = hooks | {f"blocks.{i}.attn.hook_attn_scores": S[i] for i in range(12)} | {"hook_embed": np.ones((3, 5))}
    for value in (cache, Cache(cache), {i: A[i] for i in range(12)}, {f"layer {i}": A[i][None] for i in range(12)}):
        trace = of_weights(value, list("abc"))
        np.testing.assert_array_equal([layer["weights"].array for layer in trace.layers], A)
    np.testing.assert_array_equal([layer["scores"].array for layer in of_scores(cache).layers], S)
    for value, said in (
        ({}, "weights is an empty dictionary"),
        ({"a": A[0], "b": A[1]}, "a dictionary with 'a', 'b', from which the layers cannot be told"),
        ({"a1": A[0], "b1": A[1]}, "from which the layers cannot be told"),
        ({"a1": A[0], "b2": A[1]}, "from which the layers cannot be told"),
        ({"blocks.0.hook_resid_pre": A[0]}, "is a cache without hook_pattern, which run_with_cache keeps"),
    ):
        with pytest.raises(ConfigError, match=said):
            of_weights(value)


def test_a_data_frame_brings_its_labels_along() -> None:
    pandas = pytest.importorskip("pandas")
    trace = of_weights(pandas.DataFrame(np.eye(2), index=["a", "b"], columns=["x", "y"]))
    assert (trace.query_tokens, trace.key_tokens) == (("a", "b"), ("x", "y"))
    assert of_weights(pandas.DataFrame(np.eye(2), columns=["x", "y"])).query_tokens == ("x", "y")
    assert of_weights(pandas.DataFrame(np.eye(2))).query_tokens == ("1", "2")
    named = of_weights(pandas.DataFrame(np.eye(2), index=["a", "b"]), ["p", "q"])
    assert (named.query_tokens, named.key_tokens) == (("p", "q"), ("p", "q"))


def test_masked_entries_are_0_as_weights_and_closed_as_scores() -> None:
    masked = np.ma.masked_array([[1.0, 5.0], [0.5, 0.5]], mask=[[False, True], [False, False]])
    assert of_weights(masked)["weights"].array.tolist() == [[[1, 0], [0.5, 0.5]]]
    assert of_weights(masked).notes == ("Masked weights are taken as 0: 1 of them.",)
    assert of_weights([masked[None], masked[None]]).notes == ("Masked weights are taken as 0: 2 of them.",)
    assert of_weights(np.ma.masked_array(np.eye(2))).notes == ()
    assert of_scores(masked)["weights"].array.tolist() == [[[1, 0], [0.5, 0.5]]]
    with pytest.raises(ConfigError, match="q has masked entries; fill them"):
        of_vectors(masked, np.eye(2), np.eye(2))


def rounded(weights: np.ndarray, digits: int) -> np.ndarray:
    """Weights as a type with so many binary digits holds them."""
    mantissas, exponents = np.frexp(weights)
    return np.ldexp(np.rint(np.ldexp(mantissas, digits)), exponents - digits)


@pytest.mark.parametrize("digits", [11, 8])
def test_rows_that_were_rounded_to_16_bits_are_shares_of_one(digits: int) -> None:
    weights = rounded(RNG.dirichlet(np.ones(40), size=(2, 3, 40)), digits)
    assert abs(weights.sum(axis=-1) - 1).max() > 1e-5
    trace = of_weights(weights)
    assert trace.notes == ()
    assert external.are_shares(trace, 0)


def test_rows_that_rounding_does_not_explain_are_still_noted() -> None:
    weights = RNG.dirichlet(np.ones(4), size=4)
    assert "not to 1" in of_weights(weights * 1.001).notes[0]
    assert "not to 1" in of_weights(rounded(weights * 1.02, 8)).notes[0]
    assert "adds to 0.75, not to 1" in of_weights([[0.5, 0.25], [0.5, 0.5]]).notes[0]


@for_each("least", [np.finfo(np.float32).min, np.finfo(np.float16).min, -1e4, -1e9])
def test_scores_masked_as_models_mask_them_count_as_masked_and_it_is_said(least: float) -> None:
    real = np.tril(RNG.normal(size=(4, 4)))
    trace = of_scores(real + np.triu(np.full((4, 4), float(least)), 1))
    assert np.array_equal(np.isneginf(trace["masked"].array[0]), np.triu(np.ones((4, 4), bool), 1))
    assert np.array_equal(
        trace["weights"].array, of_scores(np.where(np.tri(4, dtype=bool), real, -np.inf))["weights"].array
    )
    [note] = trace.notes
    assert (
        note == f"6 scores are {float(least):.6g} or less, as models write them where a query may not attend; they are "
        "taken as masked."
    )


def test_large_scores_alone_are_scores() -> None:
    trace = of_scores([[-20_000.0, -20_001.0], [-1500.0, -9500.0]])
    assert trace.notes == ()
    assert np.isfinite(trace["masked"].array).all()


def test_columns_that_add_to_1_are_noted_where_rows_do_not() -> None:
    weights = RNG.dirichlet(np.ones(4), size=4)
    assert of_weights(weights.T).notes[-1] == "Every column adds to 1: if the rows are keys here, give the transpose."
    assert of_weights(weights).notes == of_weights(np.eye(4)).notes == ()
