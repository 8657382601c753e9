"""The plan of a setting: which parts its layer has, and the steps that the page says for them."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from attnviz.engine.plan import model_page, page
from attnviz.engine.plan.tracing import Has, Page, Plan
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.typed_rows import TYPED, learned_bias, masks_by_head, normaliser_of, score_of
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import Score
from attnviz.formula import names
from attnviz.formula.graph import HIDDEN, Formula
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate

ALWAYS = ("w_q", "w_k", "w_v", "w_1", "w_2", "w_3")
BIASES_OF_MATRICES = ("b_q", "b_k", "b_v", "b_o", "b_1", "b_2", "b_3")


def plan_of(config: Config, supplied: Collection[str] = ()) -> Plan:
    """Return the plan of each layer of a setting; `supplied` are the parameters that the caller gives.

    >>> print(plan_of(Config(d_k=3)))  # doctest: +ELLIPSIS
    w_q [head, model, d_k]          weight
    w_k [kv_head, model, d_k]       weight
    ...
    scores [head, query, key]     = score(queries, keys)
    ...
    """
    if not isinstance(config, Config):
        raise ConfigError(translate("plan_of takes a Config, not {given}", given=shorten(config, 60)))
    return layer_plan(parts_of(config, frozenset(supplied)))


@lru_cache(maxsize=256)
def layer_plan(has: Has) -> Plan:
    """Return the plan of a layer with these parts."""
    asked = Page(has)
    X = Value("input", (), ("query", "model"), "X")
    page.layer(asked, X, Value("input", (), ("key", "model"), "X_kv") if has.cross else None)
    return Plan(has, asked.steps)


@lru_cache(maxsize=64)
def trained_plan(has: Has) -> Plan:
    """Return the plan of a layer of a trained model with these parts."""
    asked = Page(has)
    X = Value("input", (), ("query", "model"), "X")
    model_page.trained_layer(asked, X, Value("input", (), ("key", "model"), "X_kv") if has.cross else None)
    return Plan(has, asked.steps)


@lru_cache(maxsize=64)
def embedding_plan(has: Has) -> Plan:
    """Return the plan of what the first layer of a trained model reads, from the vectors of its tokens."""
    asked = Page(has)
    model_page.embedding(asked, Value("input", (), ("query", "model"), "token_embeddings"))
    return Plan(has, asked.steps)


@lru_cache(maxsize=64)
def attention_plan(has: Has) -> Plan:
    """Return the plan of attention alone, from queries, keys and values that are given."""
    asked = Page(has)
    axes = {name: STEPS[name].axes for name in ("queries", "keys", "values")}
    page.attention(asked, *(Value("input", (), each, name) for name, each in axes.items()))
    return Plan(has, asked.steps)


def parts_of(config: Config, supplied: frozenset[str] = frozenset()) -> Has:
    """Return the parts of a layer, from the setting and the names of what the caller supplies."""
    norm, block = NORMS[config.norm], FEED_FORWARDS[config.feed_forward]
    has_output = config.has_output_projection() or "w_o" in supplied
    biases = BIASES_OF_MATRICES if config.projection_bias else ()
    tied = [name for name in ("w_k", "b_k") if config.tied and name not in supplied]
    return Has(
        weights=frozenset((*ALWAYS, *biases, *supplied, *(["w_o"] if has_output else []))),
        score_weights=_score_weights(config, supplied),
        norm_before=norm.applied == "before",
        norm_after=norm.applied == "after",
        rope=POSITIONS[config.position].rotate is not None,
        softcap=bool(config.softcap),
        mask_by_head=masks_by_head(config),
        bias=config.bias != "none",
        bias_weights=_steps_of(learned_bias(config)),
        normaliser_weights=_steps_of(normaliser_of(config).typed),
        tied=frozenset(tied),
        output=has_output,
        residual=config.residual,
        feed_forward=config.feed_forward != "none",
        gate=block.gated,
        cross=config.is_cross_attention,
    )


def _score_weights(config: Config, supplied: frozenset[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the score's own parameters as steps: without its biases while biases are off, but for a typed line."""
    row, biased = score_of(config), config.projection_bias or config.score == TYPED
    steps = {names.STEPS[own]: (axes, own in row.biases) for own, axes in row.parameters.items()}
    return tuple(
        (name, _recorded(axes)) for name, (axes, is_bias) in steps.items() if biased or not is_bias or name in supplied
    )


def _steps_of(line: Score | Formula | None) -> tuple[str, ...]:
    """Return the learned numbers of a line, as steps."""
    return tuple(names.STEPS[own] for own in line.parameters) if line else ()


def _recorded(axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the axes of a parameter as a step has them: queries are as wide as keys, and all hidden widths are d_a."""
    known = {"d_q": "d_k", **dict.fromkeys(HIDDEN, "d_a")}
    return tuple(known.get(axis, axis) for axis in axes) or ("number",)
