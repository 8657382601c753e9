"""Is the weight the importance: four measures of one row as a table, and how they agree, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.importance import MEASURES, Importance
from attnviz.engine.records.trace import Trace
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, sign
from attnviz.text.format.number_format import short
from attnviz.text.query_sentences import visible_token

COLUMNS = Words(
    {
        "key": "Key",
        "weight": "Weight",
        "by_weight": "∂L/∂weight",
        "by_score": "∂L/∂score",
        "knock_out": "Knock-out",
        "measure": "Measure",
        "correlation": "Rank correlation with the knock-out",
    }
)
SENTENCES = Words(
    {
        "best": "In this setting {best} says best what a key is worth: its rank correlation with the knock-out is "
        "{most}, that of the weight {weight}.",
        "weight": "In this setting the weight itself says best what a key is worth: its rank correlation with the "
        "knock-out is {weight}.",
        "none": "No row here has three keys that differ, so there is no order to compare.",
        "exact": "For softmax in the last layer the knock-out is exactly T · ∂L/∂x divided by (1 − weight); here the "
        "largest difference is {off}.",
    }
)
PICTURE = Words({"title": "Four measures of one row", "phrase": "each with colours up to its own largest number"})
ROWS = Plural("The mean of {n} row of {all} in this layer.", "The mean of {n} rows of {all} in this layer.")


def row_table(trace: Trace, importance: Importance, position: tuple[int, int]) -> pd.DataFrame:
    """Return the measures of one row, a line for each key; `position` is its head and query, counted from 0."""
    r = list(importance.positions).index(position)
    keys = [f"{ordinal(j)} {token}" for j, token in enumerate(trace.key_tokens)]
    return pd.DataFrame(
        {COLUMNS["key"]: keys} | {COLUMNS[name]: getattr(importance, name)[r] for name in (*MEASURES, "knock_out")}
    )


def stage(trace: Trace, importance: Importance, position: tuple[int, int]) -> Stage:
    """Return the measures of one row as a picture, each with the colours of its own largest number."""
    r = list(importance.positions).index(position)
    array = np.stack([getattr(importance, name)[r] for name in (*MEASURES, "knock_out")])[:, None]
    masked = np.isnan(array)
    return Stage(
        "importance",
        PICTURE["title"],
        np.where(masked, 0.0, array),
        "signed",
        [visible_token(trace.query_tokens[position[1]])],
        [visible_token(token) for token in trace.key_tokens],
        masked=masked,
        heads=[COLUMNS[name] for name in (*MEASURES, "knock_out")],
        phrase=PICTURE["phrase"],
        alt=PICTURE["title"] + sign(": ") + PICTURE["phrase"],
        apart=True,
    )


def correlation_table(importance: Importance) -> pd.DataFrame:
    """Return for each measure how well its order of the keys is that of the knock-out."""
    correlations = importance.correlations()
    return pd.DataFrame(
        {
            COLUMNS["measure"]: [COLUMNS[name] for name in MEASURES],
            COLUMNS["correlation"]: [float("nan") if r is None else r for r in correlations.values()],
        }
    )


def importance_sentences(importance: Importance) -> list[str]:
    """Name the measure that agrees best with the knock-out, over how many rows, and what is exact."""
    defined = {name: r for name, r in importance.correlations().items() if r is not None}
    if not defined:
        return [SENTENCES["none"]]
    best, weight = max(defined, key=defined.__getitem__), short(defined.get("weight"))
    row = "weight" if best == "weight" else "best"
    sentences = [SENTENCES[row].format(best=COLUMNS[best], most=short(defined[best]), weight=weight)]
    sentences.append(ROWS.format(n=len(importance.positions), all=importance.n_rows))
    return (
        sentences if importance.exact is None else [*sentences, SENTENCES["exact"].format(off=short(importance.exact))]
    )
