"""Lessons: a setting, and slides that point at something and ask for a prediction.

A lesson is data. Its numbers come from running its setting, and the answers to its questions from that run: none is
typed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.engine.records.config import Config
from attnviz.lessons.control import WITHOUT_FAULT, Control, ControlChoice
from attnviz.lessons.faults import with_fault
from attnviz.settings.language import translated_fields


@translated_fields("ask", "why")
@dataclass(frozen=True)
class Question:
    """A question: something to predict before it is shown.

    kind  a row of QUESTIONS, which knows how the answer is computed
    ask   the question, in plain text; names in braces are filled in: {layer}, {head}, {query}, {key}, {step}, and
          whatever else `at` holds. Empty: the kind asks in its own words
    at    where in the run it is asked, and what else the kind needs to know; positions count from 1:

          highest_key    query; head (1): which key has the largest weight
          weight         query, key; head (1); tolerance (0.005): the weight of one cell
          number         step and a position along each of its axes; tolerance (0.005): any number of the run
          sum            query or key; step ("weights"), head (1), tolerance (0.005 a number): of a row, or of a column
          size           step: how many numbers it has
          shape          step: which of several shapes it has
          rows_changed   step ("weights"); head (all); change, by the names of Config: which rows would be other
                         numbers. Without a change: which rows differ between the lesson's own setting and the slide's
          true_or_false  says, a row of PREDICATES; step and head where it needs them
          spread         tolerance (0.05): the standard deviation of the scores; with d_k and divisor ("one", "root",
                         "width") of 2,000 random rows of that width: queries and keys of independent normal numbers
          largest_weight  as spread: the largest weight of a row, the mean over rows and heads

          next_word      words: which of them the model finds likeliest to come next
          times_as_likely  words, two of them; temperature (1): the ratio of their shares
          head_owed      words, two of them: the head without which the first loses most of its lead

          order    query; head (1): the keys from the largest weight to the smallest
          cell     query, key, or both; head (1): where a weight stands, or the largest of a row, a column or the head
          mask     nothing: the cells that the mask of the setting allows
          slider   field ("temperature" or "scale"), to, query, key; head (1); tolerance (0.02): at which stop the
                   weight is what it is where the field is `to`

          read     true: the answer is read off the pictures of the slide, so all of them are drawn with the question
          before   true: what is drawn with the question is the lesson's own setting, before the slide's change

    why   the explanation: it is said with the answer, and nothing of it before
    is_typed  whether `ask` was typed on the page: braces in it that name nothing stay as they are
    """

    kind: str
    ask: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    is_typed: bool = False


@translated_fields("text", "notes")
@dataclass(frozen=True)
class Slide:
    """One thing to look at.

    text      a paragraph or two; **bold** and $formulas$, never a visitor's words. [[scores.1.1.2.3]] stands for that
              number of the slide's run: the step, its layer, and the position in it, all counted from 1; [[spread]] for
              the standard deviation of its scores, [[largest_weight]] for the mean of the largest weights of its rows.
              With a question it is the set-up, which says what is asked about and nothing of the answer
    steps     the steps of the run that are drawn, left to right
    change    what is otherwise than in the lesson's setting, by the names of Config
    beside    whether the lesson's own setting is drawn beside the changed one, with the difference, step by step
    question  what is asked before all of the picture is shown: with it is drawn what its answer follows from
    layer     the layer whose steps are drawn, counted from 0
    fault     a row of FAULTS, which is wrong with the slide's run
    control   what can be tried; with a question, once it is answered
    notes     what the speaker wants to say or ask; it is shown in the window of the notes alone
    """

    text: str
    steps: tuple[str, ...] = ("scores", "weights", "heads")
    change: Mapping[str, Any] = field(default_factory=dict)
    beside: bool = False
    question: Question | None = None
    layer: int = 0
    fault: str = ""
    control: Control | None = None
    notes: str = ""


@translated_fields("title", "about", "goal", "known")
@dataclass(frozen=True)
class Lesson:
    """A lesson.

    name     in links;  title, about  what it is called, and one sentence of what it answers
    setting  by the names of Config;  slides  in their order
    source   where what it says is published
    minutes  that a learner takes for it
    goal     what a learner can do afterwards, said on the first slide; it answers none of the questions
    known    what a learner knows now, said on the last slide
    further  the page where one can go on with the setting of the lesson, by the names of what a link says
    """

    name: str
    title: str
    about: str
    setting: Mapping[str, Any]
    slides: tuple[Slide, ...]
    source: str
    minutes: int = 10
    goal: str = ""
    known: str = ""
    further: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        return Config(**self.setting)

    def on(self, slide: Slide, seed: int | None = None, tried: Sequence[ControlChoice] = ()) -> Config:
        """Return the setting of a slide and of what is tried on it; another seed gives the task with other numbers.

        Raises ConfigError for choices that do not go together.
        """
        reseeded = self.without_fault(slide, seed, tried)
        fault = next((choice.fault for choice in tried if choice.fault), slide.fault)
        return with_fault(reseeded, fault) if fault not in ("", WITHOUT_FAULT) else reseeded

    def without_fault(self, slide: Slide, seed: int | None = None, tried: Sequence[ControlChoice] = ()) -> Config:
        """Return the setting of a slide before anything is made wrong in its run, so that nothing is computed."""
        changed = replace(self.config, **slide.change)
        reseeded = changed if seed is None else replace(changed, seed=seed)
        for choice in tried:
            reseeded = replace(reseeded, **choice.change)
        return reseeded
