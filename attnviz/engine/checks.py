"""The arguments of `attend` and `multi_head`, checked and brought into one form.

Every message names the value, what is allowed, and how to correct it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arrays import Array
from attnviz.engine.numerics.tensors import is_real
from attnviz.engine.tables.scores import Score


def real(name: str, x: ArrayLike) -> Array:
    """Return the argument as float64; raises ValueError if it holds anything but real numbers."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return x
    if np.ma.is_masked(x):
        raise ValueError(f"{name} has masked entries; fill them with numbers, and say who may attend with `allowed`")
    array = np.asarray(x)
    if not is_real(array.dtype):
        raise ValueError(f"{name} holds {array.dtype}; give real numbers")
    return np.asarray(array, dtype=np.float64)


def aligned(Q: Array, K: Array, V: Array, row: Score) -> tuple[Array, Array, Array]:
    """Return queries, keys and values with the same heads; raises ValueError where their shapes do not fit together."""
    shapes = f"q has shape {Q.shape}, k {K.shape}, v {V.shape}"
    if min(Q.ndim, K.ndim, V.ndim) < 2 or (Q.ndim == 2 and max(K.ndim, V.ndim) > 2):
        raise ValueError(f"{shapes}; give (n, d) to each, or q (..., heads, n, d) and k, v likewise")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{shapes}; k and v need the same number of rows, one for each key")
    if Q.shape[-1] != K.shape[-1] and not row.any_widths:
        raise ValueError(f"{shapes}; the score {row.name!r} needs queries and keys of one width")
    if Q.shape[-1] == 0 or K.shape[-1] == 0:
        raise ValueError(f"{shapes}; queries and keys need at least one column")
    if Q.ndim == 2:
        return Q, K, V
    K, V = (x if x.ndim > 2 else x[None] for x in (K, V))
    H, H_kv = Q.shape[-3], K.shape[-3]
    if V.shape[-3] != H_kv or H_kv == 0 or H % H_kv:
        raise ValueError(f"{shapes}; k and v need the same number of heads, one that divides q's")
    for x in (K, V):
        if not _broadcasts(x.shape[:-3], Q.shape[:-3]):
            raise ValueError(f"{shapes}; k and v may have only batch axes that q has")
    if H_kv != H:
        K, V = (np.repeat(x, H // H_kv, axis=-3) for x in (K, V))
    return Q, K, V


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether an array of this shape can be laid over `target` without adding to it."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def fitting(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    """Return the array, if it can be laid over the scores without adding an axis; raises ValueError otherwise."""
    if not _broadcasts(array.shape, shape):
        raise ValueError(f"{name} has shape {array.shape}; it must broadcast to the scores, {shape}")
    if array.dtype != bool and (np.isnan(array).any() or np.isposinf(array).any()):
        raise ValueError(f"{name} holds NaN or +inf; give numbers, or -inf to forbid")
    return array


def allowed(value: ArrayLike | None, bias: Array | None, causal: bool, shape: tuple[int, ...]) -> Array | None:
    """Return the cells that no mask forbids; None without a mask."""
    may: Array | None = None
    if value is not None:
        may = np.asarray(value)
        if may.dtype != bool:
            raise ValueError(f"allowed holds {may.dtype}; give booleans, True where a query may attend")
        may = fitting("allowed", may, shape)
    if causal:
        lower = np.arange(shape[-1])[None, :] <= np.arange(shape[-2])[:, None]
        may = lower if may is None else may & lower
    if bias is not None and np.isneginf(bias).any():
        may = ~np.isneginf(bias) if may is None else may & ~np.isneginf(bias)
    return may


def scale(value: ArrayLike | None, row: Score, Q: Array) -> float | Array:
    """Return the factor on the scores, shaped to multiply them; raises ValueError if it does not fit the heads."""
    if value is None:
        return row.scale(Q.shape[-1])
    factor = real("scale", value)
    if not np.isfinite(factor).all():
        raise ValueError(f"scale is {value}; give finite numbers")
    if factor.ndim == 0:
        return float(factor)
    if Q.ndim == 2 or factor.shape != Q.shape[-3:-2]:
        heads = (
            "has no heads: give one number" if Q.ndim == 2 else f"has {Q.shape[-3]} heads: give as many, or one number"
        )
        raise ValueError(f"scale has shape {factor.shape}; q {heads}")
    return factor[:, None, None]


def number(name: str, value: float, *, least: float = -np.inf, above: float = -np.inf) -> float:
    """Return a finite number, `least` or more, above `above`; raises ValueError otherwise."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; give a number") from None
    if not (np.isfinite(value) and value >= least and value > above):
        wanted = f"above {above:g}" if above > -np.inf else f"{least:g} or more"
        raise ValueError(f"{name} is {value}; give a number {wanted}")
    return value


def parameters(
    row: Score, params: Mapping[str, ArrayLike], Q: Array, K: Array, learned: Collection[str] = ()
) -> dict[str, Array]:
    """Return the score's own matrices as arrays; raises ValueError for a name or a shape that it does not have.

    learned  the numbers of the normaliser, which may be among them
    """
    sizes = {"d_q": Q.shape[-1], "d_k": K.shape[-1], "key": K.shape[-2]}
    arrays: dict[str, Array] = {}
    if not isinstance(params, Mapping):
        raise ValueError(f"params is {params!r}; give a dict of the score's own matrices")
    known = list(dict.fromkeys([*row.parameters, *learned]))
    for name, value in params.items():
        if name not in known:
            raise ValueError(f"the score {row.name!r} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
        array, axes = real(name, value), row.parameters.get(name, ())
        shape = array.shape[max(array.ndim - len(axes), 0) :]
        wanted = tuple(sizes.setdefault(axis, size) for axis, size in zip(axes, shape))
        heads = array.shape[: max(array.ndim - len(axes), 0)]
        if shape != wanted or len(shape) != len(axes) or (heads and heads != Q.shape[-3:-2]):
            raise ValueError(
                f"{name} has shape {array.shape}; its axes are {axes}, here {wanted}, one head axis may stand in front"
            )
        arrays[name] = array
    return arrays
