"""Stages as pictures on paper, without what is asked for; of those too wide for it the size alone."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.classroom import slides
from attnviz.classroom.printed import given_away
from attnviz.classroom.printed.printed_tables import Paper
from attnviz.pictures.headings import sum_up, typeset
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static.svg import picture
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised

WIDTH = 900
MOST_COLUMNS = 128
"""Of a head whose columns are only counted; more of them would be strips too thin to tell two words apart."""

WORDS = Words({"wide": "{name}, {phrase}: {size}. These are too many numbers for a picture on paper."})


def html(paper: Paper, shown: Sequence[Stage], name: str = "") -> str:
    """Return stages as a picture, or as a sentence each; without what is asked for on the handout with blanks.

    name  of the step, where the stages are its two runs and their difference
    """
    captions = "".join(f'<p class="small">{typeset(_caption(stage))}</p>' for stage in shown if _is_too_wide(stage))
    shown = [stage for stage in shown if not _is_too_wide(stage)]
    if not paper.solutions and shown:
        shown = list(given_away.open_stages(paper.printed, shown, name, paper.number))
        shown = [slides.without_caption(each) for each in shown]
    drawn = picture(shown, width=WIDTH).partition("?>")[2].strip() if shown else ""
    return captions + (f'<div class="part">{drawn}</div>' if drawn else "")


def _is_too_wide(stage: Stage) -> bool:
    return stage.columns is None and max(stage.true_widths) > MOST_COLUMNS


def _caption(stage: Stage) -> str:
    return WORDS["wide"].format(name=stage.title, phrase=stage.phrase, size=localised(sum_up(stage)))
