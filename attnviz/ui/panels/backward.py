"""Backward: how fast a result moves with every number before it, as maps and as the arithmetic of one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.arithmetic.backward import SlopeLine, jacobian, slope_lines
from attnviz.arrays import Array
from attnviz.engine.backward.gradients import FORMULAS, Gradients, gradients
from attnviz.engine.external.traces import forbidden, is_external
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.number_format import localised, short
from attnviz.text.format.sentence_parts import fill, name_token, plain
from attnviz.ui.components import formula, number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "what": "L is one number that the run computes. Each map below shows how fast L moves when one number "
        "of that step is changed and all that follows is computed again, as in What if.",
        "given": "These numbers were given, so there is no way back through what made them.",
        "output": "L = the sum of the output of {word}.",
        "points_at": "L = how far the output of {word} points towards the vector of {other} (their product).",
        "weight": "L = the weight that {word} gives {other} in head {head} of layer {layer}.",
        "no_width": "The output is not as wide as the embedding, so it cannot point towards a word; its sum is L "
        "instead.",
        "no_cell": "No cell is chosen, so L is the sum of an output. Click a cell above.",
        "title": "∂L/∂{step}",
        "largest": "largest {size}",
        "zero": "zero everywhere",
        "nothing": "Nothing in this layer moves L.",
        "sure": "From the weights to the scores the largest slope goes from {before} to {after}. Softmax passes on "
        "a·(1 − a) of what a key would give more than the others: a head that is sure stops learning.",
        "kink": "{normaliser} has slope 0 or a kink here: no slope reaches the scores, so Q and K of these heads "
        "cannot learn.",
        "sizes": "The largest slope at each step, from the end back",
        "any": "Slopes of another step",
        "step": "Step",
        "size": "Largest slope",
        "where": "Average over heads",
        "invitation": "Click a cell of QKᵀ or of the weights: the arithmetic of its slope opens here.",
        "forbidden": "This key is forbidden: nothing flows back through the mask, and the slope of the score is 0.",
        "cell": "Head {head}: from the output of {word} back to its score for {other}",
        "jacobian": "Jacobian of the row",
        "jacobian_phrase": "how each weight (row) moves with each score (column)",
    }
)
MAPS = ("scores", "weights", "heads")


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the slopes of a layer, and those of the selected cell line by line."""
    if is_external(trace):
        paragraph([WORDS["given"]])
        return selection
    selection = widgets.draw(selection, "target")
    of, sentences = target(trace, selection)
    paragraph([WORDS["what"], *map(localised, sentences)])
    layer = selection.layer
    slopes = gradients(trace, of)
    heatmap.show([slope_map(trace, slopes, layer, name) for name in MAPS], key="backward")
    paragraph(map(localised, verdict(trace, slopes, layer)))
    with st.expander(WORDS["sizes"], key="slope-sizes"):
        number_tables.show(sizes(slopes, layer), hide_index=True)
    selection = _any_step(trace, slopes, selection)
    return _cell(trace, slopes, selection)


def _any_step(trace: Trace, slopes: Gradients, selection: Selection) -> Selection:
    """Draw the slopes of any step, such as a matrix, with what they are made of."""
    layer = selection.layer
    names = [name for name in step_names.steps(slopes, layer) if name != "allowed" and name not in MAPS]
    selection = widgets.choose_available(
        selection, "step", WORDS["any"], names, words=NAMES.__getitem__, otherwise="w_q"
    )
    name = selection.step if selection.step in names else "w_q"
    step = step_names.steps(slopes, layer)[name]
    if name in FORMULAS:
        formula.show(f"{step.symbol} = {step.formula}")
    heatmap.show([slope_map(trace, slopes, layer, name)], key="slopes-of")
    return selection


def target(trace: Trace, selection: Selection) -> tuple[dict[tuple[int | None, str], Array], list[str]]:
    """Return L as slopes of the steps it is made from, and what it is in words."""
    layer, head, query, key = selection.layer, selection.head, selection.query or 0, selection.key
    shape, sentences = trace["output"].shape, []
    tokens = {"word": name_token(trace.query_tokens, query)}
    if key is not None:
        tokens["other"] = name_token(trace.key_tokens, key)
    if selection.target == "weight" and head is not None and key is not None:
        G = np.zeros(trace.layers[layer]["weights"].shape)
        G[head, query, key] = 1.0
        sentence = fill(WORDS["weight"], **tokens, head=str(ordinal(head)), layer=str(ordinal(layer)))
        return {(layer, "weights"): G}, [plain(sentence)]
    G = np.zeros(shape)
    suffix = "_kv" if trace.config.is_cross_attention else ""
    vectors = trace.around[f"token_embeddings{suffix}"].array
    if selection.target == "points_at" and key is not None and vectors.shape[1] == shape[1]:
        G[query] = vectors[key]
        return {(None, "output"): G}, [plain(fill(WORDS["points_at"], **tokens))]
    if selection.target != "output":
        sentences = [WORDS["no_cell" if key is None or head is None else "no_width"]]
    G[query] = 1.0
    return {(None, "output"): G}, [plain(fill(WORDS["output"], word=tokens["word"])), *sentences]


def slope_map(trace: Trace, slopes: Gradients, layer: int, name: str) -> Stage:
    """Return the slopes of a step as a picture with a scale of its own; its largest number stands beside it."""
    step = step_names.steps(slopes, layer)[name]
    size = float(abs(step.array).max(initial=0.0))
    phrase = WORDS["largest"].format(size=localised(short(size))) if size else WORDS["zero"]
    title = WORDS["title"].format(step={"scores": "S", "weights": "A", "heads": "Z"}.get(name, NAMES[name]))
    drawn = stages.stage(trace, step, title, phrase)
    masked = np.broadcast_to(forbidden(trace.layers[layer]), step.shape) if name == "scores" else None
    return replace(drawn, name=f"slopes-{name}", masked=masked, alt=title + sign(": ") + phrase)


def verdict(trace: Trace, slopes: Gradients, layer: int) -> list[str]:
    """Compare the sizes of the slopes of the weights and of the scores, in words."""
    before, after = (float(abs(slopes.layers[layer][name].array).max(initial=0.0)) for name in ("weights", "masked"))
    if not before:
        return [WORDS["nothing"]]
    row = normaliser_of(trace.config)
    if not after:
        return [WORDS["kink"].format(normaliser=row.label)]
    if row.slopes_as_softmax:
        return [WORDS["sure"].format(before=short(before), after=short(after))]
    return []


def sizes(slopes: Gradients, layer: int) -> pd.DataFrame:
    """Return the largest slope of every step of a layer, the last step first."""
    steps = step_names.steps(slopes, layer)
    largest = [
        (name, abs(step.array)) for name, step in reversed(steps.items()) if name != "allowed" and step.array.size
    ]
    return pd.DataFrame(
        {
            WORDS["step"]: [NAMES[name] for name, _ in largest],
            WORDS["size"]: [float(array.max()) for _, array in largest],
            WORDS["where"]: [float(array.mean()) for _, array in largest],
        }
    )


def _cell(trace: Trace, slopes: Gradients, selection: Selection) -> Selection:
    """Draw the arithmetic of the selected cell and the Jacobian of its row, or an invitation to select one."""
    if selection.head is None or selection.query is None or selection.key is None:
        paragraph([WORDS["invitation"]])
        return selection
    position = selection.layer, selection.head, selection.query, selection.key
    tokens = {
        "word": name_token(trace.query_tokens, position[2]),
        "other": name_token(trace.key_tokens, position[3]),
    }
    paragraph([plain(fill(WORDS["cell"], head=str(ordinal(selection.head)), **tokens))])
    if forbidden(trace.layers[position[0]])[position[1:]]:
        paragraph([WORDS["forbidden"]])
        return selection
    selection = widgets.draw(selection, "digits")
    _lines(slope_lines(trace, slopes, *position, digits=selection.digits))
    heatmap.show([jacobian_map(trace, *position)], key="jacobian")
    return selection


def _lines(lines: Sequence[SlopeLine]) -> None:
    for each in lines:
        words, arithmetic = st.columns([1, 3], gap="medium")
        words.markdown(f"**{each.title}**  \n{each.sentence}")
        with arithmetic:
            formula.show_aligned(each.latex)


def jacobian_map(trace: Trace, layer: int, head: int, query: int, key: int) -> Stage:
    """Return the Jacobian of the row of a cell as a picture."""
    J = jacobian(trace, layer, head, query, key)
    over_keys = trace.config.normalise_over == "keys"
    tokens, axis = (trace.key_tokens, "key") if over_keys else (trace.query_tokens, "query")
    title, phrase = WORDS["jacobian"], WORDS["jacobian_phrase"]
    return Stage(
        "jacobian",
        title,
        J[None],
        "signed",
        tokens,
        tokens,
        (axis, axis),
        heads=("",),
        phrase=phrase,
        alt=title + sign(": ") + phrase,
    )
