"""`run`: a sentence in, every step of every layer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.engine import inputs
from attnviz.engine.head_goals import HeadGoals
from attnviz.engine.learning import film, learnable
from attnviz.engine.numerics import fixed_order
from attnviz.engine.parameters import Parameters
from attnviz.engine.pretrained import model_registry
from attnviz.engine.recorded_layer import record_layer
from attnviz.engine.records import edits as edits_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Steps, Trace
from attnviz.engine.run_notes import note_beyond, note_empty_rows, note_left_out
from attnviz.engine.solved_heads import SolvedHeads, SolvedLayer, made_for
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import translate

Projections = Mapping[str, Any]

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
    words, changes = (query_tokens, key_tokens), (required.get(None, ()), optional.get(None, ()))
    around = Steps(translate("the steps around the layers"), sizes, *changes, words=words)
    X, X_kv = inputs.embedded(around, config, query_tokens, key_tokens, notes)
    layers: list[Steps] = []
    for i in range(config.n_layers):
        tied = [f"{x}_q" for x in "wb" if config.tied and supplied[i].get(f"{x}_k") is None]
        edited = (edits_of.shared(by_layer.get(i, ()), tied, config.group_size) for by_layer in (required, optional))
        layer = Steps(translate("layer {n}", n=i), sizes, *edited, words=words)
        parameters = Parameters(layer, config, f"layer{i}", not_drawn[i], solved=solved[i])
        X = record_layer(layer, parameters, config, X, X_kv, (query_tokens, key_tokens))
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
        until = None if i + 1 < made.n_layers else "w_v"  # nothing follows for which the weights are needed
        X = record_layer(layer, parameters, made, X, X_kv, (query_tokens, key_tokens), until=until)
        found.append(SolvedLayer({name: layer[name] for name in ("w_q", "w_k", "w_v")}, solver.inexact))
    return found


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
