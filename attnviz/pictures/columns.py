"""The page's columns: which steps stand side by side at a stop on the way, and what is said over each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attnviz.analysis.all_heads import all_kinds, open_weights
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text import head_roles, step_names
from attnviz.text.format.patch_words import has_patches, said
from attnviz.text.head_sentences import names as names_of_heads

OPENING = ("scores", "weights", "heads")
TOGETHER = (
    ("token_embeddings", "positions", "embedded"),
    ("embedded", "queries", "keys"),
    ("w_q", "w_k", "w_v"),
    ("queries", "keys", "scores"),
    ("scores", "masked", "weights"),
    OPENING,
    ("weights", "values", "heads"),
    ("heads", "w_o", "output"),
)
"""Steps that explain each other, in the order of the data."""

AT = {
    "token_embeddings": 0,
    "positions": 0,
    "embedded": 1,
    "w_q": 2,
    "w_k": 2,
    "w_v": 2,
    "queries": 3,
    "keys": 3,
    "scores": 5,
    "scaled": 4,
    "capped": 4,
    "bias": 4,
    "masked": 4,
    "weights": 5,
    "heads": 5,
    "values": 6,
    "concat": 7,
    "w_o": 7,
    "output": 7,
}
"""The columns that are shown for each step."""

TITLES = Words(
    {
        "token_embeddings": "Tokens",
        "positions": "Positions",
        "embedded": "Input",
        "queries": "Queries",
        "keys": "Keys",
        "values": "Values",
        "scores": "Scores",
        "masked": "Scores, scaled and masked",
        "weights": "Weights",
        "heads": "Outputs",
        "w_o": "Output projection",
        "output": "Output",
    }
)
PHRASES = Words(
    {
        "product": "how well each word matches each:",
        "scores": "how well each word matches each",
        "weights": "how each word (row, query) attends to each (column, key)",
        "heads": "values, mixed by the shares",
        "queries": "what each word looks for",
        "keys": "what each word offers to be matched by",
        "values": "what each word passes on",
        "embedded": "each word as a vector",
        "w_q": "turns a token into a query",
        "w_k": "turns a token into a key",
        "w_v": "turns a token into a value",
        "w_o": "mixes the heads",
        "output": "the heads joined",
    }
)
SYMBOLS = {"embedded": "X", "queries": "Q", "keys": "K", "values": "V", "scores": "S", "weights": "A"}
SYMBOLS |= {"heads": "Z", "w_o": "W_O", "output": "Y", "token_embeddings": "E", "positions": "P"}
SHORTER = Words(
    {
        "product": "how words match:",
        "scores": "how words match",
        "weights": "who attends to whom",
        "heads": "mixed values",
        "queries": "what it looks for",
        "keys": "what it offers",
        "values": "what it passes on",
        "embedded": "words as vectors",
        "w_q": "makes queries",
        "w_k": "makes keys",
        "w_v": "makes values",
        "w_o": "mixes heads",
        "output": "heads joined",
    }
)
SHORTEST = Words({"heads": "mixed", "weights": "shares of each word"})


def names(trace: Trace, layer: int, shown: str) -> tuple[str, ...]:
    """Return the steps that stand side by side for one of them, those that this run has; never none.

    >>> from attnviz import Config, run
    >>> names(run(Config()), 0, "queries"), names(run(Config()), 0, "no such step")
    (('queries', 'keys', 'scores'), ('scores', 'weights', 'heads'))
    """
    steps = list(step_names.steps(trace, layer))
    wanted: tuple[str, ...]
    if shown in AT:
        wanted = TOGETHER[AT[shown]]
    elif shown in steps:
        path = [name for name in steps if name not in step_names.INGREDIENTS or name == shown]
        at = min(max(path.index(shown), 1), max(len(path) - 2, 1))
        wanted = tuple(path[at - 1 : at + 2])
    else:
        wanted = OPENING
    return tuple(name for name in wanted if name in steps) or tuple(steps[-1:])


def columns(trace: Trace, layer: int, shown: str = "weights", *, apart: bool = True) -> tuple[Stage, ...]:
    """Return the pictures of those steps; `apart` gives each head of the scores a colour scale of its own."""
    steps, usual = step_names.steps(trace, layer), {stage.name: stage for stage in stages.side_by_side(trace, layer)}
    shown_stages = []
    for name in names(trace, layer, shown):
        stage = usual.get(name) or stages.stage(trace, steps[name], step_names.plain(steps[name].symbol))
        shown_stages.append(_dressed(trace, layer, stage, apart=apart))
    return tuple(shown_stages)


def opening(trace: Trace, layer: int, *, apart: bool = False) -> tuple[Stage, ...]:
    """Return scores, weights and outputs, as far as the run has them: uploaded arrays may lack some."""
    return tuple(_dressed(trace, layer, stage, apart=apart) for stage in stages.side_by_side(trace, layer))


def _dressed(trace: Trace, layer: int, stage: Stage, *, apart: bool) -> Stage:
    """Return a stage with its letter, its name and a phrase for someone who has not met it before."""
    name = stage.name
    title = TITLES.get(name, stage.title)
    symbol = SYMBOLS.get(name, "")
    plain = tuple(name.split(" · ")[0] for name in stage.names)  # what a head was made for stands beside the weights
    worn: dict[str, Any] = {"title": title, "symbol": "" if symbol == title else symbol, "heads": plain, "quiet": True}
    if name in PHRASES and (name not in ("scores", "weights") or _is_usual(stage)):
        key = "product" if name == "scores" and score_of(trace.config).is_dot else name
        patches = has_patches(trace)
        phrase, *fewer = (said(words, key, patches=patches) for words in (PHRASES, SHORTER, SHORTEST) if key in words)
        worn |= {"phrase": phrase, "shorter": fewer}
    if name == "scores":
        worn["apart"] = apart and len(plain) > 1
    if name == "weights":
        tested = head_roles.lines(trace, layer)
        worn |= {"leads": True, "sums": True, "roles": roles(trace, layer), "tested": tested}
    return replace(stage, **worn)


def _is_usual(stage: Stage) -> bool:
    """Return whether the weights are shares of a row, so that what is usually said of them is true."""
    return stage.name == "scores" or stage.phrase == stages.PHRASES["weights"]


def roles(trace: Trace, layer: int) -> tuple[str, ...]:
    """Describe each head in a few words: its pattern if it has one, or else where most of its weight goes.

    >>> from attnviz import Config, run
    >>> roles(run(Config(initialiser="by_hand")), 0)[0], roles(run(Config()), 0)[1]
    ('previous token', 'over 4.1 words')
    """
    return tuple(names_of_heads(trace, layer, all_kinds(trace, open_weights(trace.layers[layer]))))


def focused(stage: Stage, head: int, heads: int) -> Stage:
    """Return the part of a stage that is one head's, of so many; heads that share keys have the shared ones.

    What has no heads stays whole.
    """
    n = stage.array.shape[0]
    if n == 1:
        return stage
    at = head * n // heads
    return replace(
        stage,
        array=stage.array[at : at + 1],
        masked=None if stage.masked is None else stage.masked[at : at + 1],
        widths=None if stage.widths is None else (stage.true_widths[at],),
        heads=(stage.names[at],),
        roles=None if stage.roles is None else (stage.roles[at],),
        tested=None if stage.tested is None else (stage.tested[at],),
        edited=tuple((0, row, column) for where, row, column in stage.edited if where == at),
    )
