"""The results that known mistakes lead to, one wrong step each, by which a wrong answer is traced to its mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from attnviz.analysis import rounding
from attnviz.arrays import Array
from attnviz.classroom.context.question_context import QuestionContext
from attnviz.classroom.resolved_question import Mistake
from attnviz.engine.records.trace import Step, result_of


def of_number(runs: QuestionContext, step: Step, index: tuple[int, ...]) -> tuple[Mistake, ...]:
    """Return the known mistakes for one number of a step, each with the number that it leads to."""
    if step.name == "weights":
        mistakes = _weight(runs, index)
    elif step.axes[-2:] == ("query", "key") and len(index) == 3:
        mistakes = _score(runs, step, index)
    elif step.name == "heads":
        mistakes = _output(runs, index)
    elif step.name == "added":
        mistakes = _added(runs, index)
    elif step.name == "normed":
        mistakes = _normed(runs, index)
    elif step.name == "positions":
        mistakes = _position(step, index)
    elif step.name == "concat":
        mistakes = (Mistake(name, float(joined[index])) for name, joined in _joined(runs).items())
    else:
        mistakes = iter(())
    return tuple(_settled(runs, step, each) for each in _wrong_only(mistakes, float(step.array[index])))


def _settled(runs: QuestionContext, step: Step, mistake: Mistake) -> Mistake:
    """Return a mistake with the number 0 where it is rounding alone, as it is of the sums that the step is made of."""
    least = rounding.bound(runs.trace, runs.layer, step.name)
    is_rounding = least is not None and abs(mistake.value) <= float(least.max())
    return replace(mistake, value=0.0) if is_rounding else mistake


def how(runs: QuestionContext, name: str) -> str:
    """Return the row of HOW that says how a number of a step is found."""
    if name == "concat" and _is_reshaped(runs):
        return "reshaped"
    return {"keys": "queries", "values": "queries", "masked": "scaled"}.get(name, name)


def across(step: Step, position: Mapping[str, int]) -> Array:
    """Return the line of the other axis with the same number, where there is one."""
    by_query = "query" in position
    other = {"key" if by_query else "query": position["query" if by_query else "key"]}
    index = tuple((position if name.endswith("head") else other).get(name, slice(None)) for name in step.axes)
    try:
        return step.array[index]
    except IndexError:
        return np.full(1, np.nan)


def of_sum(numbers: Array, across: Array, value: float) -> tuple[Mistake, ...]:
    """Return the known mistakes for the sum of a row or a column; `across` is the column or row that crosses it."""
    return _wrong_only(iter([Mistake("crossed", float(across.sum())), Mistake("mean", float(numbers.mean()))]), value)


def of_size(step: Step, before: Step | None = None, group_size: int = 1) -> tuple[Mistake, ...]:
    """Return the known mistakes for the number of entries of a step.

    before      the step with another number of words
    group_size  how many heads share keys and values
    """
    n = step.array.size
    linear = 0.0 if before is None else before.array.size * step.shape[-2] / before.shape[-2]
    mistakes = [Mistake("one_side", linear)] if before is not None and before.shape[-1] != step.shape[-1] else []
    if step.axes[0] == "kv_head" and group_size > 1:
        mistakes.append(Mistake("unshared", float(n * group_size)))
    mistakes += [Mistake("one_head", n / len(step.array)), Mistake("sides", float(sum(step.shape[-2:])))]
    return _wrong_only((each for each in mistakes if each.name != "one_head" or step.array.ndim == 3), float(n))


def of_spread(value: float, divisor: float, width: int | None = None) -> tuple[Mistake, ...]:
    """Return the known mistakes for a standard deviation of divided scores.

    width  of the heads of an experiment; there learners predict from sqrt(width), not from the measured deviation
    """
    mistakes = [Mistake("variance", value**2), Mistake("twice", value / divisor)]
    expected = [] if width is None else [width**0.5 / divisor]
    for each in (value, *expected):
        mistakes += [Mistake("scale", each * divisor), Mistake("by_root", each * divisor**0.5)]
    return _wrong_only(iter(mistakes), value)


def _wrong_only(mistakes: Iterator[Mistake], right: float) -> tuple[Mistake, ...]:
    """Return the mistakes that lead to a wrong number: a few give the right one by chance."""
    return tuple(each for each in mistakes if np.isfinite(each.value) and abs(each.value - right) > 1e-6)


def _softmax(x: Array) -> Array:
    with np.errstate(invalid="ignore"):
        raised = np.exp(x - x[np.isfinite(x)].max(initial=0.0))
        return raised / raised.sum()


def _weight(runs: QuestionContext, index: tuple[int, ...]) -> Iterator[Mistake]:
    head, query, key = index
    S, masked = runs.step("scores").array[head], runs.step("masked").array[head]
    A = runs.step("weights").array[head]
    forbidden = np.isneginf(masked)
    if (S[query] != runs.step("scaled").array[head, query]).any():
        yield Mistake("scale", float(_softmax(np.where(forbidden[query], -np.inf, S[query]))[key]))
    if forbidden[query].any():  # before the columns: where all scores are equal, both lead to one number
        yield Mistake("mask", float(_softmax(runs.step("capped").array[head][query])[key]))
    yield from _written_into(runs, (head, query), key)
    if len(masked) > 1:
        yield Mistake("columns", float(_softmax(masked[:, key])[query]))
    yield Mistake("no_softmax", float(masked[query, key]))
    with np.errstate(over="ignore"):
        yield Mistake("no_sum", float(np.exp(masked[query, key])))
    if query < A.shape[1] and key < A.shape[0]:
        yield Mistake("transposed", float(A[key, query]))


def _written_into(runs: QuestionContext, index: tuple[int, int], key: int) -> Iterator[Mistake]:
    """Yield mistakes in a row that was written into: to take what was for a mask, or to divide by the sum again."""
    edits = runs.trace.config.edits
    written = {
        name: [at[2] for layer, step, at, _ in edits if (layer, step, at[:2]) == (runs.layer, name, index)]
        for name in ("masked", "weights")
    }
    row, A = runs.step("masked").array[index].copy(), runs.step("weights").array[index]
    row[written["masked"]] = -np.inf
    if written["masked"] and np.isfinite(row).any():
        yield Mistake("left_out", float(_softmax(row)[key]))
    if written["weights"] and A.sum() > 0:
        yield Mistake("divided_again", float(A[key] / A.sum()))


def _score(runs: QuestionContext, step: Step, index: tuple[int, ...]) -> Iterator[Mistake]:
    head, query, key = index
    S, scaled = runs.step("scores").array[head], runs.step("scaled").array[head]
    if step.name == "scores":
        yield Mistake("scaled_already", float(scaled[query, key]))
    else:
        yield Mistake("scale", float(S[query, key]))
        yield Mistake("by_width", float(S[query, key]) / runs.trace.config.key_widths()[0])
    array = step.head(head)
    if query < array.shape[1] and key < array.shape[0]:
        yield Mistake("transposed", float(array[key, query]))
    yield Mistake("sign", -float(step.array[index]))


def _added(runs: QuestionContext, index: tuple[int, ...]) -> Iterator[Mistake]:
    yield Mistake("no_residual", float(runs.step("output").array[index]))
    yield Mistake("only_before", float(_read(runs)[index]))


def _normed(runs: QuestionContext, index: tuple[int, ...]) -> Iterator[Mistake]:
    row, x = _read(runs)[index[0]], float(_read(runs)[index])
    yield Mistake("no_root", x / float(np.mean(row**2)))
    yield Mistake("by_length", x / float(np.sum(row**2)) ** 0.5)
    yield Mistake("unnormed", x)


def _read(runs: QuestionContext) -> Array:
    """Return the vectors that a layer reads."""
    X: Array = runs.trace.around["embedded"].array
    return X if runs.layer == 0 else result_of(runs.trace.layers[runs.layer - 1]).array


def _position(step: Step, index: tuple[int, ...]) -> Iterator[Mistake]:
    """Yield mistakes with sines: the next position, and the other one of a pair of columns."""
    row, column = index
    if row + 1 < len(step.array):
        yield Mistake("from_one", float(step.array[row + 1, column]))
    other = column + 1 if column % 2 == 0 else column - 1
    if other < step.array.shape[1]:
        yield Mistake("other_wave", float(step.array[row, other]))


def _is_reshaped(runs: QuestionContext) -> bool:
    """Return whether the heads are joined as they lie in memory, and not side by side."""
    joined, ways = runs.step("concat").array, _joined(runs)
    is_same = {name: np.array_equal(joined, way) for name, way in ways.items()}
    return is_same.get("as_they_lie", False) and not is_same["side_by_side"]


def _joined(runs: QuestionContext) -> dict[str, Array]:
    """Return the heads (h, n, d_v) joined to (n, h d_v) rightly and wrongly; none if widths differ."""
    heads = runs.step("heads")
    if heads.widths is not None:
        return {}
    shape = heads.shape[1], heads.shape[0] * heads.shape[2]
    return {"side_by_side": heads.array.swapaxes(0, 1).reshape(shape), "as_they_lie": heads.array.reshape(shape)}


def _output(runs: QuestionContext, index: tuple[int, ...]) -> Iterator[Mistake]:
    head, query, column = index
    values = runs.step("values").array[head // runs.trace.config.group_size][:, column]
    A = runs.step("weights").array[head]
    yield Mistake("unweighted", float(values.mean()))
    yield Mistake("unweighted", float(values.sum()))
    if A.shape[0] == A.shape[1]:
        yield Mistake("columns_of_weights", float(A[:, query] @ values))
