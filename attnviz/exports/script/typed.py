"""Typed formulas in a script: the score, the mask, the bias and the normaliser as lines, for all heads at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attnviz.codegen.axis_order import stays_integral
from attnviz.codegen.forbidden import ZERO, at_forbidden
from attnviz.codegen.script import Script
from attnviz.codegen.words import NUMPY, Words
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, bias_formula, mask_formula, normaliser_of, score_of
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.exports.script.rows import VARIABLES
from attnviz.formula import names
from attnviz.formula.graph import HIDDEN, Formula

HEAD_NUMBERS = "h = {np}.arange(1, n_heads + 1)  # the heads, counted from 1"
ALL_HEADS, ONE_HEAD = "{np}.zeros((n_heads, {n}, {m}))", "{np}.zeros(({n}, {m}))"


@dataclass(frozen=True)
class ScriptLines:
    """The lines before a step, and what the step is."""

    before: tuple[str, ...]
    code: str


def formulas(config: Config) -> list[Formula]:
    """Return the formulas that were typed in this setting."""
    typed = [score_of(config).typed, normaliser_of(config).typed, bias_formula(config)]
    typed += [mask_formula(config)] if TYPED in config.mask else []
    return [formula for formula in typed if formula is not None]


def needs(config: Config, *variables: str) -> bool:
    """Return whether a formula of this setting looks at one of these variables."""
    return any(formula.variables() & set(variables) for formula in formulas(config))


def uses_hidden_width(config: Config) -> bool:
    """Return whether the score has a width of its own."""
    return bool(score_of(config).definition.hidden)


def _sizes(config: Config, n_key: str) -> dict[str, str]:
    """Return the names of positions and widths in a script."""
    kept = {"d_q": "d_k"} | dict.fromkeys(HIDDEN, "d_a")
    return kept | {"n": n_key, "n_key": n_key, "n_query": "len(tokens)", "tokens_kv": n_key[4:-1]}


def _n_key(trace: Trace) -> str:
    return "len(tokens_kv)" if trace.config.is_cross_attention else "len(tokens)"


def _split(lines: Sequence[str], result: str) -> ScriptLines:
    return ScriptLines(tuple(lines[:-1]), lines[-1].removeprefix(f"{result} = "))


def score(
    trace: Trace, formula: Formula, Q: str, K: str, has: set[str], widths: str, words: Words = NUMPY
) -> ScriptLines:
    """Return the lines of the typed score.

    Q, K    what queries and keys are called, the keys once for each query head
    has     the parameters that the run has;  widths  what the list of widths is called where heads differ, else empty
    """
    n_key = _n_key(trace)
    named = (
        _sizes(trace.config, n_key)
        | {"q": Q, "k": K}
        | {name: VARIABLES[names.STEPS[name]] for name in formula.parameters}
    )
    if widths:
        return _head_by_head(formula, named, has, widths, words)
    named |= {name: f"{named[name]}[:, 0]" for name in formula.parameters if name in names.NUMBERS}
    off, before = set(formula.parameters) - has, []  # a bias, while biases are off
    script = Script(formula, words, heads=True, named=named, zero=off)
    parts = _split(script.lines("S"), "S")
    for name in sorted(off):
        if re.search(rf"\b{named[name]}\b", "\n".join((*parts.before, parts.code))):
            size = named.get(formula.axes_of(name)[0], formula.axes_of(name)[0])
            before.append(f"{named[name]} = {words.np}.zeros((n_heads, {size}))  # biases are off")
    zeros = ALL_HEADS.format(np=words.np, n="len(tokens)", m=n_key)
    return ScriptLines(
        (*before, *parts.before), parts.code if _is_whole(script, formula) else _spread(parts.code, zeros)
    )


def _is_whole(script: Script, formula: Formula) -> bool:
    """Return whether a score is a number for each query and key already, and such a one as has exponentials."""
    return script.covers() and not stays_integral(formula.root)


def _spread(code: str, zeros: str) -> str:
    return f"{f'({code})' if ' if ' in code or ' < ' in code else code} + {zeros}"


def _head_by_head(formula: Formula, named: Mapping[str, str], has: set[str], widths: str, words: Words) -> ScriptLines:
    """Return a function of one head, called for each at its own width."""
    variables = {name: "Q" if name == "q" else "K" for name in ("q", "k")}
    inside = {**named, **variables, "d_q": "d_k"}
    script = Script(formula, words, named=inside)
    *lines, last = script.lines("S")
    zeros = ONE_HEAD.format(np=words.np, n="len(tokens)", m=named["n_key"])
    last = last if _is_whole(script, formula) else f"S = {_spread(last.removeprefix('S = '), zeros)}"
    arguments = [name for name in formula.parameters if name in has]
    off = [
        f"{named[name]} = {words.np}.zeros({_width(formula, name)})" for name in sorted(set(formula.parameters) - has)
    ]
    body = "".join(f"    {line}\n" for line in [*off, *lines, last])
    parameters = ["Q", "K", "h", "d_k", *(named[name] for name in arguments)]
    heads = [f"{named['q']}[h, :, :d]", f"{named['k']}[h, :, :d]", "h + 1", "d"]
    heads += [f"{named[name]}[{_index(formula, name)}]" for name in arguments]
    define = f"def score_of_head({', '.join(parameters)}):\n{body}    return S\n"
    call = ", ".join(heads)
    return ScriptLines((define,), f"{words.np}.stack([score_of_head({call}) for h, d in enumerate({widths})])")


def _width(formula: Formula, name: str) -> str:
    return "d_a" if formula.axes_of(name)[0] in HIDDEN else "d_k"


def _index(formula: Formula, name: str) -> str:
    """Return the index that cuts a parameter of one head to its true width."""
    cut = {"d_q": ":d", "d_k": ":d"}
    if name in names.NUMBERS:
        return "h, 0"
    return ", ".join(["h", *(cut.get(axis, ":") for axis in formula.axes_of(name))])


def _learned(formula: Formula) -> dict[str, str]:
    """Return what the learned numbers of a bias or a normaliser are called, one a head."""
    return {name: f"{VARIABLES[names.STEPS[name]]}[:, 0]" for name in formula.parameters}


def mask(trace: Trace, words: Words) -> ScriptLines:
    """Return the lines of the typed mask; every cell has a truth, also where only the key decides, or the head."""
    formula = mask_formula(trace.config)
    script = Script(formula, words, heads=formula.by_head, named=_sizes(trace.config, _n_key(trace)))
    parts = _split(script.lines("M"), "M")
    return ScriptLines(parts.before, f"({parts.code})" if script.covers() else f"(({parts.code}) & (i + j >= 0))")


def bias(trace: Trace, formula: Formula, words: Words) -> ScriptLines:
    """Return the lines of the typed bias, for every head."""
    n_key = _n_key(trace)
    named = _sizes(trace.config, n_key) | _learned(formula)
    script = Script(formula, words, heads=True, named=named)
    parts = _split(script.lines("B"), "B")
    zeros = ALL_HEADS.format(np=words.np, n="len(tokens)", m=n_key)
    return ScriptLines(parts.before, parts.code if script.covers() else _spread(parts.code, zeros))


def weights(
    trace: Trace, formula: Formula, x: str, *, over_keys: bool, forbids: bool, words: Words = NUMPY
) -> ScriptLines:
    """Return the lines of a normaliser, from the masked scores x.

    over_keys  whether each row is normalised, or each column
    forbids    whether a key is forbidden anywhere, so that what is not harmless there is left out
    """
    named = _sizes(trace.config, _n_key(trace)) | _learned(formula) | {"x": x}
    if not over_keys:
        named |= {"i": "j", "j": "i", "n_query": named["n_key"], "n_key": named["n_query"]}
    script = Script(
        formula,
        words,
        heads=True,
        named=named,
        allowed="seen" if forbids else "",
        axis=-1 if over_keys else -2,
        divisor="" if trace.config.temperature == 1.0 else "temperature",
        comments=NORMALISERS[trace.config.normaliser].comments,
    )
    parts = _split(script.lines("A"), "A")
    closes = forbids and at_forbidden(formula.root) != ZERO
    code = f"{words.np}.where(seen, {parts.code}, 0.0)" if closes else parts.code
    before = []
    if closes or any("seen" in line for line in (*parts.before, parts.code)):
        before.append(f"seen = ~{words.np}.isneginf({x})  # the keys that take part")
    return ScriptLines((*before, *parts.before), code if script.covers() else f"{code} + {words.np}.zeros({x}.shape)")
