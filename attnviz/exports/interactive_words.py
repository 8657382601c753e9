"""The texts of an interactive file: those that its script writes, and those that stand in it."""

from attnviz.settings.language import InContext, Words, comma, sign

WORDS = Words(
    {
        "keys": "Arrow keys move, Page Up and Page Down change the head.",
        "masked": "masked",
        "forbidden": "the query may not attend to the key: −∞",
        "given": "as given",
        "edited": "edited to",
        "query": "query",
        "key": "key",
        "entry": "entry",
        "Query": "Query",
        "Key": "Key",
        "Entry": "Entry",
        "score": "Score",
        "scaled": "Scaled",
        "capped": "Soft cap",
        "bias": "Bias",
        "mask": "Mask",
        "row": "Scores of the row",
        "column": "Scores of the column",
        "largest": "The largest",
        "below": "Below the largest",
        "threshold": "Threshold",
        "weight": "Weight",
        "values": "Weights times values",
        "quoted": "“{token}”",
        "cells": "Cells",
        "lines": InContext("Lines", "drawn from word to word"),
        "all": "Layers × heads",
        "average": "average over heads",
        "nearer": "nearer to 0 than {number}",
        "number_hint": "Drag a cell up or down to change its number, with Shift in finer steps, or type it, or use "
        "the arrow keys where it stands: what follows is computed at once. Escape takes it back. The name of a head "
        "over its weights, or X, switches the head off.",
        "was": "was {number}",
        "undo": "Undo",
        "as_saved": "(as it was saved)",
        "forbid": "Forbid this cell",
        "allow": "Allow this cell",
        "head_off": "Switch this head off (X)",
        "head_on": "Switch this head on again (X)",
        "back": "Back to the saved numbers",
        "each": "The weights of every head, from {low} to {high}. Click one to open it.",
    }
)
"""The texts that the script writes."""

TEXTS = Words(
    {
        "title": "Attention, step by step",
        "layer": "Layer",
        "cell": "One cell, all the way down",
        "head": "Head",
        "query": "Query",
        "hint": "Point at a cell for its number; click it, or Tab and the arrow keys, for its arithmetic. Terms are "
        "written with six digits and added with all; results have all their digits.",
        "views": "View",
        "lines_hint": "Queries at the left, keys at the right; the thicker a line, the larger the weight. Point at a "
        "query for its own; click it and then a key for the arithmetic.",
        "link": "The setting, to be put after the question mark of a link:",
        "knobs": "Numbers of the setting",
        "number": "Number",
        "next_word": "“{word}” {share}",
        "next_words": "After this sentence the model goes on with {words}. The layers here end at the last norm: the "
        "output matrix, which makes words of that, is not in this file, so what you change leaves these words as they "
        "are.",
        "no_script": "Without scripts only tables are shown.",
        "table": "Layer {layer}, {head}: weights, a row for each query",
        "too_many": "There are {n:,} weights, too many for tables; allow scripts to see them.",
    }
)


def signs() -> dict[str, str]:
    """Return the signs between words of one sentence that the script joins."""
    return {"comma": comma(), "colon": sign(": "), "semicolon": sign("; ")}
