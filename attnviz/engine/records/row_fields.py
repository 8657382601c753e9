"""The fields of a setting that take a row as well as its name, and hold the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.engine.rows.line_row import LineRow
from attnviz.engine.tables.added_rows import OTHER, added_name
from attnviz.engine.tables.normalisers import Normaliser
from attnviz.engine.tables.row_names import NormaliserName, ScoreName
from attnviz.engine.tables.scores import Score
from attnviz.engine.tables.scores.python_function import NAME as NO_LINE
from attnviz.engine.tables.scores.python_function import WORDS as NOT_HELD
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.held import Holds
from attnviz.settings.language import Words
from attnviz.settings.rows import KnobValue

FAULTS = Words({"function": "{kind} is a function; give it a name: {kind}=attnviz.{kind}('mine', function)"})


Knobs = tuple[tuple[str, KnobValue], ...]
"""The numbers of a row that are not the default, by `row.knob`."""

ScoreField = Holds[ScoreName, Score | LineRow]
NormaliserField = Holds[NormaliserName, Normaliser | LineRow]
KnobsField = Holds[Knobs, Mapping[str, KnobValue]]


def fields_of(kind: str, row: Any) -> dict[str, Any]:
    """Return the fields that choose a row: its name, and the line or the numbers that it was made with.

    kind  "score" or "normaliser";  `row`  what the field of that name was given; a name is left to the field's check

    Raises ConfigError for a row of the other kind, one that was not added, and a function that no line can say.
    """
    if isinstance(row, LineRow):
        return {kind: added_name(kind, row)}
    if callable(row) and not isinstance(row, (Score, Normaliser)):
        raise ConfigError(FAULTS["function"].format(kind=kind))
    if not isinstance(row, (Score, Normaliser)):
        return {}
    if row.name == NO_LINE:
        raise ConfigError(NOT_HELD["config"].format(name=shorten(row.label)))
    if isinstance(row, Score) != (kind == "score"):
        raise ConfigError(OTHER[kind].format(name=shorten(row.label)))
    chosen: dict[str, Any] = {kind: row.name}
    if row.name == "formula" and row.typed:
        chosen[f"{kind}_formula"] = row.typed.text
    if isinstance(row, Normaliser) and row.chosen_knobs:
        chosen["normaliser_knobs"] = row.chosen_knobs
    return chosen
