"""`run`: a sentence in, every step of every layer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.core import edits as edits_of
from attnviz.core import inputs, masks
from attnviz.core.attention import joined, pipeline
from attnviz.core.biases import BIASES
from attnviz.core.blocks import FEED_FORWARDS, NORMS
from attnviz.core.config import Config
from attnviz.core.edits import OUTER, Edit
from attnviz.core.fields import ConfigError
from attnviz.core.hand import Hand
from attnviz.core.language import Words, say
from attnviz.core.normalisers import NORMALISERS
from attnviz.core.parameters import Parameters
from attnviz.core.positions import POSITIONS
from attnviz.core.projections import INITIALISERS
from attnviz.core.scores import SCORES
from attnviz.core.tokens import PAD
from attnviz.core.trace import Step, Steps, Trace

Array = np.ndarray
Projections = Mapping[str, Any]

NOTES = Words(
    {
        "left_out": "Changed numbers that have no place in this setting are left out: {listed}.",
        "more_left_out": "Changed numbers that have no place in this setting are left out: {listed} and {n:,} more.",
        "beyond": "The list of allowed cells names {n} beyond the {queries} queries and {keys} keys; left out.",
        "empty": "{where}row {row} has nothing to look at: weights and output are zeros there.",
        "more_empty": "{where}rows {rows} have nothing to look at: weights and output are zeros there.",
        "zero": "{where}no score is positive, so the weights are all zeros: {listed}.",
        "more_zero": "{where}no score is positive, so the weights are all zeros: {listed} and {n} more.",
        "row": "head {head} row {row}",
    }
)


@np.errstate(all="ignore")
def run(
    config: Config, projections: Projections | Sequence[Projections] | None = None, edits: Sequence[Edit] = ()
) -> Trace:
    """Attention over a sentence, every step kept.

    projections  parameters to use instead of drawing them: a dict with the names of `multi_head` (w_q, b_o ...) for
                 every layer, or a list with one dict a layer. Heads of different width come as a list of arrays.
    edits        (layer, step, index, value): numbers to change as the step is recorded, so that all that follows uses
                 them; the layer is None for the steps around the layers, such as "embedded"

    Raises ConfigError for a sentence without tokens, and for projections or edits that do not fit.

    >>> trace = run(Config(sentence="the cat sat", n_heads=2, mask="causal"))
    >>> trace["weights"].shape, trace["weights"].array[0, 0].tolist()
    ((2, 3, 3), [1.0, 0.0, 0.0])
    """
    here, own = _by_place(edits, config.n_layers), _by_place(config.edits)
    given = _one_each(projections, config.n_layers)
    kept = _kept(config, given) if here or own else [None] * config.n_layers
    query_tokens, key_tokens, notes = inputs.tokens(config)
    _say_beyond(config, len(query_tokens), len(key_tokens), notes)
    sizes: dict[str, int] = {}
    around = Steps(say("the steps around the layers"), sizes, here.get(None, ()), own.get(None, ()))
    X, X_kv = inputs.embedded(around, config, query_tokens, key_tokens, notes)
    layers: list[Steps] = []
    for i in range(config.n_layers):
        layer = Steps(say("layer {n}", n=i), sizes, here.get(i, ()), own.get(i, ()))
        hand = Hand(config, query_tokens, key_tokens, layers[:1]) if INITIALISERS[config.initialiser].solved else None
        parameters = Parameters(layer, config, f"layer{i}", given[i], hand, kept[i])
        X = _layer(layer, parameters, config, X, X_kv, key_tokens)
        where = say("layer {n}, ", n=i + 1) if config.n_layers > 1 else ""
        say_empty(layer, config, where, notes)
        notes += parameters.missed(where)
        parameters.check_used()
        layer.check_edits()
        layers.append(layer)
    around.check_edits()
    applied = _say_left_out([around, *layers], config, notes)
    result = layers[-1][next(reversed(list(layers[-1])))]
    everywhere = frozenset.intersection(*(frozenset(n for n in each if each[n] is not None) for each in given))
    return Trace(config, query_tokens, key_tokens, around, tuple(layers), result, tuple(notes), applied, everywhere)


def _kept(config: Config, given: list[Projections]) -> Sequence[Mapping[str, Step] | None]:
    """The steps of each layer before any number was changed, where heads are solved from what they read.

    So a changed number changes what follows from it, and not the construction.
    """
    if not INITIALISERS[config.initialiser].solved:
        return [None] * config.n_layers
    return run(replace(config, edits=()), given).layers


def _say_left_out(places: Sequence[Steps], config: Config, notes: list[str]) -> tuple[Edit, ...]:
    """The edits that were made; adds to the notes those of the setting that fit nothing in it."""
    beyond = [edit for edit in config.edits if edit[0] is not None and edit[0] >= config.n_layers]
    left_out = [*(edit for place in places for edit in place.left_out), *beyond]
    if left_out:
        listed, more = ", ".join(edits_of.place(edit) for edit in left_out[:3]), len(left_out) - 3
        notes.append(NOTES["more_left_out" if more > 0 else "left_out"].format(listed=listed, n=more))
    return tuple(edit for place in places for edit in place.edits)


def _layer(
    layer: Steps, parameters: Parameters, config: Config, X: Array, X_kv: Array, key_tokens: tuple[str, ...]
) -> Array:
    """One layer: attention, and around it residual, norm and feed-forward where they are on."""
    is_self = not config.is_cross_attention
    norm = NORMS[config.norm].fn
    source = layer.record("normed", norm(X)) if config.norm == "pre" else X
    Y = _attention(layer, parameters, config, source, source if is_self else X_kv, key_tokens)
    Y, read = _joined_up(layer, config, "added", X, Y, "X", "Y")
    if config.feed_forward == "none":
        return Y
    source, symbol = Y, rf"({read})" if config.residual and config.norm == "none" else read
    if config.norm == "pre":
        source, symbol = layer.record("ff_normed", norm(Y), formula=rf"\hat Y = \mathrm{{LN}}({read})"), r"\hat Y"
    W_1, b_1 = parameters.matrix("w_1", source, config.d_ff), parameters.vector("b_1", config.d_ff, source.shape[-1])
    F = FEED_FORWARDS[config.feed_forward].fn(_plus(source @ W_1, b_1))
    F = layer.record("ff_hidden", F, formula=f"F = f({symbol} W_1{'' if b_1 is None else ' + b_1'})")
    W_2, b_2 = parameters.matrix("w_2", F, Y.shape[-1]), parameters.vector("b_2", Y.shape[-1], config.d_ff)
    G = layer.record("ff_output", _plus(F @ W_2, b_2), formula="G = F W_2" if b_2 is None else None)
    return _joined_up(layer, config, "ff_added", Y, G, read, "G")[0]


def _joined_up(layer: Steps, config: Config, name: str, X: Array, Y: Array, x: str, y: str) -> tuple[Array, str]:
    """The residual connection and the norm after it, where they are on, and the formula of what they make of x, y."""
    if config.residual:
        y = f"{x} + {y}"
        Y = layer.record(name, X + Y, formula=y)
    if config.norm == "post":
        y = rf"\mathrm{{LN}}({y})"
        Y = layer.record(f"{name}_normed", NORMS["post"].fn(Y), formula=y)
    return Y, y


def _attention(
    layer: Steps, parameters: Parameters, config: Config, X: Array, X_kv: Array, key_tokens: tuple[str, ...]
) -> Array:
    """Multi-head attention: the paper's section 3.2.2, every step recorded."""
    score, group = SCORES[config.score], config.group_size
    d_k, d_v = config.key_widths(), config.value_widths()
    d_q, d_z = (tuple(np.repeat(widths, group).tolist()) for widths in (d_k, d_v))
    W_Q, W_K, b_q, b_k = parameters.query_and_key(X, X_kv)
    W_V, b_v = parameters.heads("w_v", X_kv, d_v), parameters.head_biases("b_v", d_v, X_kv.shape[-1])
    x = r"\hat X" if config.norm == "pre" else "X"
    x_kv = "X'" if config.is_cross_attention else x
    Q = _turned(layer, config, "queries", _plus(X @ W_Q, b_q, heads=True), d_q, _affine("Q", x, b_q))
    K = _turned(layer, config, "keys", _plus(X_kv @ W_K, b_k, heads=True), d_k, _affine("K", x_kv, b_k))
    V = _plus(X_kv @ W_V, b_v, heads=True)
    V = layer.record("values", V, formula=f"V_h = {_affine('V', x_kv, b_v)}", widths={"d_v": d_v})
    K_h, V_h = (np.repeat(x, group, axis=0) for x in (K, V))
    may, B = mask_of(layer, config, len(X), key_tokens), _bias(layer, config, len(X), len(X_kv))
    params = parameters.of_score(Q, K_h, d_q)
    formulas = formulas_of(config, layer)
    Z = pipeline(
        Q,
        K_h,
        V_h,
        score=score,
        params=params,
        scale=np.array([score.scale(d) if config.scale is None else config.scale for d in d_q])[:, None, None],
        softcap=config.softcap,
        bias=B,
        allowed=may,
        normaliser=config.normaliser,
        temperature=config.temperature,
        over=config.normalise_over,
        record=lambda name, array: layer.record(name, array, formula=formulas.get(name), widths={"d_v": d_z}),
    )
    return _output(layer, parameters, config, Z, d_z)


def formulas_of(config: Config, layer: Steps) -> dict[str, str]:
    """The formulas that depend on the setting: the score before its scale, the normaliser, and who shares keys."""
    shared, g = config.group_size > 1, "g(h)" if config.group_size > 1 else "h"
    who = rf",\quad g(h) = \lceil h / {config.group_size} \rceil" if shared else ""
    row = NORMALISERS[config.normaliser]
    scores = rf"S_h = Q_h K_{{{g}}}^\top{who}"
    if config.score not in ("scaled_dot", "dot"):
        scores = SCORES[config.score].formula
        for name in SCORES[config.score].biases:
            scores = scores if f"score_{name}" in layer else scores.replace(f" + {name}", "")
    z = r",\quad z = \hat S" + ("" if config.temperature == 1.0 else f" / {config.temperature:g}")
    weights = row.formula
    if config.normalise_over == "queries":
        weights = rf"a_{{\cdot j}} = \text{{{row.name.replace('_', ' ')}}}(z_{{\cdot j}})"
    return {"scores": scores, "weights": weights + z, "heads": rf"Z_h = A_h V_{{{g}}}{who}"}


def _plus(Y: Array, b: Array | None, *, heads: bool = False) -> Array:
    return Y if b is None else Y + (b[:, None, :] if heads else b)


def _affine(letter: str, x: str, b: Array | None) -> str:
    """The formula of what a head's matrix makes of x."""
    return f"{x} W_{letter}^h" + (f" + b_{letter}^h" if b is not None else "")


def _turned(layer: Steps, config: Config, name: str, Y: Array, widths: tuple[int, ...], formula: str) -> Array:
    """The queries or keys, turned by their positions where RoPE is on; `formula` is that of Y."""
    position, letter = POSITIONS[config.position], name[0].upper()
    if position.turn is None:
        return layer.record(name, Y, formula=f"{letter}_h = {formula}", widths={"d_k": widths})
    Y = layer.record(f"projected_{name}", Y, formula=rf"\tilde {letter}_h = {formula}", widths={"d_k": widths})
    turned = Y.copy()
    for h, width in enumerate(widths):
        turned[h, :, :width] = position.turn(Y[h, :, :width], **position.settings(config))
    return layer.record(name, turned, formula=rf"{letter}_h = R\, \tilde {letter}_h", widths={"d_k": widths})


def mask_of(layer: Steps, config: Config, n_query: int, key_tokens: tuple[str, ...]) -> Array:
    pad = np.array([token == PAD for token in key_tokens], dtype=bool)
    settings = {name: masks.MASKS[name].settings(config) for name in config.mask}
    formula = r"\;\text{and}\;".join(masks.MASKS[name].formula for name in config.mask)
    return layer.record("allowed", masks.allowed(config.mask, n_query, pad, settings), formula=formula)


def _bias(layer: Steps, config: Config, n_query: int, n_key: int) -> Array | None:
    row = BIASES[config.bias]
    B = row.fn(config.n_heads, n_query, n_key, **row.settings(config))
    if B is None:
        return None
    return layer.record("bias", np.broadcast_to(B, (config.n_heads, n_query, n_key)), formula=row.formula)


def _output(layer: Steps, parameters: Parameters, config: Config, Z: Array, widths: tuple[int, ...]) -> Array:
    """The heads side by side, true columns only, times W_O."""
    if len(set(widths)) == 1:
        C = joined(Z)
    else:
        C = np.concatenate([Z[h][:, :width] for h, width in enumerate(widths)], axis=-1)
    C = layer.record("concat", C)
    if not (config.has_output_projection() or parameters.gives("w_o")):
        return layer.record("output", C, formula="Y = C")
    W_O = parameters.output_matrix(C, widths)
    b_O = parameters.vector("b_o", W_O.shape[-1], widths[0])
    return layer.record("output", _plus(C @ W_O, b_O), formula=None if b_O is not None else "Y = C W_O")


def _say_beyond(config: Config, n_query: int, n_key: int, notes: list[str]) -> None:
    """Add to the notes that the list of allowed cells names some that are not there."""
    beyond = (
        sum(i >= n_query or j >= n_key for i, j in masks.parse(config.custom_cells)) if "custom" in config.mask else 0
    )
    if beyond:
        notes.append(NOTES["beyond"].format(n=beyond, queries=n_query, keys=n_key))


def say_empty(layer: Steps, config: Config, where: str, notes: list[str]) -> None:
    """Add to the notes the rows that take nothing, and why."""
    nothing = np.isneginf(layer["masked"].array).all(axis=-1).all(axis=0)
    if nothing.any():
        rows = ", ".join(str(i + 1) for i in np.flatnonzero(nothing))
        said = NOTES["empty" if nothing.sum() == 1 else "more_empty"].format(where=where, row=rows, rows=rows)
        notes.append(said[0].upper() + said[1:])
    zero = (layer["weights"].array.sum(axis=-1) == 0) & ~np.isneginf(layer["masked"].array).all(axis=-1)
    if config.normaliser == "linear" and zero.any():
        listed = ", ".join(NOTES["row"].format(head=h + 1, row=i + 1) for h, i in np.argwhere(zero)[:6])
        more = int(zero.sum()) - 6
        said = NOTES["more_zero" if more > 0 else "zero"].format(where=where, listed=listed, n=more)
        notes.append(said[0].upper() + said[1:])


def _one_each(projections: Projections | Sequence[Projections] | None, n_layers: int) -> list[Projections]:
    if projections is None or isinstance(projections, Mapping):
        return [projections or {}] * n_layers
    if len(projections) != n_layers:
        raise ConfigError(
            say(
                "projections has {n} dicts for {n_layers} layers; give one a layer, or one for all",
                n=len(projections),
                n_layers=n_layers,
            )
        )
    return list(projections)


def _by_place(edits: Sequence[Edit], n_layers: int | None = None) -> dict[int | None, list[Edit]]:
    """The edits of each layer, and under None those of the steps around the layers.

    Raises ConfigError for what is no edit, or for a layer that there is not among `n_layers`.
    """
    found: dict[int | None, list[Edit]] = {}
    for edit in map(edits_of.checked, edits):
        layer, step = edit[:2]
        if step not in OUTER and n_layers is not None and (layer is None or not 0 <= layer < n_layers):
            raise ConfigError(say("an edit names layer {layer}; choose 0 to {last}", layer=layer, last=n_layers - 1))
        found.setdefault(layer, []).append(edit)
    return found
