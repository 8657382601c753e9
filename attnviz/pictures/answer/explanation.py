"""The answer beside the maps to what was picked in them: a few lines of numbers, words and bars.

A cell is explained from its query and key down to what it puts into the output, a row by its scores and shares, an
entry of an output by what each key puts into it. All numbers are those of the full arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.arithmetic.cell import Cell
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.arithmetic.short_derivation import Change, FourLines, Mixture, Terms, four_lines, mixture
from attnviz.arrays import Array
from attnviz.engine.external.notes import ONE
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.pictures.answer import explanation_parts as parts
from attnviz.pictures.answer.explanation_parts import Tokens, factor, number
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import cell_sentence, percent
from attnviz.text.format.number_format import localised, short
from attnviz.text.format.sentence_parts import TOKEN
from attnviz.text.query_sentences import query_weights

WORDS = Words(
    {
        "head": "head {n}: {said}",
        "comes": "{amount} of its attention",
        "attends": "attends to",
        "ignores": "does not attend to",
        "attended": "is attended to by",
        "row": "how “{query}” divides its attention",
        "column": "how much attention “{key}” receives",
        "output": "how entry {n} of the output of “{query}” is mixed",
        "entry": "entry {n} of z",
        "score": "the score",
        "scaled": "the scaled score",
        "adjusted": "the adjusted score",
        "width": "÷ √{d} = the scaled score",
        "share_of_row": "its share of the row",
        "share_of_column": "its share of the column",
        "weight": "its weight",
        "value": "× the value of {key}",
        "adds": "adds to z",
        "row_score": "its scores with all words",
        "row_scaled": "its scaled scores with all words",
        "row_adjusted": "its adjusted scores with all words",
        "row_shares": "its weights",
        "row_weights": "its weights, not shares",
        "column_weights": "its weight in each row",
        "row_values": "× the values, added up",
        "entries": "× entry {n} of each value",
        "sum": "added up",
    }
)
MATCH = Words({"typed": "q with k, entry by entry"})
"""The sentence of the first line, where its row has none."""

NOTES = Words(
    {
        "formula": "{formula} = {made}",
        "scale": "× {by} = {made}",
        "width": "÷ √{by} = {made}",
        "softcap": "capped at ±{by} = {made}",
        "bias": "{by} for the distance = {made}",
        "sink": "{by} for the sink = {made}",
        "mask": "masked: {made}",
        "temperature": "÷ {by}, the temperature = {made}",
        "above": "u − τ = {u} − {threshold}; u = score − largest, τ the threshold",
        "squared": "(u − τ)² = ({u} − {threshold})²; u = half of score − largest, τ the threshold",
        "by_hand": "set by hand; computed from the scores it would be {computed}",
        "score_by_hand": "set by hand; the formula gives {computed}",
        "winner": "the largest of the {line}; winners: {n}",
        "row": "row",
        "column": "column",
    }
)


def explanation(trace: Trace, cell: Cell, *, key: bool, dimension: int | None = None) -> dict[str, Any]:
    """Return the explanation of a cell, or, without its key, of an entry of the output of its query, or of its row.

    >>> from attnviz import Config, run
    >>> from attnviz.arithmetic.cell import derive
    >>> trace = run(Config(sentence="the cat sat"))
    >>> made = explanation(trace, derive(trace, 0, 0, 2, 1), key=True)
    >>> [line["title"] for line in made["lines"]]
    ['q · k, entry by entry', '÷ √4 = the scaled score', 'its share of the row', '× the value of cat']
    """
    words = Tokens(trace, cell)
    answer, mixed = four_lines(trace, cell), mixture(trace, cell)
    title = [["query", words.query]]
    if key:
        lines, sentence = _of_cell(trace, answer, words), _comes(trace, answer, words)
        title += [["soft", WORDS["attends" if cell.allowed else "ignores"]], ["key", words.key]]
    elif dimension is not None and mixed is not None:
        lines, sentence = (
            _of_output(mixed, words, dimension),
            WORDS["output"].format(n=ordinal(dimension), query=words.query),
        )
        title.append(["key", WORDS["entry"].format(n=ordinal(dimension))])
    else:
        lines, sentence = _of_row(answer, mixed, words), WORDS["row"].format(query=words.query)
    return {
        "title": title,
        "sentence": WORDS["head"].format(n=ordinal(cell.head), said=sentence),
        "head": cell.head,
        "query": cell.query,
        "key": cell.key if key else None,
        "dimension": None if key or mixed is None else dimension,
        "lines": lines,
    }


def column(trace: Trace, layer: int, head: int, key: int) -> dict[str, Any]:
    """Return the explanation of a column: the weights on its key, the largest first; they add up to nothing.

    >>> from attnviz import Config, run
    >>> made = column(run(Config(sentence="the cat sat")), 0, 0, 1)
    >>> [text for _, text in made["title"]], made["lines"][0]["terms"]["folds"][0]["shown"]
    (['cat', 'is attended to by'], [1, 0, 2])
    """
    rows, weights = query_weights(trace, layer, head), trace.layers[layer]["weights"].array[head, :, key]
    write = percent if all(rows.shares) else number
    terms = parts.terms(Terms(None, None, weights, 0.0), "query", list(rows.queries), write)
    known = np.nan_to_num(weights, nan=0.0, posinf=np.inf, neginf=-np.inf)
    for fold in terms["folds"]:
        fold["shown"].sort(key=lambda at: (-known[at], at))
        fold.update(value=None, rest="")
    name = rows.keys[key]
    return {
        "title": [["key", name], ["soft", WORDS["attended"]]],
        "sentence": WORDS["head"].format(n=ordinal(head), said=WORDS["column"].format(key=name)),
        **{"head": head, "query": None, "key": key, "dimension": None},
        "lines": [_line("share", WORDS["column_weights"], terms=terms)],
    }


def most_telling(trace: Trace, layer: int, head: int, query: int) -> int:
    """Return the key that a query takes most from, through which its whole row can be derived."""
    weights = trace.layers[layer]["weights"].array[head, query]
    return int(np.argmax(np.nan_to_num(weights, nan=-1.0, posinf=0.0, neginf=0.0)))


def _comes(trace: Trace, answer: FourLines, words: Tokens) -> str:
    cell = answer.cell
    if not cell.allowed or not words.shares:
        sentence = cell_sentence(trace, cell.layer, cell.head, cell.query, cell.key)
        return "".join(part if kind == TOKEN else localised(part) for kind, part in sentence)
    return WORDS["comes"].format(amount=percent(answer.weight))


# --- a cell ----------------------------------------------------------------------------------------------------------


def _of_cell(trace: Trace, answer: FourLines, words: Tokens) -> list[dict[str, Any]]:
    lines = []
    if answer.terms is not None:
        title = answer.terms.brief or MATCH["typed"]
        added = parts.terms(answer.terms, "d_k") | {"sign": answer.terms.sign or "×"}
        line = _line("match", title, parts.writer(answer.terms.values)(answer.terms.total), terms=added)
        lines.append(line | {"note": _by_hand(answer) if answer.is_sum else ""})
    if answer.enters is not None:
        lines.append(_score_line(trace, answer, words, answer.enters))
    lines.append(_share_line(trace, answer, words))
    if answer.cell.allowed and answer.value is not None and answer.added is not None and answer.output is not None:
        weight = np.full(len(answer.value), answer.weight)
        terms = parts.terms(Terms(weight, answer.value, answer.added, 0.0), "d_v")
        terms |= {"whole": parts.plain(answer.value)}
        cells = parts.cells(answer.output, words)
        lines.append(_line("value", WORDS["value"].format(key=words.key), WORDS["adds"], terms=terms, cells=cells))
    return lines


def _line(name: str, title: str, value: str = "", **pictures: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "value": value, "note": "", **pictures}


def _score_line(trace: Trace, answer: FourLines, words: Tokens, enters: float) -> dict[str, Any]:
    """Describe the way from the sum to what enters the normaliser, and how that stands among the others."""
    steps = _steps(trace, answer)
    by_width = len(steps) == 1 and len(answer.changes) == 1 and _is_by_width(trace, answer.changes[0])
    title = WORDS["width"].format(d=answer.cell.d_k) if by_width else WORDS[_after(answer)]
    line = _line("score", title, number(enters)) | {"note": "" if by_width else " · ".join(steps)}
    if answer.scores is not None:
        line["columns"] = parts.columns(answer.scores, answer.at, words, over_keys=words.over_keys)
    return line


def _after(answer: FourLines) -> str:
    """Return what a score is called after all that is done to it: the scores of the maps are those before."""
    names = {change.name for change in answer.changes}
    return "adjusted" if names - {"scale"} else "scaled" if names else "score"


def _steps(trace: Trace, answer: FourLines) -> list[str]:
    """Return the steps from the sum of the entries to the score, with the result of each."""
    steps = []
    score = answer.score_line
    if answer.computed is not None:
        steps += [] if answer.is_sum else [_by_hand(answer)]
    elif score is not None and answer.score is not None:
        row, score_text = score_of(trace.config), number(answer.score)
        if score.brief:
            steps.append(score.brief.format(made=score_text, **_numbers(score)))
        elif not row.lines:
            steps.append(NOTES["formula"].format(formula=row.definition.text, made=score_text))
    return steps + [_change(trace, answer, change) for change in answer.changes]


def _by_hand(answer: FourLines) -> str:
    return "" if answer.computed is None else NOTES["score_by_hand"].format(computed=number(answer.computed))


def _change(trace: Trace, answer: FourLines, change: Change) -> str:
    result = number(change.made)
    if _is_by_width(trace, change):
        return NOTES["width"].format(by=answer.cell.d_k, made=result)
    by = localised(short(change.by))  # as it was set
    if change.name == "bias":
        by = f"+ {number(change.by)}" if change.by >= 0 else number(change.by)
    return notes(trace, answer.cell.layer)[change.name].format(by=by, made=result)


def notes(trace: Trace, layer: int) -> Mapping[str, str]:
    """Return the sentences on what changes a score, where a bias is what a sink takes away if the heads have one."""
    return dict(NOTES) | ({"bias": NOTES["sink"]} if "sinks" in trace.layers[layer] else {})


def _is_by_width(trace: Trace, change: Change) -> bool:
    """Return whether the score is divided by the root of the width."""
    return change.name == "scale" and trace.config.scale is None and score_of(trace.config).is_over_root


def _share_line(trace: Trace, answer: FourLines, words: Tokens) -> dict[str, Any]:
    column = not words.over_keys and abs(float(answer.weights.sum()) - 1.0) < ONE
    title = WORDS["share_of_row" if words.shares else "share_of_column" if column else "weight"]
    value = percent(answer.weight) if words.shares or column else number(answer.weight)
    note = _reason(trace, answer, NOTES["row" if words.over_keys else "column"])
    bar = parts.shares(answer.weights, answer.at, words, over_keys=words.over_keys)
    return _line("share", title, value, shares=bar) | {"note": note}


def _reason(trace: Trace, answer: FourLines, line: str) -> str:
    """Explain the weight by its score, with the numbers of its lines."""
    if not answer.cell.allowed:
        return ""  # the sentence of the whole answer says it
    last = answer.lines["weight"]
    row, numbers = normaliser_of(trace.config), _numbers(last)
    if last.edited and (row.lines or row.written) and not answer.cell.emptied:
        return NOTES["by_hand"].format(computed=number(float(last.computed)))
    if last.brief:
        return last.brief.format(line=line, exponent=_exponent(answer), **numbers)
    if row.typed and not answer.cell.emptied:
        return row.typed.text
    if "threshold" in numbers:
        name = "squared" if "spread" in answer.lines else "above"
        return NOTES[name].format(u=numbers["u"], threshold=factor(float(last.operands["threshold"])))
    if "winners" in numbers and answer.weight > 0:
        return NOTES["winner"].format(line=line, n=f"{float(last.operands['winners']):.0f}")
    return localised(last.sentence)


def _exponent(answer: FourLines) -> str:
    """Return what stands in the exponent of a weight; nothing where no exponential is taken."""
    if "exponents" not in answer.lines:
        return ""
    operands = answer.lines["exponents"].operands
    x, m, T = (float(operands[name][answer.at] if name == "s" else operands.get(name, 1.0)) for name in ("s", "m", "T"))
    apart = f"{number(x)} − {factor(m)}"
    return apart if T == 1 else f"({apart}) ÷ {localised(short(T))}"


def _numbers(line: ArithmeticLine) -> dict[str, str]:
    """Return the numbers that go into a line."""
    return {name: number(float(value)) for name, value in line.operands.items() if value.ndim == 0}


# --- a row, and an entry of an output --------------------------------------------------------------------------------


def _of_row(answer: FourLines, mixed: Mixture | None, words: Tokens) -> list[dict[str, Any]]:
    lines = []
    if mixed is not None and mixed.scores is not None:
        scores = parts.columns(mixed.scores, None, words, over_keys=True)
        lines.append(_line("score", words.said(WORDS, f"row_{_after(answer)}"), columns=scores))
    if mixed is None:
        return lines if not words.over_keys else [*lines, _shares(answer.weights, words, named=True)]
    cells = parts.cells(mixed.output, words)
    return [
        *lines,
        _shares(mixed.weights, words, named=True),
        _line("value", WORDS["row_values"], "z", cells=cells),
    ]


def _shares(weights: Array, words: Tokens, *, named: bool) -> dict[str, Any]:
    """Return the weights of a query: one bar, and the largest of them by name."""
    bar = parts.shares(weights, None, words, over_keys=True)
    title = WORDS["row_shares" if words.shares else "row_weights"]
    line = _line("share", title, percent(1.0) if words.shares else "", shares=bar)
    if named:
        line["terms"] = parts.terms(Terms(None, None, weights, 0.0), "key", words.keys, words.amount)
    return line


def _of_output(mixed: Mixture, words: Tokens, dimension: int) -> list[dict[str, Any]]:
    in_dimension = mixed.terms(dimension)
    terms = parts.terms(in_dimension, "key", words.keys)
    cells = parts.cells(mixed.output, words, dimension)
    return [
        _shares(mixed.weights, words, named=False),
        _line("value", WORDS["entries"].format(n=ordinal(dimension)), terms=terms),
        _line("sum", WORDS["sum"], parts.writer(in_dimension.values)(in_dimension.total), cells=cells),
    ]
