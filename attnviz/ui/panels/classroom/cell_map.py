"""The map in which a cell is pointed at, below the question of an assignment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnviz.classroom import open_questions, slides
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of
from attnviz.settings.language import Words
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.classroom import picked_answer
from attnviz.ui.session.notices import paragraph

WORDS = Words(
    {"grey": "left out", "hidden": "Its numbers are left out here: other questions of the assignment may ask for them."}
)


def of_head(question: Question, trace: Trace, *, is_shown: bool) -> Stage:
    """Return the weights of the head that is asked about; without their numbers where these are hidden."""
    layer, head = (index_of(question.at.get(name, 1)) for name in ("layer", "head"))
    (stage,) = slides.pictures(trace, layer, ("weights",))
    stage = open_questions.of_head(slides.without_caption(stage), head)
    if is_shown:
        return stage
    return replace(
        stage, array=np.zeros(stage.array.shape), masked=np.ones(stage.array.shape, bool), grey=WORDS["grey"]
    )


def take(question: ResolvedQuestion, stage: Stage, key: str) -> None:
    """Choose the cell that was clicked, before the list beside the map is drawn."""
    picked_answer.take(question, [stage], pictures=_pictures(key), answer=key)


def draw(question: ResolvedQuestion, stage: Stage, key: str) -> None:
    """Draw the map with the chosen cell marked."""
    if stage.grey == WORDS["grey"]:
        paragraph([WORDS["hidden"]])
    picked, lettering = picked_answer.cell(question, [stage], key), picked_answer.lettering(question)
    heatmap.show([stage], key=_pictures(key), picked=picked, lettering=lettering)


def _pictures(key: str) -> str:
    return f"map-{key}"
