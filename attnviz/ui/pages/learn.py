"""The Learn page: a head while it learns, a frame at a time, and what it needs to be able to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.engine.learn import TASKS, learn
from attnviz.engine.learning import film as films
from attnviz.engine.learning.film import Film
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.tasks import GAMES
from attnviz.pictures import figures, stages
from attnviz.pictures.charts import learning_curves
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.headline import headline
from attnviz.ui.components import number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.room import View
from attnviz.ui.session import admission, locale, session_state, widget_values
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "choose": "Choose a task, and see a head learn it: from random numbers to a map that can be read.",
        "frame": "Steps of learning",
        "play": "Play",
        "stop": "Stop",
        "best": "Best frame",
        "best_help": "Step {step}: the first at which as much is right, and as much of the weight lies where it "
        "should, as at any other.",
        "another": "Another example",
        "words": "Your own sentence may use these words: {words}.",
        "no_answer": "No example of the task looks like this sentence, so nothing says what would be right.",
        "wait": "Learning …",
        "says": "After {steps} steps it says: {said}.",
        "should": "Right would be: {words}.",
        "all_right": "All of it is right.",
        "outlines": "The outlines show where the head should attend.",
        "measured": "On 200 sentences that it did not learn from, {right:.0%} is right, and {crisp:.0%} of the weight "
        "lies where it should.",
        "overlap": "{n} words share vectors of {d_model} numbers, so that they overlap; a larger embedding size helps.",
        "layer": "Weights, layer {n}",
        "weights": "Weights",
        "beside": "{label}: weights",
        "beside_at": "{label}: weights after {n} steps",
        "needs": "What makes it learnable? Take something away, and let it learn again.",
        "tries": "Remove",
        "as_set": "as set",
        "never": "never",
        "loss": "Loss over the steps of learning",
        "shares": "What is right and what lies where it should, over the steps of learning",
    }
)
COLUMNS = Words(
    {
        "setting": "setting",
        "right_at": "99 % right from step",
        "crisp_at": "0.9 of the weight there from step",
        "right": "right at the end",
        "crisp": "weight where it should be",
    }
)
RIGHT, CRISP = 0.99, 0.9

CHIPS = Words(
    {
        "position": "No positions",
        "heads": "One head",
        "layers": "One layer",
        "mask": "No mask",
        "hardmax": "Hardmax",
        "location": "Location-based score",
    }
)
"""The ablations offered as buttons."""

WITHOUT: dict[str, dict[str, Any]] = {
    "position": {"position": "none"},
    "heads": {"n_heads": 1, "n_kv_heads": None},
    "layers": {"n_layers": 1},
    "mask": {"mask": "none"},
    "hardmax": {"normaliser": "hardmax"},
    "location": {"score": "location"},
}
"""The changes that each of them makes."""

EXAMPLES = 20
"""The number of other sentences that a task has to show."""

MAPS = 654
"""Pixels for the maps until the browser has told."""

_PLAYED = "_learn_played"
"""Of the session: the frame that is shown while the film is played."""


def head(config: Config, selection: Selection) -> None:
    """Draw the tasks, which are there also while one is learned."""
    _tasks(config, selection)
    is_learned = INITIALISERS[config.initialiser].learned
    paragraph([GAMES[config.task].note if is_learned else WORDS["choose"]])


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    config = trace.config
    if not INITIALISERS[config.initialiser].learned:
        return selection
    game = GAMES[config.task]
    whole = replace(config, learn_steps=max(config.learn_steps, game.recipe["learn_steps"]))
    if films.obstacle(config) or not (whole == config or _may_learn(whole)):
        return selection
    with st.spinner(WORDS["wait"]):
        film = learn(whole)
        film.measure()
    if config.d_model < len(game.vocabulary) // 2:
        notice(WORDS["overlap"].format(n=len(game.vocabulary), d_model=config.d_model))
    notice(*film.notes)
    _controls(config, selection, film)
    maps, beside = st.columns([5, 2], gap="medium")
    with beside:
        _curves(film, config.learn_steps)
        paragraph(headline(trace))
    with maps:
        shown = st.container()
        others = _chips(config)
        with shown:
            _show(config, film, others)
    if others:
        number_tables.show(_table(film, others), hide_index=True, key="tried")
    return selection


def _may_learn(config: Config) -> bool:
    """Return whether a film is there or may be learned now; says why not."""
    return films.is_kept(config) or admission.admitted("learn", config)


def _tasks(config: Config, selection: Selection) -> None:
    """Draw a button for each task, which opens the setting in which it is learned well."""
    with st.container(horizontal=True, gap="small"):
        for name, task in TASKS.items():
            chosen = INITIALISERS[config.initialiser].learned and config.task == name
            st.button(
                task.label,
                key=f"task-{name}",
                type="primary" if chosen else "secondary",
                on_click=_begin,
                args=(task.config(seed=config.seed), selection),
            )


def _begin(config: Config, selection: Selection) -> None:
    st.session_state.pop(_PLAYED, None)
    session_state.adopt(config, replace(selection, layer=config.n_layers, head=None, query=None, key=None))


def _controls(config: Config, selection: Selection, film: Film) -> None:
    """Draw the slider over the frames, and the buttons that play them and show another sentence."""
    frames = sorted({*film.steps, config.learn_steps})
    st.session_state["frame"] = config.learn_steps
    slider, buttons = st.columns([1, 1], gap="medium", vertical_alignment="bottom")
    slider.select_slider(
        WORDS["frame"], frames, config.learn_steps, key="frame", on_change=_to_frame, args=(config, selection)
    )
    best = replace(config, learn_steps=film.best)
    with buttons, st.container(horizontal=True, gap="small"):
        playing = _PLAYED in st.session_state
        end = {"on_click": _stop} if playing else {"on_click": _play, "args": (best, selection)}
        st.button(WORDS["stop" if playing else "play"], key="play", **end)
        help_text = WORDS["best_help"].format(step=film.best)
        st.button(WORDS["best"], key="best", help=help_text, on_click=_begin, args=(best, selection))
        other = replace(config, **_another(config))
        words = WORDS["words"].format(words=", ".join(GAMES[config.task].vocabulary))
        st.button(WORDS["another"], key="another", help=words, on_click=_begin, args=(other, selection))


def _to_frame(config: Config, selection: Selection) -> None:
    st.session_state.pop(_PLAYED, None)
    session_state.adopt(replace(config, learn_steps=st.session_state["frame"]), selection)


def _play(best: Config, selection: Selection) -> None:
    """Begin the film at its first frame; it stops at the best one."""
    session_state.adopt(best, selection)
    st.session_state[_PLAYED] = 0


def _stop() -> None:
    st.session_state.pop(_PLAYED, None)


def _another(config: Config) -> dict[str, Any]:
    """Return the sentences of the next example, after the one that is shown."""
    game = GAMES[config.task]
    queries, keys = game.examples(config.seed, "shown", EXAMPLES)
    shown = [" ".join(game.vocabulary[place] for place in row) for row in queries]
    read = [" ".join(game.vocabulary[place] for place in row) if game.is_cross else "" for row in keys]
    pairs = list(zip(shown, read))
    held = (config.sentence, config.second_sentence)
    sentence, second = pairs[(pairs.index(held) + 1) % EXAMPLES if held in pairs else 0]
    return {"sentence": sentence, "second_sentence": second}


def _chips(config: Config) -> dict[str, Config]:
    """Draw what can be taken away; return the settings without what was, by their labels."""
    changed = {name: replace(config, **change) for name, change in WITHOUT.items()}
    offered = [name for name, other in changed.items() if other != config]
    widget_values.reset_invalid_choice("tries", offered, [])
    paragraph([WORDS["needs"]])
    chosen = st.pills(
        WORDS["tries"],
        offered,
        selection_mode="multi",
        format_func=CHIPS.__getitem__,
        key="tries",
        label_visibility="collapsed",
    )
    end = max(config.learn_steps, GAMES[config.task].recipe["learn_steps"])
    found = {}
    for name in chosen:
        other = replace(changed[name], learn_steps=end)
        if not films.obstacle(other) and _may_learn(other):
            found[CHIPS[name]] = other
    return found


def _curves(film: Film, at: int) -> None:
    """Draw how the loss falls and what is right grows, with a line at the frame that is shown."""
    charts = {
        "shares": learning_curves.share_chart(film.steps, film.right, film.crisp, at),
        "loss": learning_curves.loss_chart(film.steps, film.loss, at),
    }
    for name, chart in charts.items():
        st.plotly_chart(
            figures.without_template(chart), key=f"learn-{name}", config={"displayModeBar": False}, alt=WORDS[name]
        )


def _show(config: Config, film: Film, others: dict[str, Config]) -> None:
    """Draw the frame, and go on to the next where the film is played: this part of the page alone is then run again."""
    playing = _PLAYED in st.session_state
    draw = locale.in_current_language(lambda: _frame(config, film, others))
    st.fragment(draw, run_every=0.6 if playing else None)()


def _frame(config: Config, film: Film, others: dict[str, Config]) -> None:
    """Draw one frame: that of the slider, or the next of those that lead up to it."""
    step = config.learn_steps
    if _PLAYED in st.session_state:
        place, before = st.session_state[_PLAYED], [each for each in film.steps if each < step]
        if place >= len(before):
            st.session_state.pop(_PLAYED)
            st.rerun()
        st.session_state[_PLAYED], step = place + 1, before[place]
    trace = run(replace(config, learn_steps=step))
    shown = _maps(trace, [WORDS["layer"].format(n=n + 1) for n in range(len(trace.layers))])
    for label, other in others.items():
        near = max(each for each in learn(other).steps if each <= step)  # a browser may bring fewer frames
        there = run(replace(other, learn_steps=near))
        title = WORDS["beside" if near == step else "beside_at"].format(label=label, n=near)
        last = _maps(there, [title] * len(there.layers))[-1]
        shown.append(replace(last, name=f"try{len(shown)}"))
    sentences = _says(trace, step)
    if step in film.steps:
        at = film.steps.index(step)
        sentences.append(WORDS["measured"].format(right=film.right[at], crisp=film.crisp[at]))
    paragraph(sentences)
    heatmap.show(shown, key="learn", view=View(width=MAPS, fit=not others))


def _maps(trace: Trace, titles: Sequence[str]) -> list[Stage]:
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


def _says(trace: Trace, step: int) -> list[str]:
    """Describe the output of the rows that count, and the right answer."""
    game = GAMES[trace.config.task]
    sentences, answers = films.predicted_words(trace), game.answers(trace.query_tokens, trace.key_tokens)
    if answers is None:
        return [WORDS["says"].format(steps=step, said=" ".join(sentences)), WORDS["no_answer"]]
    rows = answers.counts[0].nonzero()[0]
    found = [sentences[row] for row in rows]
    right = [game.vocabulary[answers.words[0, row]] for row in rows]
    lines = [WORDS["says"].format(steps=step, said=" ".join(found))]
    lines.append(WORDS["all_right"] if found == right else WORDS["should"].format(words=" ".join(right)))
    return [*lines, WORDS["outlines"]]


def _table(film: Film, others: dict[str, Config]) -> pd.DataFrame:
    """Return the tries as a table: from which step on each does its task, and how well it does it at the end."""
    tried = {WORDS["as_set"]: film, **{label: learn(other) for label, other in others.items()}}
    rows = [
        (
            label,
            _from_step(each.steps, each.right, RIGHT),
            _from_step(each.steps, each.crisp, CRISP),
            f"{each.right[-1]:.0%}",
            f"{each.crisp[-1]:.2f}",
        )
        for label, each in tried.items()
    ]
    return pd.DataFrame(rows, columns=[COLUMNS[name] for name in ("setting", "right_at", "crisp_at", "right", "crisp")])


def _from_step(steps: Sequence[int], values: Sequence[float], least: float) -> str:
    return next((str(step) for step, value in zip(steps, values) if value >= least), WORDS["never"])
