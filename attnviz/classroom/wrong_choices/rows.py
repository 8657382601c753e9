"""The words on rows that were chosen wrongly where it is asked which rows change."""

from __future__ import annotations

from collections.abc import Collection

from attnviz.settings.language import Words

ROWS = Words(
    {
        "none": "Some number changes: follow what was changed to the rows that are computed from it.",
        "others": "Those are just the rows that stay as they are.",
        "changed_columns": "Those are the columns with a change in them: rows are asked for.",
        "all": "Not every row changes: ask of each row whether it is computed from what was changed.",
        "none_of": "None of these rows changes.",
        "too_many": "Not all of these rows change.",
        "missing": "A row that changes is missing.",
        "both": "Not all of these rows change, and a row that does is missing.",
    }
)


def said(chosen: frozenset[int], right: frozenset[int], n: int, columns: Collection[int] = ()) -> str:
    """Return what is said of rows that were chosen wrongly, of n.

    columns  those with a change in them, where rows and columns are the same words
    """
    if right and not chosen:
        return ROWS["none"]
    if right and chosen == frozenset(range(n)) - right:
        return ROWS["others"]
    if len(chosen) == n:
        return ROWS["all"]
    if columns and chosen == frozenset(columns):
        return ROWS["changed_columns"]
    if not chosen & right:
        return ROWS["none_of"]
    if chosen - right:
        return ROWS["both" if right - chosen else "too_many"]
    return ROWS["missing"]
