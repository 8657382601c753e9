"""Functions with mistakes in them: each is named, alone and with others, and a right one has none."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, attend
from attnviz.analysis.probes.own_attention import check_attention
from attnviz.analysis.probes.variants import CHOICES, SAYS, Probe, Variant, attention

SCALES = {"root": lambda s, d: s / d**0.5, "none": lambda s, d: s, "width": lambda s, d: s / d}
SCALES |= {"times_root": lambda s, d: s * d**0.5}
AXES = {"keys": -1, "queries": -2, "all": (-2, -1)}
MASKS: dict[str, Callable[[Any, Any], Any]] = {
    "minus_infinity": lambda s, may: np.where(may, s, -np.inf),
    "inverted": lambda s, may: np.where(may, -1e9, s),
    "ignored": lambda s, may: s,
    "times": lambda s, may: s * may,
    "added": lambda s, may: s + may,
}


def softmax(x: Any, axis: Any) -> Any:
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)


def own(scale: str = "root", over: str = "keys", mask: str = "minus_infinity", mixed: str = "by_rows") -> Any:
    """A function as somebody writes it, with the mistakes that are named."""

    def function(q: Any, k: Any, v: Any, mask_given: Any = None) -> Any:
        s = SCALES[scale](k @ q.T if mixed == "swapped" else q @ k.T, q.shape[-1])
        s = s if mask_given is None else MASKS[mask](s, mask_given)
        a = softmax(s, AXES[over])
        return (a.T if mixed == "by_columns" else a) @ v, a

    return lambda q, k, v, mask=None: function(q, k, v, mask)


def mistakes(function: Any) -> set[str]:
    return {finding.text for finding in check_attention(function) if finding.is_mistake}


@pytest.mark.slow
def test_each_mistake_is_named_and_two_together_are() -> None:
    square = {"by_columns", "swapped"}
    for scale, over, mask, mixed in product(SCALES, AXES, MASKS, CHOICES["mixed"]):
        wrong = {"scale": scale, "over": over, "mask": mask, "mixed": mixed}
        expected = {SAYS[each] for each in wrong.items() if each in SAYS}
        if len(expected) > 2 or (mixed in square and mask != "minus_infinity"):
            continue
        if mixed in square and over != "keys":
            continue  # a softmax over queries, of swapped scores, is one over keys, transposed: one mistake
        found = mistakes(own(**wrong))
        assert found == expected, wrong
    assert not mistakes(own())


def split(x: Any, heads: int, right: bool) -> Any:
    n, d = x.shape
    return x.reshape(n, heads, d // heads).transpose(1, 0, 2) if right else x.reshape(heads, n, d // heads)


def test_heads_that_are_reshaped_and_not_transposed_are_told() -> None:
    for splits, joins, of_head in product((True, False), (True, False), (True, False)):

        def function(q: Any, k: Any, v: Any, num_heads: int) -> Any:
            n, d = q.shape
            Q, K, V = (split(x, num_heads, splits) for x in (q, k, v))  # noqa: B023
            s = Q @ K.transpose(0, 2, 1) / (d // num_heads if of_head else d) ** 0.5  # noqa: B023
            z = softmax(s, -1) @ V
            return (z.transpose(1, 0, 2) if joins else z).reshape(n, d)  # noqa: B023

        name = {(1, 1): "", (0, 1): "by_reshape", (1, 0): "joined_by_reshape", (0, 0): "both_by_reshape"}
        expected = {SAYS["split", each] for each in [name[splits, joins]] if each}
        expected |= set() if of_head else {SAYS["scale", "root_of_all"]}
        assert mistakes(function) == expected


def test_causal_masks_are_told_apart() -> None:
    for keep, named in (
        (lambda i, j, n, m: j <= i, ()),
        (lambda i, j, n, m: j < i, ("strict",)),
        (lambda i, j, n, m: j >= i, ("upper",)),
        (lambda i, j, n, m: j <= i + m - n, ("lower_right",)),
    ):

        def function(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
            s, (n, m) = q @ k.T / q.shape[-1] ** 0.5, (len(q), len(k))
            may = keep(np.arange(n)[:, None], np.arange(m), n, m) if causal else np.True_  # noqa: B023
            return np.nan_to_num(softmax(np.where(may, s, -np.inf), -1)) @ v

        said = {finding.text for finding in check_attention(function)}
        assert {name for (what, name), text in SAYS.items() if what == "mask" and text in said} == set(named)


def test_what_is_beside_the_formula_is_told_as_well() -> None:
    def in_place(q: Any, k: Any, v: Any) -> Any:
        q /= q.shape[-1] ** 0.5
        return softmax(q @ k.T, -1) @ v

    def overflowing(q: Any, k: Any, v: Any) -> Any:
        e = np.exp(q @ k.T / q.shape[-1] ** 0.5)
        return e / e.sum(axis=-1, keepdims=True) @ v

    assert [text.partition(":")[0] for text in mistakes(in_place)] == ["it changes the arrays that it is given"]
    assert [text.partition(":")[0] for text in mistakes(overflowing)] == ["scores of some hundreds give NaN"]
    [other] = mistakes(lambda q, k, v: softmax(-np.abs(q[:, None] - k).sum(-1), -1) @ v)
    assert other.startswith("on vectors without a mask it computes something else: up to ")
    for wrong, said in (
        (3, "3 is no function"),
        (lambda q, k: q, "takes 2 arguments; give a function of q, k and v"),
        (lambda q, k, v, w: q, "cannot be called without w"),
        (lambda q, k, v: 1 / 0, "fails on every probe, the last time with 'ZeroDivisionError"),
        (lambda q, k, v: q[:2], "returns no array of"),
    ):
        with pytest.raises(ConfigError, match=said):
            check_attention(wrong)  # type: ignore[arg-type]


def test_the_right_variant_is_what_attend_computes() -> None:
    draw = np.random.default_rng(4)
    q, k, v = (draw.normal(size=shape) for shape in ((5, 6), (7, 6), (7, 4)))
    may = draw.random((5, 7)) < 0.5
    for probe, more in ((Probe(q, k, v), {}), (Probe(q, k, v, may), {"allowed": may}),
                        (Probe(q, k, v, causal=True), {"causal": True})):  # fmt: skip
        found = attention(probe, Variant())
        assert found is not None
        np.testing.assert_allclose(found, attend(q, k, v, **more).output, rtol=1e-12, atol=1e-15)


def test_functions_of_pytorch_are_checked_in_the_shapes_that_they_take(torch: Any) -> None:
    from torch.nn.functional import scaled_dot_product_attention

    def batched(q: Any, k: Any, v: Any, attn_mask: Any = None, is_causal: bool = False) -> Any:
        assert q.dim() == 4
        return scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, is_causal=is_causal)

    assert not mistakes(batched)
    assert mistakes(lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v) == {SAYS["scale", "none"]}
