"""Your own formula: the field in which it is typed, and below it what was understood, or where it goes wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.codegen.latex import latex
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import learned_numbers
from attnviz.engine.tables.scores import BIAS, SCORES
from attnviz.formula.facts import nonfinite
from attnviz.formula.facts.equivalence import Relation, relation, same
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Formula
from attnviz.formula.names import NUMBERS, STEPS
from attnviz.formula.reader import parse
from attnviz.settings import fields as fields_of
from attnviz.settings.language import Words, full_stop
from attnviz.text.cost_ledger import multiply_adds_of_score
from attnviz.ui.components import formula as formula_picture
from attnviz.ui.session import widgets
from attnviz.ui.session.callback import callback

FIELDS = {kind: f"{kind}_formula" for kind in ("score", "mask", "bias", "normaliser")}
"""The field of a setting for each kind of formula."""

WORDS = Words(
    {
        "examples": "Examples",
        "suggestion": "Write {line}",
        "matrix": "{name} is {shape}: it takes a vector of {rows} numbers and gives one of {columns}.",
        "rows": "{name} is {shape}: one row of {columns} numbers for each key.",
        "columns": "{name} is {shape}: one column of {rows} numbers for each key.",
        "vector": "{name} has {rows} numbers, as many as the vector that it meets.",
        "list": "{name} has {rows} numbers, one for each key.",
        "number": "{name} is one number for each head, 1 unless you change it.",
        "bias": "{name} is a bias: it starts at 0, or as the projections draw their biases.",
        "cost": "{n:,} multiply-adds for all heads.",
        "general": "In general this is {relation}.",
        "here": "On this sentence this is {relation}; on others it need not be.",
    }
)

EXAMPLES = {
    "score": {
        "tanh": "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)",
        "manhattan": "-sum(abs(q - k))",
        "temperature": "g * dot(unit(q), unit(k))",
        "network": "sum(v * tanh(q@W + k@U))",
        "largest": "max(q * k)",
    },
    "mask": {
        "every_third": "j <= i and (i - j) % 3 == 0",
        "not_the": 'token[j] != "the"',
        "near": "abs(i - j) <= 1",
        "windows": "abs(i - j) <= 2**h",
        "follows": "j == i or token[j - 1] == token[i]",
    },
    "bias": {
        "distance": "-abs(i - j) / 2",
        "alibi": "-abs(i-j) * 2**(-8*h/n_heads)",
        "logarithm": "-log(1 + abs(i - j))",
        "windows": "log(abs(i - j) <= 2**h)",
        "first": "2 if j == 0 else 0",
    },
    "normaliser": {
        "quiet": "exp(x - max(x)) / (1 + sum(exp(x - max(x))))",
        "relu": "relu(x) / n",
        "three": "e = exp(x - max(x)) * top(x, 3); e / sum(e)",
        "sticks": "p = sigmoid(x); r = log(1 - p); p * exp(sum(r) - cumsum(r))",
        "mean": "1 / n",
    },
}
"""Lines to begin with, for each kind."""

LABELS = Words(
    {
        "tanh": "Each product squeezed, and distance",
        "manhattan": "Minus the sum of differences",
        "temperature": "Cosine with a temperature per head",
        "network": "A small network",
        "largest": "The largest product",
        "every_third": "Every third key before",
        "not_the": "All but the word “the”",
        "near": "Direct neighbours",
        "follows": "What followed the same word",
        "distance": "Half a point per step",
        "alibi": "A slope for each head",
        "logarithm": "The logarithm of the distance",
        "windows": "A window for each head",
        "first": "More for the first token",
        "quiet": "Softmax with a 1 in the denominator",
        "relu": "Positive scores over n",
        "three": "Softmax of the three largest",
        "sticks": "Each takes its part of what is left",
        "mean": "The same for every key",
    }
)


def fields(draft: Config, locked: tuple[str, ...]) -> tuple[Config, dict[str, DeltaGenerator]]:
    """Draw a field for each formula that is chosen; the draft, and a container below each field to explain it in."""
    containers = {}
    live = widgets.live(draft)
    for kind, name in FIELDS.items():
        if name in live and name not in locked:
            draft = widgets.draw(draft, name)
            containers[kind] = st.container()  # right below the field, so that what is wrong is seen where it is typed
            st.pills(
                WORDS["examples"],
                list(EXAMPLES[kind]),
                format_func=LABELS.__getitem__,
                key=f"example-{kind}",
                on_change=_fill_in,
                args=(kind,),
            )
    return draft, containers


@callback
def _fill_in(kind: str) -> None:
    """Put the example that was pressed into the field."""
    chosen = st.session_state.get(f"example-{kind}")
    if chosen in EXAMPLES[kind]:
        st.session_state[FIELDS[kind]] = EXAMPLES[kind][chosen]
    st.session_state[f"example-{kind}"] = None


@callback
def _take(field: str, line: str) -> None:
    """Put the line that was probably meant into the field."""
    st.session_state[field] = line


def explain(containers: Mapping[str, DeltaGenerator], draft: Config, trace: Trace | None) -> None:
    """Say below each field what its formula means, what it needs, costs and equals, or where it goes wrong."""
    for kind, container in containers.items():
        with container:
            formula = _read(kind, draft)
            if formula and trace is not None and trace.config.chosen == draft:
                _facts(kind, formula, trace)


def explain_changes(other: Config, changed: Collection[str], prefix: str) -> None:
    """Say what the formulas mean that were typed for another setting, or where they go wrong.

    prefix  stands before the names of the fields in which they are typed
    """
    chosen = fields_of.relevant_fields(other)
    for kind, field in FIELDS.items():
        if field in chosen and {kind, field} & {*changed}:
            _read(kind, other, prefix)


def not_shown(other: Config, changed: Collection[str]) -> list[str]:
    """Return the fields of formulas that are chosen in another setting, but not shown there to be typed in."""
    chosen = fields_of.relevant_fields(other)
    return [field for kind, field in FIELDS.items() if field in chosen and kind in changed and field not in changed]


def _read(kind: str, draft: Config, prefix: str = "") -> Formula | None:
    """Draw the formula of a field, or where it goes wrong and what was probably meant."""
    field = FIELDS[kind]
    text = getattr(draft, field)
    try:
        formula = parse(text, kind)
    except FormulaError as fault:
        st.code(fault.pointed(text), language=None, wrap_lines=False)
        stop = "" if fault.sentence.endswith("?") else "."
        st.caption(f"{fault.sentence[0].upper()}{fault.sentence[1:]}{stop}".replace("*", r"\*"))
        if fault.suggestion:
            label = WORDS["suggestion"].format(line=f"`{fault.suggestion}`")
            key = f"{prefix}suggestion-{kind}"
            st.button(label, key=key, on_click=_take, args=(prefix + field, fault.suggestion))
        return None
    formula_picture.show(latex(formula), prefix + kind)
    return formula


def _facts(kind: str, formula: Formula, trace: Trace) -> None:
    sentences = []
    if kind == "score":
        sentences = [*_shapes(formula, trace), _cost(formula, trace), _likeness(formula, trace)]
    if kind in ("bias", "normaliser"):
        sentences = _shapes(formula, trace)
    trouble = _trouble(kind, formula, trace)
    if trouble and trouble.words:
        st.code(FormulaError(trouble.words, *trouble.span).pointed(formula.text), language=None)
        sentences.append(f"{trouble.words}{full_stop()}")
    for sentence in filter(None, sentences):
        st.caption(sentence.replace("*", r"\*"))


def _shapes(formula: Formula, trace: Trace) -> list[str]:
    """Return the shape of every parameter, and why it is so."""
    steps, sentences = trace.layers[0], []
    for name, parameter in formula.parameters.items():
        shape = steps[STEPS[name]].head(0).shape
        facts = {"rows": shape[0] if shape else 1, "columns": shape[-1] if shape else 1}
        sentences.append(WORDS[parameter.role].format(name=name, shape=" × ".join(map(str, shape)), **facts))
        if name == BIAS and parameter.role == "vector":
            sentences[-1] = f"{sentences[-1]} {WORDS['bias'].format(name=name)}"
    return sentences


def _cost(formula: Formula, trace: Trace) -> str:
    return WORDS["cost"].format(n=multiply_adds_of_score(trace, 0))


@lru_cache(maxsize=64)
def _general(formula: Formula) -> Relation | None:
    rows = {name: row.typed or parse(row.line) for name, row in SCORES.items() if row.line}
    return same(formula, rows)


def _likeness(formula: Formula, trace: Trace) -> str:
    """Name the row that the formula equals in general, or else on this sentence alone."""
    similar = _general(formula)
    if similar:
        return WORDS["general"].format(relation=similar.in_words(SCORES[similar.row].label))
    steps, group = trace.layers[0], trace.config.group_size
    Q, K = steps["queries"].array, np.repeat(steps["keys"].array, group, axis=0)
    if len(set(trace.config.key_widths())) > 1:
        return ""
    for name, row in SCORES.items():
        if row.line and not row.parameters:
            S = row.fn(Q, K) * row.scale(Q.shape[-1])
            relation_here = relation(steps["scores"].array, S, name)
            if relation_here:
                return WORDS["here"].format(relation=relation_here.in_words(row.label))
    return ""


def _trouble(kind: str, formula: Formula, trace: Trace) -> nonfinite.Trouble | None:
    """Return the first number that is none, in the first layer."""
    steps, config = trace.layers[0], trace.config
    if kind == "score" and not np.isfinite(steps["scores"].array).all() and len(set(config.key_widths())) == 1:
        parameters = {name: steps[STEPS[name]].array for name in formula.parameters if STEPS[name] in steps}
        parameters = {name: array[:, 0] if name in NUMBERS else array for name, array in parameters.items()}
        if parameters.keys() == formula.parameters.keys():
            K = np.repeat(steps["keys"].array, config.group_size, axis=0)
            return nonfinite.of_scores(formula, steps["queries"].array, K, parameters)
    if kind == "normaliser" and not np.isfinite(steps["weights"].array).all() and config.normalise_over == "keys":
        own = learned_numbers(formula, steps)
        return nonfinite.of_weights(formula, steps["masked"].array / config.temperature, own)
    return None
