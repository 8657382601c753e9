"""The selection: the page, the panel and the cell in view, which change no number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from attnviz.analysis.corpus.study import OF_ROWS
from attnviz.analysis.permutations import ORDERS
from attnviz.analysis.statistics import STATISTICS
from attnviz.analysis.variance_and_sharing import VECTORS
from attnviz.classroom.marking.assignments import MAX_FIELD_CHARACTERS
from attnviz.classroom.practice.kinds import KINDS, LEVELS, MOST_DEALS
from attnviz.classroom.writing.lesson_link import MOST_CHARACTERS
from attnviz.engine.records.config import Config
from attnviz.engine.records.head_settings import MOST_HEADS
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES
from attnviz.settings import fields
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import shorten
from attnviz.settings.fields import changes, number, option, options, position, settings, switch, text
from attnviz.settings.language import LANGUAGES, Words, translate
from attnviz.settings.rows import Entry, table

PAGE_NAMES = table(
    Entry("explore", "Explore", "All heads side by side, and every number behind them."),
    Entry("compare", "Compare", "The setting, and the same with one thing changed."),
    Entry("experiments", "Experiments", "One question at a time, answered with the current setting."),
    Entry("lessons", "Lessons", "Worked examples and questions, slide by slide."),
    Entry("assign", "Assignments", "A task as a link, and the codes that come back."),
    Entry("data", "Your data", "Your own attention data: weights, scores, or queries, keys and values."),
    Entry("take", "Export", "Pictures, data, code and links of the current setting."),
    Entry("class", "Class", "One step at a time in large type, for a room."),
    Entry("learn", "A head learns", "A head while it learns a task, step by step."),
)
PANEL_NAMES = table(
    Entry("cell", "This cell", "One cell, all the way down to its products."),
    Entry("products", "Any number", "One number of any step, taken down to its products."),
    Entry("word", "This word", "What one word attends to, in every head."),
    Entry("flow", "Every step", "From the sentence to the output, and the shape of everything."),
    Entry("layers", "Through the layers", "What becomes of one word's vector, layer by layer."),
    Entry("next_word", "Next word", "What a model would go on with, and a text written on word by word."),
    Entry("owed_to", "Whom is it owed to?", "Which head makes the model say this word rather than another."),
    Entry("statistics", "Statistics", "Sums, effective number of keys, distances, shares."),
    Entry("many", "Many sentences", "What every head does, measured over many sentences."),
    Entry("twin", "Twin", "A head set by hand beside the one of this run that does the same."),
    Entry("redeal", "Other seeds", "The average over ten seeds: what is left of a random pattern."),
    Entry("table", "Table", "The numbers of any step, to read and to save."),
    Entry("what_if", "What if", "Change any number, and see what follows from it."),
    Entry("mask", "Mask", "Who may attend to what: paint it, and copy it as code."),
    Entry("backward", "Backward", "Gradients: how fast a result moves with every number before it."),
)
EXPERIMENT_NAMES = table(
    Entry("mask_values", "Ways to mask", "Minus infinity, a large number, zero: what leaks through."),
    Entry("axis", "Which axis sums to one", "Softmax over the keys, or the wrong way, over the queries."),
    Entry("scale", "Why divide by √d_k", "The spread of the scores and the largest weight, as d_k grows."),
    Entry("sharing", "Sharing keys and values", "Every head its own, groups, or one for all."),
    Entry("shuffle", "Does order matter", "The same words in another order, with positions and without."),
    Entry("importance", "Attention as importance", "Weight, slopes and knock-out of each key side by side."),
)
TARGET_NAMES = table(
    Entry("output", "The word's output", "The sum of the output of the selected word."),
    Entry(
        "points_at", "Output towards a word", "How far the output of the selected word points towards the selected key."
    ),
    Entry("weight", "The cell's weight", "The weight of the selected cell."),
)
TWIN_NAMES = table(*(PATTERNS[name] for name in ("previous", "next", "same_word", "first")))
MEASURE_NAMES = table(
    *(STATISTICS[name] for name in OF_ROWS),
    Entry("special_tokens", "Share on special tokens", ""),
    Entry("duplicate", "Duplicate token", ""),
    Entry("induction", "Induction", ""),
    Entry("copying", "Copying", ""),
    Entry("kind_share", "Share of the most frequent kind", ""),
)
OFF_NAMES = table(
    Entry("zero", "Zeros", "The head returns nothing."),
    Entry("mean", "Its mean", "The head returns the same at every word: the mean of what it returns in this sentence."),
    Entry("corpus", "Its mean over 200 sentences", "The mean of what it returns at all words of 200 other sentences."),
)
DESK_NAMES = table(
    Entry("compose", "Compose", "Choose what is locked and hidden, and the questions."),
    Entry("mark", "Check results", "Codes that were handed in, marked offline."),
    Entry("write", "Write a lesson", "The setting becomes a slide, with a question whose answer is computed."),
    Entry("student", "Student", "The assignment alone, as its link opens it."),
)
COLOUR_NAMES = table(
    Entry("apart", "Each head its own", "The colours of a head reach from its own smallest to its own largest score."),
    Entry("common", "One over all heads", "The same colour is the same score in every head."),
)
LANGUAGE_NAMES = table(
    Entry("auto", "As the browser", "The language of the browser, where it is available."),
    *(Entry(code, name, "") for code, name in LANGUAGES.items()),
)
LESSON_NAMES = table(*(Entry(lesson.name, lesson.title, lesson.about) for lesson in LESSONS.values()))
FIRST_LESSON = "bits"
"""The lesson of links that name none; the way through all of them begins with another one."""
PRACTICE = "practice"
COURSE_NAMES = table(
    Entry(
        "all",
        "All lessons",
        "Whatever writes, translates or answers questions today reads its text by attention. These lessons lead from "
        "what it does, through its arithmetic by hand, to finding out which heads of a trained model its answer "
        "depends on.",
    ),
    *COURSES.values(),
    Entry(PRACTICE, "Practice", "Questions with new numbers, and those again that were missed."),
)
NOTHING_DONE = "none"
LONGEST_TEXTS = 4_000
"""Characters of the sentences that heads are measured on; a link holds about half as many."""
LONGEST_PINNED = 2_000
"""Characters of the setting that is pinned in a link, which holds the present one too."""
DONE_NAMES = table(Entry(NOTHING_DONE, "None yet", ""), *LESSON_NAMES.values())


@dataclass(frozen=True)
class Selection:
    """The selection of a visitor: what is looked at, positions counted from 0; links hold all of it."""

    page: str = option(PAGE_NAMES, "explore", label="Page")
    panel: str = option(PANEL_NAMES, "cell", label="Below the pictures")
    experiment: str = option(EXPERIMENT_NAMES, "mask_values", label="Experiment")
    changes: tuple[tuple[str, str], ...] = changes(
        Config, prefix="b_", label="B differs from A in", help="Everything else is as in A."
    )
    target: str = option(TARGET_NAMES, "output", label="L, the result")
    step: str = text("weights", label="Step", longest=40)
    shown: str = text("weights", label="Shown", longest=40)
    focus: int | None = position(None, 128, none="none", label="Head in focus")
    colours: str = option(COLOUR_NAMES, "apart", label="Colours of the scores")
    every: bool = switch(False, label="All layers")
    specials: bool = switch(
        False, label="Leave out special tokens", help="Tokens that a tokeniser adds, such as [CLS]."
    )
    layer: int = position(0, 128, label="Layer")
    head: int | None = position(None, 128, none="none", label="Head")
    query: int | None = position(None, 1024, none="none", label="Query")
    key: int | None = position(None, 1024, none="none", label="Key")
    in_b: bool = switch(False, label="The cell of B", help="What was chosen is explained in B, and else in A.")
    from_query: int | None = position(None, 1024, none="none", label="First query in view")
    from_key: int | None = position(None, 1024, none="none", label="First key in view")
    pinned: str = text(
        "", label="Pinned", longest=LONGEST_PINNED, help="The setting of the picture that is pinned, as an address."
    )
    dimension: int | None = position(None, 128, none="none", label="Dimension")
    number_of: str = text(
        "", label="Number of", longest=40,
        help="One number of this step is explained; empty: a cell, a row or a column.",
    )  # fmt: skip
    entry: int | None = position(None, 65_536, none="none", label="Entry")
    column: int | None = position(None, 65_536, none="the first", label="Column")
    word_b: int | None = position(None, 1024, none="the same word", label="Word of B")
    draw_seed: int = number(
        0, 0, 9999, label="Seed of the words", help="Another seed writes other words; the same one the same, anywhere."
    )
    draw_temperature: float = number(
        1.0, 0.1, 5.0, step=0.1, integer=False, label="Temperature of the words",
        help="Divides the logits before words are drawn: below 1 likely words are drawn more often.",
    )  # fmt: skip
    draw_top_k: int | None = number(
        None, 1, 1000, none="all", label="top-k", help="Only so many of the likeliest words are drawn."
    )
    draw_top_p: float | None = number(
        None, 0.01, 1.0, step=0.01, integer=False, none="all", label="top-p",
        help="Only the likeliest words are drawn that together have this share.",
    )  # fmt: skip
    next_word: str = text("", label="A next word", longest=40, help="Empty: the likeliest.")
    instead_of: str = text("", label="rather than", longest=40, help="Empty: another one that is likely.")
    head_off: str = option(OFF_NAMES, "zero", label="A head that is off returns")
    other_text: str = text(
        "", label="Another sentence, of as many tokens", longest=400,
        help="Parts of its run are put into this one, to find which of them carries the answer.",
    )  # fmt: skip
    wording: str = text(
        "", label="The same pair in another wording", longest=400,
        help="The sentence in other words: what the same word gives the same one there stands beside it.",
    )  # fmt: skip
    texts: str = text(
        "", label="Sentences, one per line", longest=LONGEST_TEXTS, lines=6,
        help="Every head is measured on each of them; long ones count for more.",
    )  # fmt: skip
    measure: str = option(MEASURE_NAMES, "effective_keys", label="Measure")
    twin: str = option(TWIN_NAMES, "previous", label="Set by hand")
    all_lines: bool = switch(
        False, label="All lines", help="Every line of arithmetic between the words and the output, with its formula."
    )
    play: bool = switch(False, label="Play the cell", help="The page opens with the animation of the selected cell.")
    large: float = number(
        -1e9,
        -1e9,
        -1.0,
        integer=False,
        stops=(-1e9, -1e4, -100.0, -10.0, -1.0),
        label="The large number",
        help="What replaces −∞ in the second picture. float16 ends at −65,504: −1e9 does not fit.",
    )
    empty_row: bool = switch(False, label="Empty a row", help="The first query may attend to nothing.")
    trial_vectors: str = option(VECTORS, "unit", label="Queries and keys")
    trial_kv: int | None = number(None, 1, MOST_HEADS, none="the middle", label="Key/value heads, when grouped")
    trial_order: str = option(ORDERS, "reverse", label="Order")
    swap_one: int = position(0, 128, label="First position to swap")
    swap_other: int | None = position(None, 128, none="the last", label="Second position to swap")
    trial_d_k: int = number(
        16, 1, 64, label="Width of queries and keys in the experiment", help="The setting keeps its own."
    )
    lesson: str = option(LESSON_NAMES, FIRST_LESSON, label="Lesson")
    slide: int = position(0, 40, label="Slide")
    course: str = option(COURSE_NAMES, "all", label="Course", help="Lessons for a class of so many minutes, in order.")
    practised: str = option(KINDS, "shape", label="Kind of question")
    level: int = number(1, 1, LEVELS, label="Level")
    deal: int = number(0, 0, MOST_DEALS, label="Number of the question", help="Another one has other numbers.")
    stay: bool = switch(False, label="Stay with this kind", help="Off: the next question is of another kind.")
    done: tuple[str, ...] = options(DONE_NAMES, NOTHING_DONE, label="Lessons gone through")
    desk: str = option(DESK_NAMES, "compose", label="Assignments")
    assigned: str = text("", label="Assignment", longest=MAX_FIELD_CHARACTERS)
    written: str = text("", label="Lesson in the link", longest=MOST_CHARACTERS)
    presenter: bool = switch(False, label="Large type", help="One slide for a room; arrow keys and Space go on.")
    notes: bool = switch(
        False, label="Notes for the speaker", help="Notes on the slide, with its answer and what comes next."
    )
    lang: str = option(LANGUAGE_NAMES, "auto", label="Language")
    digits: int = number(4, 2, 17, label="Digits", help="How many are shown; the arithmetic is done with all of them.")

    def __post_init__(self) -> None:
        fields.check(self)


OUTSIDE = Words(
    {
        "gone": "{label} was {given}; there are {n}, so none is chosen.",
        "gone_of_one": "{label} was {given}; there is only one, so none is chosen.",
        "last": "{label} was {given}; there are {n}, so the last is shown.",
        "last_of_one": "{label} was {given}; there is only one.",
        "step": "Step was {given}, which this setting does not have; another one is shown.",
        "number_of": "Number of was {given}, which this setting does not have, so none is explained.",
    }
)


def outside(selection: Selection, trace: Trace) -> list[str]:
    """Return a sentence for each part of the selection that is not there in this run."""
    lengths = {"layer": len(trace.layers)} | ({} if is_of_b(selection) else _lengths(trace))
    sentences = [_outside(selection, name, n) for name, n in lengths.items() if _is_outside(selection, name, n)]
    sentences += [
        OUTSIDE[name].format(given=shorten(getattr(selection, name))) for name in _without_step(selection, trace)
    ]
    return sentences


def _without_step(selection: Selection, trace: Trace) -> list[str]:
    """Return the fields that name a step which this run does not have."""
    there = {*trace.around, *trace.layers[0], *trace.layers[-1]}
    names = ("step", "number_of") if selection.number_of else ("step",)
    return [name for name in names if getattr(selection, name) not in there]


def is_of_b(selection: Selection) -> bool:
    """Return whether head, query and key are those of the second of two runs."""
    return selection.page == "compare" and selection.in_b


def outside_b(selection: Selection, second: Trace) -> list[str]:
    """Return a sentence for each part of the chosen cell that is not there in the second of two runs."""
    return [_outside(selection, name, n) for name, n in _lengths(second).items() if _is_outside(selection, name, n)]


def outside_lesson(selection: Selection) -> list[str]:
    """Return the sentence on a slide that the lesson does not have."""
    n = len(LESSONS[selection.lesson].slides)
    return [_outside(selection, "slide", n)] if _is_outside(selection, "slide", n) else []


def _is_outside(selection: Selection, name: str, n: int) -> bool:
    at = getattr(selection, name)
    return at is not None and at >= n


def _outside(selection: Selection, name: str, n: int) -> str:
    label = next(item.metadata["label"] for item in settings(selection) if item.name == name)
    which = ("last" if name in ("layer", "slide") else "gone") + ("_of_one" if n == 1 else "")
    return OUTSIDE[which].format(label=translate(label), given=ordinal(getattr(selection, name)), n=n)


def _lengths(trace: Trace) -> dict[str, int]:
    """Return the number of options of each position that may be unset."""
    heads = trace.config.n_heads
    words = {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    return {"head": heads, "focus": heads, **words, "dimension": max(trace.config.value_widths())}


def within(selection: Selection, trace: Trace) -> Selection:
    """Return the selection without the parts that this run does not have; a cell of B is left, as it is of another."""
    last = len(trace.layers) - 1
    here = selection if selection.layer <= last else replace(selection, layer=last)
    here = replace(here, number_of="") if "number_of" in _without_step(here, trace) else here
    return here if is_of_b(selection) else within_b(here, trace)


def within_b(selection: Selection, second: Trace) -> Selection:
    """Return the selection without the parts of the chosen cell that the second of two runs does not have."""
    lengths = _lengths(second).items()
    resets: dict[str, Any] = {name: None for name, n in lengths if _is_outside(selection, name, n)}
    return replace(selection, **resets, number_of="") if resets else selection
