"""The kinds of questions that can be practised, by the names that stand in links."""

from __future__ import annotations

from attnviz.settings.rows import Entry, table

KINDS = table(
    Entry("shape", "Shapes"),
    Entry("number", "A number"),
    Entry("weight", "A weight"),
    Entry("sum", "A sum"),
    Entry("size", "How many numbers"),
    Entry("highest_key", "The largest weight"),
    Entry("cell", "Point at a cell"),
    Entry("order", "Put in order"),
    Entry("mask", "Draw a mask"),
    Entry("rows_changed", "What changes"),
    Entry("true_or_false", "Yes or no"),
    Entry("slider", "Set a slider"),
    Entry("spread", "Spread of scores"),
    Entry("largest_weight", "Largest of a row"),
    Entry("next_word", "The next word"),
    Entry("times_as_likely", "Times as likely"),
    Entry("head_owed", "Which head"),
    Entry("own_words", "Explain"),
)
LEVELS = 4
"""The levels of difficulty of each kind, counted from 1."""

MOST_DEALS = 9999
