"""The settings that an assignment can leave free and the parts that it can hide, by their names in links."""

from __future__ import annotations

from attnviz.engine.records.config import Config
from attnviz.settings.fields import settings
from attnviz.settings.rows import Entry, table

NOTHING = "nothing"
LABELS = {
    "title": "Title",
    "text": "Instructions",
    "free": "Students may change",
    "free_help": "Students may experiment with it; the questions still refer to the setting as you gave it.",
    "hidden": "Not shown to students",
    "hidden_help": "Pictures and panels that would give answers away.",
    "own": "Different numbers for every student",
    "own_help": "The seed follows from the name or number that a student types: the same task with different numbers.",
    "feedback": "Show the right answer at once",
    "feedback_help": "Off: students hand in a code without knowing what is right.",
    "tries": "Tries",
    "tries_help": "How often the answers can be checked; the code says how often they were. Reloading the page "
    "starts the count again, as no server keeps it.",
    "questions": "Questions",
    "words": "Wording of the questions",
    "points": "Points of the questions",
    "given": "What is free, as it was given",
}


def _controls() -> dict[str, Entry]:
    items = (item for item in settings(Config) if item.name != "edits")
    entries = (Entry(item.name, item.metadata["label"], item.metadata["help"] or "") for item in items)
    return table(Entry(NOTHING, "Nothing: the setting is locked"), *entries)


CONTROLS = _controls()
"""The fields that have controls."""

PICTURES = table(
    Entry("scores", "Picture of the scores"),
    Entry("weights", "Picture of the weights"),
    Entry("heads", "Picture of the outputs"),
)
PANELS = table(
    Entry("cell", "This cell"),
    Entry("word", "This word"),
    Entry("flow", "Every step"),
    Entry("statistics", "Statistics"),
    Entry("redeal", "Other seeds"),
    Entry("table", "Table"),
)
PARTS = table(Entry(NOTHING, "Everything is shown"), *PICTURES.values(), *PANELS.values())
"""The views of a run that a student has, unless they are hidden; every panel holds numbers of every step."""
