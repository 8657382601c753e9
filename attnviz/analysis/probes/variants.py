"""Attention as it is, and as it is most often got wrong: so that two mistakes are found together.

The numbers are computed here by themselves, in a few lines of NumPy, so that nothing but the variant is in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from attnviz.arrays import Allowed, Array, Keys, Queries, Scores, Values


@dataclass(frozen=True)
class Probe:
    """The arguments of a call: vectors (queries, width) of all heads side by side, and who may attend."""

    q: Queries
    k: Keys
    v: Values
    allowed: Allowed | None = None
    n_heads: int = 1
    causal: bool = False


@dataclass(frozen=True)
class Variant:
    """One way to compute attention; the first choice of each list in `CHOICES` is the right one."""

    scale: str = "root"
    over: str = "keys"
    mask: str = "minus_infinity"
    mixed: str = "by_rows"
    split: str = "by_columns"

    @property
    def mistakes(self) -> list[tuple[str, str]]:
        """The choices that are wrong, as pairs of a choice and what it is."""
        right = Variant()
        each = ((item.name, getattr(self, item.name)) for item in fields(self))
        return [(name, value) for name, value in each if value != getattr(right, name)]


CHOICES = {
    "scale": ("root", "none", "width", "times_root", "root_of_keys", "root_of_all"),
    "over": ("keys", "queries", "all"),
    "mask": ("minus_infinity", "inverted", "ignored", "times", "added", "after", "upper", "strict", "lower_right"),
    "mixed": ("by_rows", "by_columns", "swapped"),
    "split": ("by_columns", "by_reshape", "joined_by_reshape", "both_by_reshape"),
}
SAYS = {
    ("scale", "none"): "the scores are not divided by √d_k; write scores / math.sqrt(q.shape[-1])",
    ("scale", "width"): "the scores are divided by d_k, not by its root; write scores / math.sqrt(q.shape[-1])",
    ("scale", "times_root"): "the scores are multiplied by √d_k; divide by it",
    (
        "scale",
        "root_of_keys",
    ): "the scores are divided by the root of the number of keys, not of q.shape[-1]",
    (
        "scale",
        "root_of_all",
    ): "the scores of a head are divided by √d_model, not by √(d_model / heads)",
    ("over", "queries"): "the softmax runs over the queries, so that columns add to 1; write softmax(scores, axis=-1)",
    ("over", "all"): "the softmax runs over all scores at once; write softmax(scores, axis=-1), and keepdims=True",
    ("mask", "inverted"): "the mask is read the other way round: given True for “may attend”, it hides those cells (as "
    "torch.nn.MultiheadAttention has it, other than scaled_dot_product_attention); write where(mask, scores, -inf)",
    ("mask", "ignored"): "the mask changes nothing; use it before the softmax, where(mask, scores, -inf)",
    ("mask", "times"): "hidden scores are set to 0, which still gets weight; set them to -inf before the softmax",
    ("mask", "added"): "the mask is added as 0 and 1, which hides nothing; write where(mask, scores, -inf)",
    (
        "mask",
        "after",
    ): "the mask is applied after the softmax, and rows add to less than 1; set scores to -inf before",
    (
        "mask",
        "upper",
    ): "the causal mask is upside down: tokens attend to later ones; keep j <= i, np.tri(n)",
    ("mask", "strict"): "the causal mask leaves out the token itself; keep j <= i, not j < i",
    ("mask", "lower_right"): "with fewer queries than keys the causal mask is aligned at the lower right; attnviz and "
    "PyTorch's is_causal align it at the upper left, a cache of keys needs the lower right: choose on purpose",
    ("mixed", "by_columns"): "the weights are transposed before they mix the values; write weights @ v",
    ("mixed", "swapped"): "queries and keys are swapped: the scores are k @ qᵀ; write q @ kᵀ",
    ("split", "by_reshape"): "heads are split by reshape without transpose, which mixes tokens; write "
    "x.reshape(n, heads, d).transpose(1, 0, 2)",
    ("split", "joined_by_reshape"): "heads are joined by reshape without transpose; write "
    "z.transpose(1, 0, 2).reshape(n, heads * d)",
    ("split", "both_by_reshape"): "heads are split and joined by reshape without transpose, which mixes tokens; write "
    "x.reshape(n, heads, d).transpose(1, 0, 2), and the same back",
}
"""What each wrong choice is, and its cure."""


def variants(probe: Probe) -> Iterator[Variant]:
    """Yield the ways to compute what a probe asks for, the right one first, then those with the fewest mistakes."""
    open_to = {"scale", "over", "mixed"}
    open_to |= {"mask"} if probe.allowed is not None or probe.causal else set()
    open_to |= {"split"} if probe.n_heads > 1 else set()
    lists = [[(name, each) for each in (some if name in open_to else some[:1])] for name, some in CHOICES.items()]
    yield from sorted((replace(Variant(), **dict(choice)) for choice in product(*lists)), key=lambda v: len(v.mistakes))


def attention(probe: Probe, variant: Variant) -> Array | None:
    """Return what a variant makes of a probe, (queries, width); None where its shapes do not fit."""
    n, m = len(probe.q), len(probe.k)
    square = n == m and probe.q.shape == probe.k.shape
    if (variant.mixed != "by_rows" or variant.split != "by_columns") and not square:
        return None
    if variant.mask in ("upper", "strict", "lower_right") and not probe.causal:
        return None
    parts = [_split(x, probe.n_heads, variant.split) for x in (probe.q, probe.k, probe.v)]
    heads = np.stack([_head(q, k, v, probe, variant) for q, k, v in zip(*parts)])
    if variant.split in ("joined_by_reshape", "both_by_reshape"):
        return heads.reshape(n, -1)
    return heads.transpose(1, 0, 2).reshape(n, -1)


def _split(x: Array, n_heads: int, split: str) -> Array:
    if split in ("by_reshape", "both_by_reshape"):
        return x.reshape(n_heads, len(x), -1)
    return x.reshape(len(x), n_heads, -1).transpose(1, 0, 2)


def _head(q: Queries, k: Keys, v: Values, probe: Probe, variant: Variant) -> Array:
    """Return the output of one head."""
    q, k = (k, q) if variant.mixed == "swapped" else (q, k)
    d = q.shape[-1]
    by = {"root": 1 / math.sqrt(d), "none": 1.0, "width": 1 / d, "times_root": math.sqrt(d)}
    by |= {"root_of_keys": 1 / math.sqrt(len(k)), "root_of_all": 1 / math.sqrt(d * probe.n_heads)}
    S, allowed = q @ k.T * by[variant.scale], _allowed(probe, variant.mask)
    if allowed is not None and variant.mask == "inverted":
        allowed = ~allowed
    if allowed is None or variant.mask in ("ignored", "after"):
        masked = S
    elif variant.mask in ("times", "added"):
        masked = S * allowed if variant.mask == "times" else S + allowed
    else:
        masked = np.where(allowed, S, -np.inf)
    A = _softmax(masked, {"keys": -1, "queries": -2, "all": None}[variant.over])
    if variant.mask == "after" and allowed is not None:
        A = A * allowed
    return (A.T if variant.mixed == "by_columns" else A) @ v


def _allowed(probe: Probe, mask: str) -> Allowed | None:
    """Return who may attend, as a variant has it."""
    n, m = len(probe.q), len(probe.k)
    if probe.causal:
        i, j = np.arange(n)[:, None], np.arange(m)
        return {"upper": j >= i, "strict": j < i, "lower_right": j <= i + m - n}.get(mask, j <= i)
    return probe.allowed


def _softmax(x: Scores, axis: int | None) -> Array:
    """Return the softmax; zeros where every score is minus infinity."""
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=axis, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)
