"""The way from the words to the output as a line of symbols: each step of it, and what happens between two."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.models.model import Model
from attnviz.pictures import pipeline_strip
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.thumbnails import thumbnail
from attnviz.settings.language import Words
from attnviz.text import step_names

NODES = ("embedded", "embedded_kv", "queries", "keys", "scores", "weights", "values", "heads", "output")
LATER = step_names.ORDER[step_names.ORDER.index("output") + 1 :]
OPERATIONS = Words({"embed": "embed", "project": "project", "match": "match", "add": "add up", "join": "join heads"})
BETWEEN = {
    "": ("embed", "token_embeddings"),
    "embedded": ("project", "w_q"),
    "embedded_kv": ("project", "w_q"),
    "keys": ("match", "queries"),
    "scores": ("normalise", "masked"),
    "values": ("add", "values"),
    "heads": ("join", "w_o"),
}
"""The operation after each step, and the step that shows it; after the words first of all."""

LOGITS = "logits"
"""The last step of a model that writes on, behind its last layer: a logit for every word that may come next."""

MOST_LOGITS = 4_000_000
"""Numbers in the table of words up to which each picture of the path has the logits: they are computed for it alone."""

LAST = Words({"symbol": "logits", "meaning": "a logit for each of {n} words that may come next"})

JOINED = {"queries": "·", "weights": "×"}


@dataclass(frozen=True)
class PathStep:
    """A step on the way.

    name    of the step;  symbol  its letter;  shape  7 × 4, of one head
    meaning  of the step in words
    before  what leads to it in a word or a sign, and the step that shows that; empty where nothing does
    kind    of its numbers, as a step has it
    """

    name: str
    symbol: str
    shape: str
    meaning: str
    before: tuple[str, str]
    kind: str
    picture: Array
    colours: tuple[str, ...]


def way(trace: Trace, layer: int, head: int) -> tuple[PathStep, ...]:
    """Return the steps of a layer that lead from the words to what it hands on, with small pictures of one head.

    >>> from attnviz import Config, run
    >>> [node.symbol for node in way(run(Config()), 0, 0)]
    ['X', 'Q', 'K', 'S', 'A', 'V', 'Z', 'Y']
    """
    steps = step_names.steps(trace, layer)
    later = [name for name in LATER if name in steps and name not in step_names.PARAMETERS]
    nodes: list[PathStep] = []
    for name in (*[name for name in NODES if name in steps], *later):
        nodes.append(_node(trace, steps, name, head, nodes[-1].name if nodes else ""))
    if layer == len(trace.layers) - 1 and (logits := _logits(trace)) is not None:
        nodes.append(logits)
    return tuple(nodes)


def _logits(trace: Trace) -> PathStep | None:
    """Return the logits of the next word; None for a run of no model that has them, and for a large table of words."""
    model = trace.model
    if not isinstance(model, Model) or not model.writes_on or model.words_table.size > MOST_LOGITS:
        return None
    array = model.scores(trace)[-1:]
    symbol, meaning = LAST["symbol"], LAST["meaning"].format(n=array.shape[1])
    shades = Stage(LOGITS, "", array[None], "signed", rows=()).scale
    step = Step(LOGITS, array, symbol, ("query", "word"), "signed", "", meaning)
    picture = thumbnail(step, shades.low, shades.high)
    return PathStep(LOGITS, symbol, str(array.shape[1]), meaning, ("", ""), "signed", picture, shades.colours)


def _node(trace: Trace, steps: dict[str, Step], name: str, head: int, before: str) -> PathStep:
    step = _of_head(steps[name], head, trace.config.n_heads)
    hidden = pipeline_strip.hidden(steps, steps[name])
    if hidden is not None and hidden.ndim == 3:
        hidden = hidden[head]
    array = step.array[None] if step.array.ndim == 2 else step.array[None, None]
    shades = Stage(name, "", array, step.kind, rows=(), masked=None if hidden is None else hidden[None]).scale
    picture = thumbnail(step, shades.low, shades.high, hidden)
    shape = " × ".join(map(str, step.array.shape))
    return PathStep(
        name,
        step_names.plain(steps[name].symbol),
        shape,
        steps[name].meaning,
        _before(trace, before) if before or name == "embedded" else ("", ""),  # else these were given
        step.kind,
        picture,
        shades.colours,
    )


def _of_head(step: Step, head: int, heads: int) -> Step:
    """Return a step of one head only; of what heads share, that of its group."""
    if not step.axes[0].endswith("head"):
        return step
    return replace(step, array=step.head(head * step.shape[0] // heads), axes=step.axes[1:], true_widths={})


def _before(trace: Trace, former: str) -> tuple[str, str]:
    if former in JOINED:
        return JOINED[former], ""
    operation, step = BETWEEN.get(former, ("", ""))
    if operation == "normalise":
        return NORMALISERS[trace.config.normaliser].plain, step
    return (OPERATIONS[operation] if operation else ""), step
