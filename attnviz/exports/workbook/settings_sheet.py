"""The first sheets of a workbook: what was chosen, with the numbers among it that can be changed, and what is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import SCORES
from attnviz.exports.workbook.layout import Block, Book, Formula, Sheet
from attnviz.exports.workbook.score_formulas import added
from attnviz.exports.workbook.steps import StepWriter
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words, translate, translate_all

NAMES = Words({"setting": "Setting", "embedded": "X"})
TITLES = Words({"setting": "Attention, every number a formula", "embedded": "Input of attention"})
LINES = (
    "Change a number on a yellow background, on any sheet, and all that follows from it changes.",
    "Black numbers are formulas: select one to see what it is made of. Green ones were changed by hand; they stand "
    "where a formula would.",
    "Grey cells are masked. Four decimals are shown; each cell holds all of them.",
)
CHOSEN = Words(
    {
        "score": "Score: {}",
        "normaliser": "Normaliser: {}, over {}",
        "mask": "Mask: {}",
        "bias": "Bias by distance: {}",
        "position": "Positions: {}",
    }
)
HEADINGS = Words(
    {
        "scale": "scale · a factor on the scores of each head",
        "softcap": "soft cap c · bounds the scores by c·tanh(s / c); 0 is off",
        "temperature": "temperature T · the scores are divided by it",
        "rope_base": "base · of the angles by which queries and keys are rotated",
        "frequencies": "θ · the angle per position by which each pair of columns of queries and keys is rotated",
        "frequencies_of_layers": "θ · the angle per position by which each pair of columns of queries and keys is "
        "rotated in the layers {layers}",
    }
)

ROWS = Words(
    {"scale": "scale", "softcap": "softcap", "temperature": "temperature", "rope_base": "rope base", "frequencies": "θ"}
)
SIDE_NAMES = Words({"keys": "keys", "queries": "queries"})


def setting(book: Book, trace: Trace, names: Sequence[str]) -> Mapping[str, Block]:
    """Return the numbers of the first sheet, on which the choices and notes stand in words.

    names  of the numbers that a layer reads
    """
    sheet = book.sheet(NAMES["setting"], TITLES["setting"], [*translate_all(LINES), *_chosen(trace), *trace.notes])
    if "scaled" not in trace.layers[0]:
        return {}
    rotations = facts_of(trace.config).rotations
    base = ["rope_base"] if POSITIONS[trace.config.position].rotate and not rotations else []
    scale, others = _scale(sheet, trace), dict.fromkeys(("softcap", "temperature", *base, *names))
    values = {name: getattr(trace.config, name) for name in others if name != "scale"}
    blocks = {"scale": scale} | {name: _number(sheet, name, value) for name, value in values.items()}
    for name, (frequencies, layers) in rotations.items():
        which = "frequencies" if len(rotations) == 1 else "frequencies_of_layers"
        heading = HEADINGS[which].format(layers=", ".join(str(ordinal(layer)) for layer in layers))
        blocks[name] = sheet.add(heading, frequencies[None], None, rows=(ROWS["frequencies"],))
    return blocks


def _chosen(trace: Trace) -> list[str]:
    """Return the rows of the tables that this run uses, in words."""
    config, steps = trace.config, trace.layers[0]
    words = {"position": [POSITIONS[config.position].label]} if trace.around else {}
    words |= {"score": [SCORES[config.score].label]} if "queries" in steps else {}
    words |= {"bias": [BIASES[config.bias].label]} if "bias" in steps else {}
    if "masked" in steps:
        words["mask"] = [", ".join(MASKS[name].label for name in config.mask)]
        words["normaliser"] = [NORMALISERS[config.normaliser].label, SIDE_NAMES[config.normalise_over]]
    return [CHOSEN[name].format(*words[name]) for name in CHOSEN if name in words]


def _number(sheet: Sheet, name: str, value: float) -> Block:
    """Return one number of the setting; what has no words here stands under its label on the page."""
    label = translate(Config.__dataclass_fields__[name].metadata["label"])
    heading, row = HEADINGS.get(name, label), ROWS.get(name, label)
    return sheet.add(heading, np.array([[value]]), None, rows=(row,), name=name)


def _scale(sheet: Sheet, trace: Trace) -> Block:
    """Return the scale of each head: what was set, or the score's own, which for the scaled product is 1 over √d_k."""
    config, score = trace.config, SCORES[trace.config.score]
    widths = np.repeat(config.key_widths(), config.group_size).tolist()
    scales = [score.scale(width) if config.scale is None else config.scale for width in widths]
    is_root = config.scale is None and score.is_over_root
    formula: Formula | None = (lambda _, h: f"1/SQRT({widths[h]})") if is_root else None
    heads = tuple(translate("head {n}", n=h) for h in ordinals(config.n_heads))
    array = np.array([scales])
    return sheet.add(
        HEADINGS["scale"], array, formula, rows=(ROWS["scale"],), columns=heads, name="scale", is_input=True
    )


def input_sheet(book: Book) -> Sheet:
    """Return the sheet of what the first layer reads."""
    return book.sheet(NAMES["embedded"], TITLES["embedded"])


def embedded(book: Book, trace: Trace) -> tuple[Block | None, Block | None]:
    """Place E, P and their sum, for the second sentence too: what queries are made of, and what keys and values are."""
    if not trace.around:
        return None, None
    writer = StepWriter(trace, None, trace.around)
    sheet, blocks = input_sheet(book), []
    for suffix in ("", "_kv") if trace.config.is_cross_attention else ("",):
        E, P = (writer.step(sheet, f"{name}{suffix}", None) for name in ("token_embeddings", "positions"))
        blocks.append(writer.step(sheet, f"embedded{suffix}", added(E, P)))
    return blocks[0], blocks[-1]
