"""One frame of a head that learns: its weights as maps, with outlines where a person would look, and what it says."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.arithmetic.cell import Cell
from attnviz.engine.learn import learn
from attnviz.engine.learning import film as films
from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tasks.games import GAMES
from attnviz.pictures import columns, stages
from attnviz.pictures.answer import browser_facts
from attnviz.pictures.colours import WANTED
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.headline import headline
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import WHOLE, View
from attnviz.ui.panels import cell as cell_panel
from attnviz.ui.panels.learn import controls, curves, frames
from attnviz.ui.panels.learn.ablations import TRIED
from attnviz.ui.session import failures, locale, session_state, widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "no_answer": "No example of the task looks like this sentence, so nothing says what would be right.",
        "outlined": "Outlined: where a person would look.",
        "says": "After {steps} steps it says: {said}.",
        "should": "The right answer would be: {words}.",
        "all_right": "All of it is right.",
        "measured": "On 200 new sentences: {right} of the words right, {crisp} of the weight in the outlines.",
        "layer": "Weights, layer {n}",
        "weights": "Weights",
        "beside": "{label}: weights",
        "beside_at": "{label}: weights after {n} steps",
    }
)
KEY = "learn"
BELOW, ASKED = 160, 88
"""Pixels of the window below the maps: what the head says and what can be taken away, and a prediction of that."""
SECONDS = 0.6
"""Between two frames of a film that is played."""


@dataclass(frozen=True)
class Labels:
    """The elements beside the maps that change with the frame: the mark over the curves, and the headline."""

    mark: DeltaGenerator
    headline: DeltaGenerator


@dataclass
class _Part:
    """The part of the page that shows a frame, and is run alone where the slider moves or the film goes on.

    fresh   the run of the frame with which the whole page was drawn; it is taken out, as a session keeps this
    notes   the notes on that run, which stand elsewhere on the page
    played  whether the browser asks for the next frame by itself
    frames  those that the browser was given, packed
    scrubbed  whether the slider has moved since the whole page was drawn
    asked   the map in which a cell was chosen last
    """

    config: Config
    selection: Selection
    film: Film
    others: dict[str, Config]
    labels: Labels
    fresh: Trace | None
    notes: tuple[str, ...]
    played: bool
    frames: bytes | None = None
    scrubbed: bool = False
    asked: str = ""


def show(
    trace_of_link: Trace, selection: Selection, film: Film, others: dict[str, Config], labels: Labels
) -> Selection:
    """Draw the slider and the frame at which it stands, or the film while it is played; return the selection.

    trace_of_link  the run of the frame with which the page is drawn
    """
    played = controls.PLAYED in st.session_state
    part = _Part(trace_of_link.config, selection, film, others, labels, trace_of_link, trace_of_link.notes, played)
    draw = locale.in_current_language(lambda: failures.attempted(partial(_draw, part), None))
    st.fragment(draw, run_every=SECONDS if played else None)()
    return part.selection


def _draw(part: _Part) -> None:
    """Draw one frame: that of the slider, or the next of those that lead up to it.

    Where more of the page tells of the frame than this part of it, the whole page is run again. The maps are sent
    first, as they are what is waited for.
    """
    fresh, part.fresh = part.fresh, None
    if fresh is None:
        session_state.resume()
        if controls.pressed() or part.played != (controls.PLAYED in st.session_state):
            st.rerun()
    playing = controls.PLAYED in st.session_state
    if fresh or controls.slider_key() not in st.session_state:
        controls.put(part.config.learn_steps)
    # The slider stays at the end of the film: a browser that lags would send it back, as if the visitor had moved it.
    step = _next_frame(part) if playing else st.session_state[controls.slider_key()]
    config = replace(part.config, learn_steps=step)
    trace = fresh if fresh and step == fresh.config.learn_steps else run(config)
    if fresh is None and not playing:
        if trace.notes != part.notes or widgets.is_open(config, "learn_steps") or session_state.files_are_open():
            st.rerun()
        part.scrubbed = True
    with st.container(gap=None):
        above, stage = st.container(key="learn-controls"), st.container(key="stage", gap=None)
        below = st.container()
    with stage:
        asked, cell = _maps(part, trace, step)
    curves.mark(part.labels.mark, part.film, step)
    with above:
        controls.draw(config, part.config, part.selection, part.film)
    paragraph(headline(trace), part.labels.headline)
    with below:
        part.selection = cell_panel.all_lines(asked, part.selection, cell)
    if fresh is None:
        session_state.write(part.config if playing else config, part.selection)


def _next_frame(part: _Part) -> int:
    """Return the next step of a film that is played; ends it behind the last that leads up to the slider's."""
    place = st.session_state[controls.PLAYED]
    before = [each for each in part.film.steps if each < part.config.learn_steps]
    if place >= len(before):
        st.session_state.pop(controls.PLAYED)
        st.rerun()
    st.session_state[controls.PLAYED] = place + 1
    return before[place]


def _send_frames(part: _Part) -> None:
    """Give the browser all frames, so that the next need not come from here; they are packed once."""
    if part.frames is None:

        def at(step: int) -> list[Stage]:
            trace = run(replace(part.config, learn_steps=step))
            return [_as_on_the_stage(trace, stage) for stage in maps(trace, _titles(part.config.n_layers))]

        part.frames = frames.packed(part.film.steps, at, key=KEY, slider=controls.slider_key())
    if part.frames:
        frames.send(part.frames)


def _titles(n_layers: int) -> list[str]:
    return [WORDS["layer"].format(n=ordinal(n)) for n in range(n_layers)]


def _maps(part: _Part, trace: Trace, step: int) -> tuple[Trace, Cell | None]:
    """Draw the maps of a frame, those of what was taken away beside them, and what the head says.

    Returns the run of which a cell is explained, and that cell.
    """
    shown = [_as_on_the_stage(trace, stage) for stage in maps(trace, _titles(len(trace.layers)))]
    of = {stage.name: (trace, layer) for layer, stage in enumerate(shown)}
    for label, other in part.others.items():
        near = max(each for each in learn(other).steps if each <= step)  # a browser may bring fewer frames
        nearest = run(replace(other, learn_steps=near))
        title = WORDS["beside" if near == step else "beside_at"].format(label=label, n=near)
        last = maps(nearest, [title] * len(nearest.layers))[-1]
        shown.append(replace(last, name=f"try{len(shown)}"))
        of[shown[-1].name] = nearest, len(nearest.layers) - 1
    asked = part.asked if part.asked in of else shown[part.selection.layer].name
    part.selection, part.asked = cell_panel.updated(
        replace(part.selection, focus=None), asked, shown, of, key=KEY, has_columns=True
    )
    cells = browser_facts.cells_of(trace, 0) if len(shown) == 1 else None  # it has the numbers of one map
    picked = cell_panel.marked(part.selection, part.asked, shown, has_columns=True)
    heatmap.show(shown, key=KEY, picked=picked, view=_view(part), cells=cells)
    trace_of_cell, layer = of[part.asked]
    head = cell_panel.head_of(trace_of_cell, layer, part.selection)
    cell = cell_panel.explain(trace_of_cell, replace(part.selection, layer=layer), head, cells, setting=part.config)
    with st.container(key="learn-says", gap=None):  # as high in every frame: other room builds maps anew
        explain_outlines(shown)
        paragraph([*says(trace, step), *success_sentences(part.film, step)])
        if part.scrubbed and not part.others:
            _send_frames(part)
    return trace_of_cell, cell


def _view(part: _Part) -> View:
    """Return the share of the window: all but what is said and asked below the maps, where there are these alone."""
    n_asked = len(st.session_state.get(TRIED) or ())
    return View() if part.others else replace(WHOLE, reserved=BELOW + ASKED * n_asked)


def _as_on_the_stage(trace: Trace, stage: Stage) -> Stage:
    """Return a map of weights with the heading and the roles of heads that it has on the Explore page."""
    layer = int(stage.name.removeprefix("layer"))
    usual = next(each for each in columns.opening(trace, layer) if each.name == "weights")
    title = usual.title if len(trace.layers) == 1 else stage.title
    return replace(usual, name=stage.name, title=title, wanted=stage.wanted)


def explain_outlines(drawn: Sequence[Stage]) -> None:
    """Draw the key of the outlines, where there are any."""
    if any(stage.wanted for stage in drawn):
        outline = f"border: 2px solid {WANTED}"
        st.html(f'<p class="attn-line attn-key"><i style="{outline}"></i>{html.escape(WORDS["outlined"])}</p>')


def success_sentences(film: Film, step: int) -> list[str]:
    """Describe what a kept frame can do; nothing for a frame between two."""
    if step not in film.steps:
        return []
    at = film.steps.index(step)
    return [WORDS["measured"].format(right=percent(film.right[at]), crisp=percent(film.crisp[at]))]


def maps(trace: Trace, titles: Sequence[str]) -> list[Stage]:
    """Return the weights of every layer as pictures, with outlines in the last where the task says where to look."""
    titles = titles if len(trace.layers) > 1 or titles[0] != WORDS["layer"].format(n=1) else [WORDS["weights"]]
    drawn = [
        replace(stages.stage(trace, steps["weights"], title), name=f"layer{n}")
        for n, (steps, title) in enumerate(zip(trace.layers, titles))
    ]
    answers = GAMES[trace.config.task].answers(trace.query_tokens, trace.key_tokens)
    if answers is not None:
        cells = (answers.where[0] & answers.counts[0][:, None]).nonzero()
        wanted = tuple((h, int(i), int(j)) for h in range(trace.config.n_heads) for i, j in zip(*cells, strict=True))
        drawn[-1] = replace(drawn[-1], wanted=wanted)
    return drawn


def says(trace: Trace, step: int) -> list[str]:
    """Describe the output of the rows that count, and the right answer."""
    game = GAMES[trace.config.task]
    sentences, answers = films.predicted_words(trace), game.answers(trace.query_tokens, trace.key_tokens)
    if answers is None:
        return [WORDS["says"].format(steps=step, said=" ".join(sentences)), WORDS["no_answer"]]
    rows = answers.counts[0].nonzero()[0]
    saying = [sentences[row] for row in rows]
    right = [game.vocabulary[answers.words[0, row]] for row in rows]
    lines = [WORDS["says"].format(steps=step, said=" ".join(saying))]
    lines.append(WORDS["all_right"] if saying == right else WORDS["should"].format(words=" ".join(right)))
    return lines
