"""`run`: a sentence in, every step of every layer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine import inputs
from attnviz.engine.attention import joined, pipeline
from attnviz.engine.head_goals import HeadGoals
from attnviz.engine.learning import film, learnable
from attnviz.engine.numerics import fixed_order
from attnviz.engine.numerics.products import product
from attnviz.engine.parameters import Parameters
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records import edits as edits_of
from attnviz.engine.records import typed_rows
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Steps, Trace
from attnviz.engine.run_notes import note_beyond, note_empty_rows, note_left_out
from attnviz.engine.solved_heads import SolvedHeads, SolvedLayer, made_for
from attnviz.engine.step_formulas import formulas_of
from attnviz.engine.tables import masks
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import translate

Projections = Mapping[str, Any]
WithFormula = tuple[Array, str]

MATRICES = ("w_q", "w_k", "w_v", "w_o")
"""The parameters that every setting has; where all of them are supplied, nothing is learned."""


@np.errstate(all="ignore")
def run(
    config: Config, projections: Projections | Sequence[Projections] | None = None, edits: Sequence[Edit] = ()
) -> Trace:
    """Compute attention over a sentence and keep every step.

    projections  parameters to use instead of drawing them: a dict with the names of `multi_head` (w_q, b_o ...) for
                 every layer, or a list with one dict a layer. Heads of different width come as a list of arrays.
    edits        (layer, step, index, value): numbers to change as the step is recorded, so that all that follows uses
                 them; the layer is None for the steps around the layers, such as "embedded"

    A setting that names a model which this process offers is run through that model; for any other name a note says so.

    Raises ConfigError for a sentence without tokens, and for projections or edits that do not fit.

    >>> trace = run(Config(sentence="the cat sat", n_heads=2, mask="causal"))
    >>> trace["weights"].shape, trace["weights"].array[0, 0].tolist()
    ((2, 3, 3), [1.0, 0.0, 0.0])
    """
    if not isinstance(config, Config):
        raise ConfigError(
            translate("run takes a Config, not {given}; call run(Config(sentence=...))", given=f"{config!r:.60}")
        )
    model = model_registry.find(config.model)
    if model is not None:
        if projections:
            raise ConfigError(translate("a model has projections of its own; leave out either them or the model"))
        return model.run(config, edits)
    with fixed_order.required(INITIALISERS[config.initialiser].solved):
        return _run(config, projections, edits)


def _run(config: Config, projections: Projections | Sequence[Projections] | None, edits: Sequence[Edit]) -> Trace:
    required, optional = edits_of.by_layer(edits, config.n_layers), edits_of.by_layer(config.edits)
    supplied = _one_each(projections, config.n_layers)
    solved = solved_layers(config, supplied)
    query_tokens, key_tokens, notes = inputs.tokens(config)
    notes += [model_registry.unavailable(config.model)] if config.model else []
    notes += film.notes(config, query_tokens + key_tokens)
    not_drawn = _with_learned(config, supplied, len(key_tokens), notes)
    note_beyond(config, len(query_tokens), len(key_tokens), notes)
    sizes: dict[str, int] = {}
    around = Steps(translate("the steps around the layers"), sizes, required.get(None, ()), optional.get(None, ()))
    X, X_kv = inputs.embedded(around, config, query_tokens, key_tokens, notes)
    layers: list[Steps] = []
    for i in range(config.n_layers):
        tied = [f"{x}_q" for x in "wb" if config.tied and supplied[i].get(f"{x}_k") is None]
        changes = (edits_of.shared(by_layer.get(i, ()), tied, config.group_size) for by_layer in (required, optional))
        layer = Steps(translate("layer {n}", n=i), sizes, *changes)
        parameters = Parameters(layer, config, f"layer{i}", not_drawn[i], solved=solved[i])
        X = _layer(layer, parameters, config, X, X_kv, (query_tokens, key_tokens))
        where = translate("layer {n}, ", n=ordinal(i)) if config.n_layers > 1 else ""
        note_empty_rows(layer, config, where, notes)
        heads = solved[i]
        if heads and parameters.has_own_heads():
            goals = HeadGoals(config, query_tokens, key_tokens, deep=i > 0, solved=heads)
            notes += goals.unmet_goals(layer, where)
        parameters.check_used()
        layer.check_edits()
        layers.append(layer)
    around.check_edits()
    applied = note_left_out([around, *layers], config, notes)
    result = layers[-1][next(reversed(list(layers[-1])))]
    names = tuple(frozenset(name for name in each if each[name] is not None) for each in supplied)
    everywhere, given_in = frozenset.intersection(*names), names if any(names) else ()
    what = around, tuple(layers), result, tuple(notes), applied, everywhere, given_in
    return Trace(config, query_tokens, key_tokens, *what)


def _with_learned(config: Config, supplied: list[Projections], n_key: int, notes: list[str]) -> list[Projections]:
    """Return the parameters of each layer that are not drawn.

    Those that the caller supplies, and else those that are learned.
    """
    if not learnable.learns(config) or all(layer.get(name) is not None for layer in supplied for name in MATRICES):
        return supplied
    frames = film.learned(config, run, n_key)
    notes += film.film_of(config, run).notes
    layers = ({name: array for name, array in layer.items() if array is not None} for layer in supplied)
    return [{**learned, **layer} for learned, layer in zip(frames, layers)]


def solved_layers(config: Config, supplied: Sequence[Projections]) -> Sequence[SolvedLayer | None]:
    """Return the matrices of each layer whose heads are set by hand; None where the initialiser draws them.

    They are solved for a setting of their own, before any number is changed: what the visitor changes changes what
    follows from them, and not the construction.
    """
    if not INITIALISERS[config.initialiser].solved:
        return [None] * config.n_layers
    made = made_for(config)
    query_tokens, key_tokens, notes = inputs.tokens(made)
    sizes: dict[str, int] = {}
    around = Steps("", sizes)
    X, X_kv = inputs.embedded(around, made, query_tokens, key_tokens, notes)
    layers: list[Steps] = []
    found: list[SolvedLayer] = []
    for i in range(made.n_layers):
        solver = SolvedHeads(made, query_tokens, key_tokens, layers[:], around)
        layers.append(layer := Steps("", sizes))
        parameters = Parameters(layer, made, f"layer{i}", supplied[i], solver)
        if i + 1 < made.n_layers:
            X = _layer(layer, parameters, made, X, X_kv, (query_tokens, key_tokens))
        else:  # nothing follows for which its weights are needed
            source = _source(layer, made, X)
            _projections(parameters, made, source, X_kv if made.is_cross_attention else source)
        found.append(SolvedLayer({name: layer[name] for name in ("w_q", "w_k", "w_v")}, solver.inexact))
    return found


def _layer(layer: Steps, parameters: Parameters, config: Config, X: Array, X_kv: Array, words: masks.Tokens) -> Array:
    """Record one layer: attention, and around it residual, norm and feed-forward where they are on."""
    norm, source = NORMS[config.norm], _source(layer, config, X)
    Y = _attention(layer, parameters, config, source, X_kv if config.is_cross_attention else source, words)
    Y, read = _joined_up(layer, config, "added", (X, "X"), (Y, "Y"))
    if config.feed_forward == "none":
        return Y
    source, symbol = Y, rf"({read})" if config.residual and config.norm == "none" else read
    if norm.applied == "before":
        formula = rf"\hat Y = \mathrm{{{norm.symbol}}}({read})"
        source, symbol = layer.record("ff_normed", norm.fn(Y), formula=formula), r"\hat Y"
    F = _hidden(layer, parameters, config, source, symbol)
    W_2, b_2 = parameters.matrix("w_2", F, Y.shape[-1]), parameters.vector("b_2", Y.shape[-1], config.d_ff)
    G = layer.record("ff_output", _plus(product(F, W_2), b_2), formula="G = F W_2" if b_2 is None else None)
    return _joined_up(layer, config, "ff_added", (Y, read), (G, "G"))[0]


def _source(layer: Steps, config: Config, X: Array) -> Array:
    """Return what attention reads: X, or its norm where that comes first."""
    norm = NORMS[config.norm]
    if norm.applied != "before":
        return X
    return layer.record("normed", norm.fn(X), formula=rf"\hat X = \mathrm{{{norm.symbol}}}(X)")


def _projections(
    parameters: Parameters, config: Config, X: Array, X_kv: Array
) -> tuple[tuple[Array, Array, Array], tuple[Array | None, Array | None, Array | None]]:
    """Return W_Q (H, d_model, d_k), W_K (Hkv, d_model, d_k) and W_V (Hkv, d_model, d_v), and their biases."""
    W_Q, W_K, b_q, b_k = parameters.query_and_key(X, X_kv)
    d_v = config.value_widths()
    W_V, b_v = parameters.heads("w_v", X_kv, d_v), parameters.head_biases("b_v", d_v, X_kv.shape[-1])
    return (W_Q, W_K, W_V), (b_q, b_k, b_v)


def _hidden(layer: Steps, parameters: Parameters, config: Config, X: Array, x: str) -> Array:
    """Return the hidden units of the feed-forward block: activated, and gated if need be; x is X in a formula."""
    row = FEED_FORWARDS[config.feed_forward]
    W_1, b_1 = parameters.matrix("w_1", X, config.d_ff), parameters.vector("b_1", config.d_ff, X.shape[-1])
    F, activated = row.fn(_plus(product(X, W_1), b_1)), f"f({x} W_1{'' if b_1 is None else ' + b_1'})"
    if not row.gated:
        return layer.record("ff_hidden", F, formula=f"F = {activated}")
    F_1 = layer.record("ff_gate", F, formula=f"F_1 = {activated}")
    W_3, b_3 = parameters.matrix("w_3", X, config.d_ff), parameters.vector("b_3", config.d_ff, X.shape[-1])
    formula = f"F_3 = {x} W_3{'' if b_3 is None else ' + b_3'}"
    F_3 = layer.record("ff_up", _plus(product(X, W_3), b_3), formula=formula)
    return layer.record("ff_hidden", F_1 * F_3, formula=r"F = F_1 \odot F_3")


def _joined_up(layer: Steps, config: Config, name: str, source: WithFormula, result: WithFormula) -> WithFormula:
    """Return the result of a block after the residual connection and the norm behind it, where they are on."""
    (X, x), (Y, y) = source, result
    if config.residual:
        y = f"{x} + {y}"
        Y = layer.record(name, X + Y, formula=y)
    norm = NORMS[config.norm]
    if norm.applied == "after":
        y = rf"\mathrm{{{norm.symbol}}}({y})"
        Y = layer.record(f"{name}_normed", norm.fn(Y), formula=y)
    return Y, y


def _attention(
    layer: Steps, parameters: Parameters, config: Config, X: Array, X_kv: Array, words: masks.Tokens
) -> Array:
    """Record every step of multi-head attention: the paper's section 3.2.2.

    n queries, m keys; H heads in groups, of which each shares one of Hkv heads of keys and values. Heads that are
    narrower than the widest stand beside columns of zeros.
    """
    score, group = typed_rows.score_of(config), config.group_size
    d_k, d_v = config.key_widths(), config.value_widths()
    d_q, d_z = (tuple(np.repeat(widths, group).tolist()) for widths in (d_k, d_v))
    # X (n, d_model), X_kv (m, d_model) -> W_Q (H, d_model, d_k), W_K (Hkv, d_model, d_k), W_V (Hkv, d_model, d_v)
    (W_Q, W_K, W_V), (b_q, b_k, b_v) = _projections(parameters, config, X, X_kv)
    x = r"\hat X" if NORMS[config.norm].applied == "before" else "X"
    x_kv = "X'" if config.is_cross_attention else x
    # -> Q (H, n, d_k), K (Hkv, m, d_k), V (Hkv, m, d_v)
    Q = _rotated(layer, config, "queries", _plus(product(X, W_Q), b_q, heads=True), d_q, _affine("Q", x, b_q))
    K = _rotated(layer, config, "keys", _plus(product(X_kv, W_K), b_k, heads=True), d_k, _affine("K", x_kv, b_k))
    V = _plus(product(X_kv, W_V), b_v, heads=True)
    V = layer.record("values", V, formula=f"V_h = {_affine('V', x_kv, b_v)}", widths={"d_v": d_v})
    # -> each head's own K_h (H, m, d_k) and V_h (H, m, d_v); may (n, m), B (H, n, m)
    K_h, V_h = (np.repeat(x, group, axis=0) for x in (K, V))
    may, B = mask_of(layer, config, words), _bias(layer, config, len(X), len(X_kv))
    params = parameters.of_score(Q, K_h, d_q)
    formulas = formulas_of(config, layer)
    # -> scores, scaled, capped, masked, weights (H, n, m), and what is returned, Z (H, n, d_v)
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
        normaliser=typed_rows.normaliser_of(config),
        temperature=config.temperature,
        over=config.normalise_over,
        record=lambda name, array: layer.record(name, array, formula=formulas.get(name), widths={"d_v": d_z}),
    )
    return _output(layer, parameters, config, Z, d_z)  # (n, d_model)


def _plus(Y: Array, b: Array | None, *, heads: bool = False) -> Array:
    return Y if b is None else Y + (b[:, None, :] if heads else b)


def _affine(letter: str, x: str, b: Array | None) -> str:
    """Return the formula of what a head's matrix makes of x."""
    return f"{x} W_{letter}^h" + (f" + b_{letter}^h" if b is not None else "")


def _rotated(layer: Steps, config: Config, name: str, Y: Array, widths: tuple[int, ...], formula: str) -> Array:
    """Return the queries or keys, rotated by their positions where RoPE is on; `formula` is that of Y."""
    position, letter = POSITIONS[config.position], name[0].upper()
    if position.rotate is None:
        return layer.record(name, Y, formula=f"{letter}_h = {formula}", widths={"d_k": widths})
    Y = layer.record(f"projected_{name}", Y, formula=rf"\tilde {letter}_h = {formula}", widths={"d_k": widths})
    rotated = Y.copy()
    for h, width in enumerate(widths):
        rotated[h, :, :width] = position.rotate(Y[h, :, :width], **position.settings(config))
    return layer.record(name, rotated, formula=rf"{letter}_h = R\, \tilde {letter}_h", widths={"d_k": widths})


def mask_of(layer: Steps, config: Config, words: masks.Tokens) -> Array:
    pad = np.array([token == PAD for token in words[1]], dtype=bool)
    settings: dict[str, dict[str, Any]] = {name: masks.settings_of(config, name, words) for name in config.mask}
    formula = r"\;\text{and}\;".join(typed_rows.mask_of(config, name).formula for name in config.mask)
    return layer.record("allowed", masks.allowed(config.mask, len(words[0]), pad, settings), formula=formula)


def _bias(layer: Steps, config: Config, n_query: int, n_key: int) -> Array | None:
    row = typed_rows.bias_of(config)
    B = row.fn(config.n_heads, n_query, n_key, **row.settings(config))
    if B is None:
        return None
    return layer.record("bias", np.broadcast_to(B, (config.n_heads, n_query, n_key)), formula=row.formula)


def _output(layer: Steps, parameters: Parameters, config: Config, Z: Array, widths: tuple[int, ...]) -> Array:
    """Return the heads side by side, true columns only, times W_O."""
    if len(set(widths)) == 1:
        C = joined(Z)
    else:
        C = np.concatenate([Z[h][:, :width] for h, width in enumerate(widths)], axis=-1)
    C = layer.record("concat", C)
    if not (config.has_output_projection() or parameters.is_supplied("w_o")):
        return layer.record("output", C, formula="Y = C")
    W_O = parameters.output_matrix(C, widths)
    b_O = parameters.vector("b_o", W_O.shape[-1], widths[0])
    return layer.record("output", _plus(product(C, W_O), b_O), formula=None if b_O is not None else "Y = C W_O")


def _one_each(projections: Projections | Sequence[Projections] | None, n_layers: int) -> list[Projections]:
    if projections is None or isinstance(projections, Mapping):
        return [projections or {}] * n_layers
    if len(projections) != n_layers:
        raise ConfigError(
            translate(
                "projections has {n} dicts for {n_layers} layers; give one a layer, or one for all",
                n=len(projections),
                n_layers=n_layers,
            )
        )
    return list(projections)
