"""Every head over many sentences: what it does as a rule, where one sentence shows only what it did once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.analysis.circuits.prompts import prompts
from attnviz.analysis.corpus.study import MEANINGS, Study, study
from attnviz.engine.cost.need import SHORT, Need
from attnviz.engine.cost.sizes import sizes
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Plural, Words, as_sentence
from attnviz.text.cell_sentence import percent
from attnviz.text.head_sentences import WORDS as KINDS
from attnviz.ui.components import number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.depth.head_maps import WORDS as HEADS
from attnviz.ui.panels.depth.head_maps import kept, pressed, stage
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.browser.stage_events import Event
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import LONGEST_TEXTS, MEASURE_NAMES, Selection

WORDS = Words(
    {
        "what": "One sentence shows what a head did once. Give others, one per line, and every head is measured on "
        "all of them.",
        "take": "Take {n} sentences",
        "take_help": "Sentences in which somebody gives something to somebody, and lists that are said again. The "
        "models in the package have not read them.",
        "most": "{n} sentences are more than the {most} that are measured here; `study` in Python has no such bound.",
        "line": "Sentence {n}: {why}",
        "open": "Press a head to open it above.",
        "undefined": "not defined",
        "nowhere": "Grey: not defined, as no row of these sentences has what is measured.",
        "edits": "Numbers that were changed by hand belong to one sentence and are left out here.",
        "wait": "One sentence after another",
        "kind": "does most often",
        "of_kind": "in how many",
        "word": "mostly one word",
        "spread": "spread out",
        "varies": "varies from sentence to sentence",
        "further": "{n} more notes on other sentences are left out.",
        "save": "Save as CSV",
    }
)
SAID = Plural("Over {n} sentence of {rows} tokens.", "Over {n} sentences of {rows} tokens together.")
KEY, MAP = "many-heads", "many"
MOST, TAKEN, NOTED = 64, 20, 4
HALF = 0.5
NEED = Need(drawn=24, held=1, made=1, most=4 * SHORT)


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the field for sentences, a measure of every head as a map, and all measures in a table."""
    config = replace(trace.config.chosen, edits=())
    paragraph([WORDS["what"], *([WORDS["edits"]] if trace.config.edits else [])])
    selection = widgets.draw(selection, "texts")
    chosen, offer = st.columns([1, 1], vertical_alignment="bottom")
    with chosen:
        selection = widgets.draw(selection, "measure")
    if getattr(trace.config, "image", None) is None:  # they are sentences, of which no image can be drawn
        taken = replace(selection, texts=_taken())
        offer.button(
            WORDS["take"].format(n=TAKEN), key="many-take", help=WORDS["take_help"],
            on_click=session_state.adopt, args=(trace.config.chosen, taken),
        )  # fmt: skip
    texts = _lines(selection.texts)
    if not texts:
        return selection
    if len(texts) > MOST:
        notice(WORDS["most"].format(n=len(texts), most=MOST))
        return selection
    try:
        longest = _longest(config, texts)
        if not admission.admitted(NEED, longest, again=len(texts)):
            return selection
        with st.spinner(WORDS["wait"]):
            found = kept(
                trace, ("many", texts), lambda: admission.repeated(config, len(texts), measured, texts, like=longest)
            )
    except ConfigError as error:
        notice(refused(error))
        return selection
    _draw(trace, selection, *found)
    return selection


def measured(config: Config, texts: tuple[str, ...]) -> tuple[Study, tuple[str, ...]]:
    """Return what every head of a setting does over the sentences, and the notes on their runs.

    Raises ConfigError for a sentence of which there is no run, with its number.
    """
    numbers = {text: n for n, text in reversed([*enumerate(texts, 1)])}
    notes = dict[str, None]()

    def run_of(text: str) -> Trace:
        try:
            trace = run(replace(config, sentence=text))
        except ConfigError as error:
            raise ConfigError(WORDS["line"].format(n=numbers[text], why=error)) from error
        notes.update((WORDS["line"].format(n=numbers[text], why=note), None) for note in trace.notes)
        return trace

    found = study(run_of, texts)
    return found, tuple(notes)


def opened(pick: Event, trace: Trace) -> tuple[int, int] | None:
    """Return the layer and the head that a pick in the map stands for, from 0; None for a pick elsewhere."""
    return pressed(pick, (MAP,), (len(trace.layers), trace.config.n_heads))


def _longest(config: Config, texts: tuple[str, ...]) -> Config:
    """Return the setting with the sentence that costs most: of many tokens, which need not have many characters.

    Raises ConfigError for a sentence without tokens.
    """
    return max((replace(config, sentence=text) for text in texts), key=lambda each: sizes(each).seconds)


def _lines(texts: str) -> tuple[str, ...]:
    """Return the sentences of a text.

    >>> _lines("the cat sat\\n\\n  a dog ")
    ('the cat sat', 'a dog')
    """
    return tuple(line.strip() for line in texts.splitlines() if line.strip())


def _taken() -> str:
    """Return sentences out of the test prompts, of every kind there is."""
    every = len(prompts()) // TAKEN
    return "\n".join(prompt.text for prompt in prompts()[::every])[:LONGEST_TEXTS]


def _draw(trace: Trace, selection: Selection, found: Study, notes: Sequence[str]) -> None:
    """Draw a measure as a map of layers by heads, and a row a head with all of them."""
    if notes:
        further = len(notes) - NOTED
        notice(*notes[:NOTED], *([WORDS["further"].format(n=further)] if further > 0 else []))
    meaning = (MEANINGS.get(selection.measure) or MEASURE_NAMES[selection.measure].note).rstrip(".。")
    said = SAID.format(n=found.n_texts, rows=found.n_rows)
    paragraph([said, as_sentence(meaning), WORDS["open"]])
    drawn = _stage(trace, selection.measure, found)
    heatmap.show([drawn], key=KEY)
    if drawn.masked is not None:
        paragraph([WORDS["nowhere"]])
    number_tables.show(_table(found), hide_index=True)
    csv = found.to_pandas().to_csv()
    st.download_button(WORDS["save"], csv, "many_sentences.csv", "text/csv", key="many-save", on_click="ignore")


def _stage(trace: Trace, name: str, found: Study) -> Stage:
    """Return a measure as a map; cells without it are masked."""
    array = found[name].array
    drawn = stage(trace, MAP, np.nan_to_num(array), MEASURE_NAMES[name].label, "")
    is_share = name not in ("entropy", "effective_keys", "mean_distance", "copying")
    masked = np.isnan(array)
    return replace(
        drawn,
        kind="share" if is_share else "signed",
        alt=MEASURE_NAMES[name].label,
        masked=masked[None] if masked.any() else None,
        grey=WORDS["undefined"],
    )


def _table(found: Study) -> pd.DataFrame:
    """Return a row a head: the kind that it is most often, and every measure."""
    layers, heads = found.kinds.shape
    at = [(layer, head) for layer in range(layers) for head in range(heads)]
    rows: dict[str, list[object]] = {
        HEADS["head"]: [f"{ordinal(layer)}.{ordinal(head)}" for layer, head in at],
        WORDS["kind"]: [_kind(found, each) for each in at],
        WORDS["of_kind"]: [percent(float(found["kind_share"].array[each])) for each in at],
    }
    for name, entry in MEASURE_NAMES.items():
        if name != "kind_share":
            rows[entry.label] = [float(found[name].array[each]) for each in at]
    return pd.DataFrame(rows)


def _kind(found: Study, at: tuple[int, int]) -> str:
    """Return what a head does in more than half of the sentences; where it is no one thing, that is said."""
    name = str(found.kinds[at]) if found["kind_share"].array[at] > HALF else "varies"
    return WORDS[name] if name in ("word", "spread", "varies") else KINDS[name]
