"""What was changed by hand is taken back one by one, and what else was changed meanwhile stays."""

from __future__ import annotations

from dataclasses import replace

from attnviz import Config
from attnviz.live.undo import MOST, MOST_ENTRIES, Undo
from attnviz.ui.components.stage.held import KeptUndo, read


def test_changes_are_taken_back_and_done_again() -> None:
    undo, first = Undo(), Config()
    warm, scaled = replace(first, temperature=2.0), replace(first, temperature=2.0, scale=0.5)
    undo.note(first, warm)
    undo.note(warm, scaled)
    undo.note(scaled, scaled)  # nothing
    assert (undo.back(scaled), undo.back(warm), undo.back(first)) == (warm, first, first)
    assert (undo.again(first), undo.again(warm), undo.again(scaled)) == (warm, scaled, scaled)
    reseeded = replace(scaled, seed=7)
    assert undo.back(reseeded) == replace(warm, seed=7), "what was changed in the sidebar stays"
    undo.note(warm, first)
    assert undo.again(first) == first, "nothing is done again after another change"


def test_what_is_in_the_setting_no_more_is_passed_over() -> None:
    undo, first = Undo(), Config()
    warm = replace(first, temperature=2.0)
    capped = replace(warm, softcap=3.0)
    undo.note(first, warm)
    undo.note(warm, capped)
    assert undo.back(warm) == first, "Back has taken back the later one"
    many = Undo()
    for at in range(MOST + 1):
        many.note(replace(first, seed=at), replace(first, seed=at + 1))
    now = replace(first, seed=MOST + 1)
    for _ in range(MOST + 2):
        now = many.back(now)
    assert now.seed == 1, "so many are kept"


def test_large_changes_are_kept_while_there_is_room() -> None:
    undo, config = Undo(), Config(sentence="a b c")
    many = tuple((0, "heads", (0, at, 0), 0.0) for at in range(MOST_ENTRIES // 8))
    for at in range(MOST):
        now = replace(config, edits=many if at % 2 == 0 else ())
        undo.note(config, now)
        config = now
    n_back = 0
    while (before := undo.back(config)) != config:
        n_back, config = n_back + 1, before
    assert n_back == 8, "each is as large as an eighth of what is kept"


def test_a_browser_says_which_of_both() -> None:
    assert read({"undo": True}, {}, (), ()) == KeptUndo(is_back=True)
    assert read({"undo": False, "id": 3}, {}, (), ()) == KeptUndo(is_back=False)
    assert [read({"undo": said}, {}, (), ()) for said in (1, None, "true", {})] == [None] * 4
