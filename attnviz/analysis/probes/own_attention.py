"""`check_attention`: a function of somebody's own is run on probes, and the usual mistakes in it are named.

The function is run as any program of its owner is; nothing that a visitor of the page sends ever gets here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from attnviz.analysis.probes.variants import SAYS, Probe, Variant, attention, variants
from attnviz.arrays import Array
from attnviz.settings.faults import ConfigError, shorten

MASKS = ("mask", "attn_mask", "attention_mask", "allowed")
CAUSAL = ("causal", "is_causal")
HEADS = ("n_heads", "num_heads", "heads", "n_head", "h")
RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""Within these, float32 counts as the same."""

WORDS = {
    "right": "it computes softmax(Q Kᵀ / √d_k) V on {what}",
    "plain": "vectors without a mask",
    "mask": "a mask of True for “may attend”",
    "causal": "a causal mask",
    "heads": "several heads",
    "else": "on {what} it computes something else: up to {most:.3g} away from softmax(Q Kᵀ / √d_k) V, and none of the "
    "usual mistakes explains it",
    "overflow": "scores of some hundreds give NaN: subtract the largest score of a row before exp",
    "in_place": "it changes the arrays that it is given: compute on copies",
    "empty_row": "a query with nothing to attend to gives NaN, as in PyTorch; attnviz gives zeros",
}
FAULTS = {
    "function": "{given} is no function; give one of q, k and v",
    "few": "{name} takes {n} arguments; give a function of q, k and v, (tokens, width) each, that returns the output",
    "needs": "{name} cannot be called without {argument}; give it a default, or name it {names}",
    "runs": "{name} fails on every probe, the last time with {error}; it is called with q, k and v, (tokens, width) or "
    "with axes for batch and heads before, as NumPy arrays or PyTorch tensors",
    "shape": "{name} returns no array of {shape}, the shape of the output; its own are {found}",
}


@dataclass(frozen=True)
class Finding:
    """A finding: `is_mistake` tells a mistake from a note."""

    text: str
    is_mistake: bool = False


@dataclass(frozen=True)
class Called:
    """The way a function wants to be called: the names of its arguments, axes before tokens, and a library."""

    function: Callable[..., Any]
    names: dict[str, str]
    axes: int
    is_torch: bool
    is_square: bool

    def __call__(self, probe: Probe) -> Array:
        """Return the output of a probe, (queries, width). Raises what the function raises."""
        return self.run(probe)[0]

    def run(self, probe: Probe) -> tuple[Array, bool]:
        """Return the output, and whether the function changed what it was given."""
        to = import_module("torch").tensor if self.is_torch else np.array
        given = [to(x[(None,) * self.axes]) for x in (probe.q, probe.k, probe.v)]
        more: dict[str, Any] = {}
        if probe.allowed is not None:
            more[self.names["mask"]] = to(probe.allowed)
        if probe.causal:
            more[self.names["causal"]] = True
        if "heads" in self.names:
            more[self.names["heads"]] = probe.n_heads
        with np.errstate(all="ignore"):
            returned = self.function(*given, **more)
        output = self._output(returned, probe)
        same = (np.array_equal(np.asarray(x)[(0,) * self.axes], y) for x, y in zip(given, (probe.q, probe.k, probe.v)))
        return output, not all(same)

    def _output(self, returned: Any, probe: Probe) -> Array:
        each = returned if isinstance(returned, (tuple, list)) else [returned]
        arrays = [np.asarray(x.detach() if hasattr(x, "detach") else x) for x in each]
        shape = (1,) * self.axes + (len(probe.q), probe.v.shape[-1])
        for array in arrays:
            if array.shape == shape:
                return array.reshape(shape[self.axes :]).astype(float)
        found = ", ".join(str(array.shape) for array in arrays)
        raise ConfigError(FAULTS["shape"].format(name=_name(self.function), shape=shape, found=found))


def check_attention(function: Callable[..., Any]) -> list[Finding]:
    """Run a function of q, k and v on probes and name the usual mistakes in it: scale, axis, mask, order, heads.

    function  takes q, k and v, (tokens, width) or with axes for batch and heads before, as NumPy arrays or PyTorch
              tensors, and returns the output or a tuple with it. An argument named mask, causal or n_heads, or as
              PyTorch calls these, is tried as well; in a mask True is “may attend”

    Raises ConfigError for what is no such function, and for one that fails on every probe.

    >>> def attention(q, k, v):
    ...     e = np.exp(q @ k.T)
    ...     return e / e.sum(axis=-1, keepdims=True) @ v
    >>> [finding.text.partition(";")[0] for finding in check_attention(attention) if finding.is_mistake][0]
    'the scores are not divided by √d_k'
    """
    called = _called(function)
    findings: dict[str, Finding] = {}
    for what, probe in _probes(called):
        for finding in _compared(called, what, probe):
            findings.setdefault(finding.text.partition(": up to")[0], finding)
    mistakes = [each for each in findings.values() if each.is_mistake]
    return mistakes + [each for each in findings.values() if not each.is_mistake]


def _called(function: Callable[..., Any]) -> Called:
    """Return how a function can be called, by trying it."""
    if not callable(function):
        raise ConfigError(FAULTS["function"].format(given=shorten(function, 60)))
    names, error, may_want_torch = _names(function), "", False
    for is_torch in (False, True):
        for axes, is_square in ((0, False), (0, True), (1, False), (1, True), (2, False), (2, True)):
            called = Called(function, names, axes, is_torch, is_square)
            try:
                called(_probe(called))
                return called
            except ConfigError:
                raise
            except Exception as fault:
                error = f"{type(fault).__name__}: {fault}"
                may_want_torch |= isinstance(fault, (AttributeError, TypeError))
        if not may_want_torch:
            break
    raise ConfigError(FAULTS["runs"].format(name=_name(function), error=shorten(error, 120)))


def _names(function: Callable[..., Any]) -> dict[str, str]:
    """Return the names that a function has for a mask, for the causal one, and for the number of heads."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 3:
        raise ConfigError(FAULTS["few"].format(name=_name(function), n=len(positional)))
    known = {"mask": MASKS, "causal": CAUSAL, "heads": HEADS}
    found: dict[str, str] = {}
    for each in [each for each in parameters if each not in positional[:3]]:
        meant = next((what for what, names in known.items() if each.name in names), None)
        is_needed = each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        if meant:
            found[meant] = each.name
        elif is_needed:
            names = " or ".join(names[0] for names in known.values())
            raise ConfigError(FAULTS["needs"].format(name=_name(function), argument=each.name, names=names))
    return found


def _probe(called: Called, seed: int = 0, size: float = 1.0) -> Probe:
    """Return vectors that tell the variants apart: as many queries as keys only where the function needs that."""
    draw, heads = np.random.default_rng(seed), 3 if "heads" in called.names else 1
    n, m = (6, 6) if called.is_square or heads > 1 else (5, 7)
    d, d_v = (4 * heads, 4 * heads) if called.is_square or heads > 1 else (6, 4)
    q, k, v = size * draw.normal(size=(n, d)), size * draw.normal(size=(m, d)), draw.normal(size=(m, d_v))
    return Probe(q, k, v, n_heads=heads)


def _probes(called: Called) -> Iterator[tuple[str, Probe]]:
    plain, draw = _probe(called), np.random.default_rng(1)
    yield "heads" if "heads" in called.names else "plain", plain
    square = _probe(replace(called, is_square=True), seed=2)
    yield "heads" if "heads" in called.names else "plain", square
    if "mask" in called.names:
        allowed = draw.random((len(plain.q), len(plain.k))) < 0.5
        allowed[np.arange(len(allowed)), np.arange(len(allowed))] = True
        allowed[np.arange(len(allowed)), np.arange(len(allowed)) - 1] = False
        yield "mask", replace(plain, allowed=allowed)
    if "causal" in called.names:
        yield "causal", replace(square, causal=True)
        yield "causal", replace(plain, causal=True)


def _compared(called: Called, what: str, probe: Probe) -> Iterator[Finding]:
    """Yield what a probe tells: that it is right, which mistakes explain it, or that none does."""
    output, changes_them = called.run(probe)
    matching = next((each for each in variants(probe) if _is(output, attention(probe, each))), None)
    if matching is None:
        right = attention(probe, Variant())
        most = float(np.nanmax(np.abs(output - right))) if np.isfinite(output).any() else float("nan")
        yield Finding(WORDS["else"].format(what=WORDS[what], most=most), is_mistake=True)
        return
    for mistake in matching.mistakes:
        yield Finding(SAYS[mistake], is_mistake=mistake != ("mask", "lower_right"))
    if not matching.mistakes:
        yield Finding(WORDS["right"].format(what=WORDS[what]))
    if changes_them:
        yield Finding(WORDS["in_place"], is_mistake=True)
    yield from _beside(called, what, probe)


def _beside(called: Called, what: str, probe: Probe) -> Iterator[Finding]:
    """Yield what goes wrong beside the formula: overflow, and a row with nothing to attend to."""
    if what in ("plain", "heads") and not np.isfinite(called(replace(probe, q=3000 * probe.q))).all():
        yield Finding(WORDS["overflow"], is_mistake=True)
    if what == "mask" and probe.allowed is not None:
        allowed = probe.allowed.copy()
        allowed[1] = False
        if np.isnan(called(replace(probe, allowed=allowed))[1]).any():
            yield Finding(WORDS["empty_row"])


def _is(output: Array, expected: Array | None) -> bool:
    return expected is not None and bool(np.allclose(output, expected, rtol=RELATIVE, atol=ABSOLUTE))


def _name(function: Callable[..., Any]) -> str:
    return shorten(str(getattr(function, "__name__", type(function).__name__)))
