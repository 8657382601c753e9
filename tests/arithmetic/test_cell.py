"""The arithmetic of a cell is the run's: line by line from the operands, and once more from the LaTeX."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.notation.latex_numbers import MAX_ENTRIES, NumberFormat, shown_entries
from attnviz.arithmetic.notation.line_words import LINES
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import SCORES
from attnviz.formula.evaluation.arrays import of_normaliser, of_score
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.reader import parse
from tests.support.cases import for_each

SETTINGS = {
    "plain": {"d_model": 5},
    "causal": {"mask": "causal", "bias": "alibi", "softcap": 1.5, "temperature": 0.7},
    "ragged": {"n_kv_heads": 2, "d_k": (3, 5), "d_v": (2, 1), "position": "rope", "d_model": 7},
    "wide": {"d_k": 11, "d_v": 10, "d_a": 12, "scale": -0.3, "tied": True},
    "cross": {
        "second_sentence": "one two three four",
        "bias": "t5",
        "t5_n_buckets": 8,
        "projection_bias": True,
        "d_model": 6,
        "initialiser": "normal",
    },
    "deep": {"n_layers": 3, "residual": True, "norm": "pre", "feed_forward": "relu", "mask": ("window", "no_self")},
    "post": {"n_layers": 2, "norm": "post", "initialiser": "linear", "projection_bias": True, "bias": "linear"},
    "wrong way": {"normalise_over": "queries", "mask": "causal", "temperature": 2.0},
    "emptied": {"mask": ("no_self", "block"), "block_size": 1},
    "wrongly emptied": {"normalise_over": "queries", "mask": ("no_self", "causal"), "position": "rope"},
    "slim": {"d_k": 1, "d_v": 1, "d_model": 1, "initialiser": "normal"},
    "integers": {"embedding": "binary", "initialiser": "binary", "position": "none", "d_model": 3, "d_k": 2},
}


def traced(settings, score="scaled_dot", normaliser="softmax"):
    return run(Config(**({"sentence": "the cat sat on the warm mat"} | settings), score=score, normaliser=normaliser))


@functools.cache
def way(settings, score, normaliser):
    """A run, and two cells of every layer of it at 17 digits: the last, and the first or one between, in turn."""
    trace = traced(SETTINGS[settings], score, normaliser)
    last = trace.config.n_heads - 1, len(trace.query_tokens) - 1, len(trace.key_tokens) - 1
    some = (((0, 0, 0), (1, 3, 2), (2, 2, 3))[len(settings + score + normaliser) % 3], last)
    return trace, [derive(trace, layer, *at, 17) for layer in range(len(trace.layers)) for at in some]


OWN_SCORES = [name for name, row in SCORES.items() if row.lines and not row.typed]
OWN_NORMALISERS = [name for name, row in NORMALISERS.items() if (row.lines or row.written) and not row.typed]
"""The rows that say their arithmetic line by line; that of every other follows from its formula."""

WAYS = [
    *itertools.product(("plain",), OWN_SCORES, OWN_NORMALISERS),
    *itertools.product(SETTINGS, OWN_SCORES, ("softmax",)),
    *(
        (settings, ("scaled_dot", "general")[n % 2], name)
        for settings in SETTINGS
        for n, name in enumerate(OWN_NORMALISERS)
    ),
]
every_way = for_each("settings, score, normaliser", sorted(set(WAYS)))
"""The lines of a typed formula are held to its numbers in tests/exports/test_typed.py and by tests/formula."""


# --- line by line, in plain Python -----------------------------------------------------------------------------------


def times(o):
    """x W + b, the sums exact."""
    b = o["b"] if "b" in o else [0.0] * o["W"].shape[1]
    return [math.fsum([*(x * w for x, w in zip(o["x"], column)), plus]) for column, plus in zip(o["W"].T, b)]


def turned(o):
    x, y = o["x"], list(o["x"])
    for pair, angle in enumerate(o["angles"]):
        z = complex(x[2 * pair], x[2 * pair + 1]) * complex(math.cos(angle), math.sin(angle))
        y[2 * pair], y[2 * pair + 1] = z.real, z.imag
    return y


def weighed(o):
    if "threshold" in o:
        above = max(o["u"] - o["threshold"], 0.0)
        return {"sparsemax": above, "entmax15": above**2}
    if "winners" in o:
        return (o["x"] == o["m"]) / o["winners"]
    assert np.isneginf(o["x"]).all()
    return 0.0


def threshold(o):
    if "mean" in o:
        return o["mean"] - math.sqrt(max((1 - o["spread"]) / o["k"], 0.0))
    return (o["sum"] - 1) / o["k"]


def support(o):
    """The support is the largest set, from the top, whose own threshold lies below all of it: found by trying."""
    x = [v for v in o["falling"] if v > -math.inf]

    def sparsemax(k):
        return (math.fsum(x[:k]) - 1) / k

    def entmax15(k):
        mean = math.fsum(x[:k]) / k
        return mean - math.sqrt(max((1 - math.fsum((v - mean) ** 2 for v in x[:k])) / k, 0.0))

    found = {}
    for rule in (sparsemax, entmax15):
        found[rule.__name__] = max(k for k in range(1, len(x) + 1) if x[k - 1] > rule(k) or k == 1)
    return found


RULES = {
    "query": times,
    "key": times,
    "value": times,
    "turned_query": turned,
    "turned_key": turned,
    "scale": lambda o: o["scale"] * o["score"],
    "softcap": lambda o: o["softcap"] * math.tanh(o["score"] / o["softcap"]) if "softcap" in o else o["score"],
    "bias": lambda o: o["score"] + o["bias"],
    "mask": lambda o: o["score"] if o["allowed"] else -math.inf,
    "temperature": lambda o: o["score"] / o["T"],
    "largest": lambda o: max(o["x"]),
    "exponents": lambda o: (o["x"] - o["m"]) / o["divisor"],
    "winners": lambda o: sum(1 for x in o["x"] if x == o["m"]),
    "support": support,
    "sum_of_support": lambda o: math.fsum(o["terms"]),
    "mean": lambda o: o["sum"] / o["k"],
    "spread": lambda o: math.fsum((x - o["mean"]) ** 2 for x in o["terms"]),
    "threshold": threshold,
    "weight": weighed,
    "share": lambda o: o["weight"] * o["value"],
    "output": times,
}

EXACT = ("scale", "bias", "mask", "products", "differences", "squares", "share", "winners", "largest", "positive")
"""Lines made of one operation on each number, which IEEE 754 rounds in one way only: equal to the last bit."""


def over_all(function):
    """A function of one number, for each of several too."""
    return lambda x: [function(each) for each in x] if np.ndim(x) else function(x)


PLAIN = {
    "sum": math.fsum,
    "max": lambda *x: max(np.ravel(x[0])) if len(x) == 1 else max(x),
    "norm": lambda x: math.sqrt(math.fsum(each * each for each in x)),
    "ratio": lambda x, y: x / y if y else 0.0,
    "relu": over_all(lambda x: max(x, 0.0)),
    "exp": over_all(math.exp),
    "tanh": over_all(math.tanh),
    "sqrt": math.sqrt,
}
"""The functions of a line once more, in plain Python."""


def row_lines(config):
    """The lines that the rows of a setting say, by their names."""
    rows = SCORES[config.score].lines + NORMALISERS[config.normaliser].lines
    return {line.name: line for line in rows}


def recomputed(line, cell, config):
    o = line.operands
    if {"x", "W"} <= o.keys():
        return np.array(times(o))
    if line.name not in row_lines(config) or (cell.emptied and line.name == "weight"):
        made = RULES[line.name](o)
        made = made[config.normaliser] if isinstance(made, dict) else made
        return np.array(made, dtype=float)
    code = row_lines(config)[line.name].formula.rpartition(" = ")[2].replace("W[:, j]", "W")
    code = code if "T" in o else code.replace(" / T", "")
    code = code if "b" in o else code.replace(" + b", "")
    return np.array(eval(code, {"__builtins__": {}}, PLAIN | dict(o)), dtype=float)  # noqa: S307 - our own lines


def size(line):
    """How large the numbers are that a line adds up."""
    o = line.operands
    if "W" in o and "x" in o:
        return np.abs(o["x"]) @ np.abs(o["W"]) + np.abs(o.get("b", 0.0))
    vectors = [np.abs(x[np.isfinite(x)]).sum() for x in o.values() if x.ndim == 1]
    return 1.0 + max(vectors, default=0.0)


@pytest.mark.slow
@every_way
def test_every_line_follows_from_its_operands(settings, score, normaliser):
    """The lines of a typed formula are held to its numbers in tests/exports/test_typed.py and by tests/formula."""
    trace, cells = way(settings, score, normaliser)
    for cell in cells:
        for line in cell.lines:
            made = recomputed(line, cell, trace.config)
            if line.name in EXACT:
                np.testing.assert_array_equal(line.result, made, err_msg=line.name)
                np.testing.assert_array_equal(line.computed, made, err_msg=line.name)
            with np.errstate(invalid="ignore"):  # infinity minus itself
                near = np.abs(line.result - made) <= 1e-12 * size(line)
            assert np.all(near | (line.result == made)), line.name


SOURCES = {
    ("turned_query", "x"): ("query",),
    ("turned_key", "x"): ("key",),
    ("transformed_query", "x"): ("turned_query", "query"),
    ("hidden_query", "x"): ("turned_query", "query"),
    ("hidden_key", "x"): ("turned_key", "key"),
    ("scale", "score"): ("score",),
    ("softcap", "score"): ("scale",),
    ("bias", "score"): ("softcap",),
    ("mask", "score"): ("bias", "softcap"),
    ("temperature", "score"): ("mask",),
    ("exponents", "m"): ("largest",),
    ("winners", "m"): ("largest",),
    ("sum_of_support", "k"): ("support",),
    ("mean", "sum"): ("sum_of_support",),
    ("mean", "k"): ("support",),
    ("spread", "mean"): ("mean",),
    ("spread", "k"): ("support",),
    ("threshold", "sum"): ("sum_of_support",),
    ("threshold", "mean"): ("mean",),
    ("threshold", "spread"): ("spread",),
    ("threshold", "k"): ("support",),
    ("weight", "m"): ("largest",),
    ("weight", "winners"): ("winners",),
    ("weight", "threshold"): ("threshold",),
    ("share", "value"): ("value",),
    ("share", "weight"): ("weight",),
}
"""Operands that are the result of an earlier line."""


def sources_of(config):
    """Operands of the lines that the rows say: each is named as the line that made it."""
    made = {"q": ("turned_query", "query"), "k": ("turned_key", "key")}
    found = {}
    for line in row_lines(config).values():
        name, _, code = line.formula.rpartition(" = ")
        found |= {(line.name, each): made[each] for each in re.findall(r"[a-z]\w*", code) if each in made}
        made[name] = (line.name,)
    return found


def numbers_of_the_run(trace, cell):
    """Every other operand: where it stands in the trace or among the settings."""
    config, steps = trace.config, trace.layers[cell.layer]
    h, g, i, j = cell.head, cell.head // (config.n_heads // config.kv_heads), cell.query, cell.key
    k, v, keys = slice(cell.d_k), slice(cell.d_v), config.normalise_over == "keys"
    before = trace["embedded"] if cell.layer == 0 else list(trace.layers[cell.layer - 1].values())[-1]
    X = steps["normed" if config.norm == "pre" else "queries"].array if config.norm == "pre" else before.array
    X_kv = trace["embedded_kv"].array if config.second_sentence else X
    line = steps["masked"].array[h, i] if keys else steps["masked"].array[h, :, j]
    T = config.temperature
    pairs = np.arange(cell.d_k // 2)

    def held(name, *index):
        return steps[name].array[index] if name in steps else None

    c = config.scale if config.scale is not None else 1 / math.sqrt(cell.d_k) if config.score == "scaled_dot" else 1.0
    return {
        ("query", "x"): X[i],
        ("query", "W"): held("w_q", h, slice(None), k),
        ("query", "b"): held("b_q", h, k),
        ("key", "x"): X_kv[j],
        ("key", "W"): held("w_k", g, slice(None), k),
        ("key", "b"): held("b_k", g, k),
        ("value", "x"): X_kv[j],
        ("value", "W"): held("w_v", g, slice(None), v),
        ("value", "b"): held("b_v", g, v),
        ("turned_query", "angles"): i * config.rope_base ** (-2 * pairs / cell.d_k),
        ("turned_key", "angles"): j * config.rope_base ** (-2 * pairs / cell.d_k),
        ("transformed_query", "W"): held("score_w", h, k, k),
        ("hidden_query", "W"): held("score_w_q", h, k),
        ("hidden_key", "W"): held("score_w_k", h, k),
        ("hidden", "b"): held("score_b", h),
        ("products", "v"): held("score_v", h),
        ("products", "W"): held("score_w", h, k, j) if config.score == "location" else None,
        ("scale", "scale"): c,
        ("softcap", "softcap"): config.softcap,
        ("bias", "bias"): held("bias", h, i, j) if "bias" in steps else 0.0,
        ("mask", "allowed"): held("allowed", i, j),
        ("temperature", "T"): T,
        ("largest", "x"): line,
        ("largest", "s"): line,
        ("positive", "s"): line,
        ("exponents", "x"): line,
        ("exponents", "s"): line,
        ("exponents", "T"): T,
        ("exponents", "divisor"): 2 * T if config.normaliser == "entmax15" else T,
        ("one", "T"): T,
        ("winners", "x"): line,
        ("weight", "x"): line
        if cell.emptied
        else line[j if keys else i] / (T if config.normaliser == "sigmoid" else 1.0),
        ("output", "x"): held("weights", h, i),
        ("output", "W"): held("values", g, slice(None), v),
    }


def of_the_row(cell, done):
    """Operands that are some entries of an earlier line."""
    at = cell.key if cell.over == "keys" else cell.query
    entries = {}
    if "exponents" in done:
        falling = -np.sort(-done["exponents"])
        terms = falling[: int(done.get("support", 0))]
        entries = {("support", "falling"): falling, ("sum_of_support", "terms"): terms, ("spread", "terms"): terms}
        entries["weight", "u"] = done["exponents"][at]
    for name, letter in (("exponentials", "e"), ("positive", "p")):
        entries |= {("weight", letter): done[name][at]} if name in done else {}
    return entries


@pytest.mark.slow
@every_way
def test_every_operand_is_a_result_before_it_or_a_number_of_the_run(settings, score, normaliser):
    trace, cells = way(settings, score, normaliser)
    sources = SOURCES | sources_of(trace.config)
    for cell in cells:
        run_s, done = numbers_of_the_run(trace, cell), {}
        for line in cell.lines:
            for name, operand in line.operands.items():
                at = (line.name, name)
                found = [done[source] for source in sources.get(at, ()) if source in done]
                expected = of_the_row(cell, done).get(at, found[0] if found else run_s.get(at))
                assert expected is not None, at
                np.testing.assert_array_equal(operand, expected, err_msg=str(at))
            done[line.name] = line.result


@pytest.mark.slow
@every_way
def test_results_are_the_recorded_numbers_to_the_last_bit(settings, score, normaliser):
    trace, cells = way(settings, score, normaliser)
    for cell in cells:
        steps, seen = trace.layers[cell.layer], set()
        for line in cell.lines:
            if line.step:
                array, seen = steps[line.step].array, seen | {line.step}
                row = cell.key if line.step.endswith(("keys", "values")) else cell.query
                head = cell.kv_head if line.step.endswith(("keys", "values")) else cell.head
                at = (head, row) if line.result.ndim else (head, row, cell.key)
                np.testing.assert_array_equal(
                    line.result, array[at][: line.result.size] if line.result.ndim else array[at]
                )
            assert not line.edited, line.name
        assert seen >= {"queries", "keys", "values", "scores", "scaled", "capped", "masked", "weights", "heads"}
        assert cell.edited == ()


# --- once more, from the LaTeX ---------------------------------------------------------------------------------------

BOUNDARY = r"(?:^|(?<=[\s({,&]))"
NUMBER = r"\d+(?:\.\d+)?(?: \\times 10\^\{-?\d+\})?"


def statements(latex):
    """The chains of an `aligned`: for each the members, the first of which is the symbol."""
    body = re.fullmatch(r"\\begin\{aligned\}\n(.*)\n\\end\{aligned\}", latex, re.DOTALL).group(1)
    body = re.sub(r" \\\\\n&\\quad (?!\\text)", " ", body)
    chains = []
    for line in body.split(" \\\\\n"):
        if r"\vdots" in line:
            continue
        left, right = line.split("&", 1)
        if left.strip():
            chains.append([left.strip()])
        chains[-1] += [member.strip() for member in re.split(r" = |^= ", right) if member.strip()]
    return chains


def value(member):
    """What a member of a chain is worth: a float, a list of them, or None if it holds a symbol or is cut short."""
    code = re.sub(r"\\underbrace\{\\cdots\}_\{((?:[^{}]|\{[^{}]*\})*)\}", r"(\1)", member)
    if r"\cdots" in code:
        return None
    code = re.sub(r"(\d+(?:\.\d+)?) \\times 10\^\{(-?\d+)\}", r"\1e\2", code)
    code = code.replace(r"\infty", "inf").replace(r"\tfrac{1}{2}", "0.5").replace(r"\left", "").replace(r"\right", "")
    for command in ("cos", "sin", "tanh", "max"):
        code = code.replace(f"\\{command}", command)
    code = code.replace(r"\cdot", "*").replace(r"\,", "").replace(r"\;", "")
    inner = r"((?:[^{}]|\{[^{}]*\})*)"
    for _ in range(4):
        code = re.sub(rf"e\^\{{{inner}\}}", r"exp(\1)", code)
        code = re.sub(rf"\\sqrt\{{{inner}\}}", r"sqrt(\1)", code)
        code = re.sub(rf"\\frac\{{{inner}\}}\{{{inner}\}}", r"((\1)/(\2))", code)
    code = re.sub(r"(?<!e)\^\{(\d+)\}", r"^\1", code).replace("^", "**")
    if re.search(r"[\\{}_]|(?<![a-z0-9.])(?!inf|exp|sqrt|cos|sin|tanh|max|e-?\d)[A-Za-z]", code):
        return None
    known = {name: getattr(math, name) for name in ("exp", "sqrt", "cos", "sin", "tanh", "inf")}
    return eval(code, {"__builtins__": {}}, known | {"max": max})  # noqa: S307 - our own formulas


def test_the_reader_of_latex_reads():
    latex = NumberFormat(5).number(-1.5e-9)
    assert value(latex) == -1.5e-9
    assert value(r"\frac{1}{1 + e^{-2}} - \sqrt{\frac{\max(1 - (-3),\, 0)}{4}}") == 1 / (1 + math.exp(-2)) - 1
    assert value(r"(2 \cdot (-3),\; (-2)^2,\; e^{-\infty})") == (-6, 4, 0)
    assert value(r"q_{3} \cdot k_{2}") is None
    assert value(r"x_{3} W_Q^{(2)}") is None
    assert value("1 + \\cdots + 2") is None
    assert value(r"1 + \underbrace{\cdots}_{-2 \times 10^{-1}} + 2") == 2.8
    assert value(r"\frac{e^{u_{3}}}{\sum_l e^{u_l}}") is None


def is_near(left, right, member):
    """Equal up to the last digits of the largest number that the member writes."""
    written = [float(re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", x)) for x in re.findall(NUMBER, member)]
    room = 1e-13 * max([1.0, *(x * x for x in written)])
    same = (np.asarray(left) == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        return bool(np.all(same | (np.abs(np.subtract(left, right)) <= room)))


def checked(cell):
    """The lines in which two members that hold only numbers were compared; the last is the result to the last bit."""
    held = set()
    for line in cell.lines:
        chains = statements(line.latex)
        for chain in chains:
            numeric = [(member, x) for member, x in ((m, value(m)) for m in chain[1:]) if x is not None]
            for (member, x), (_, y) in itertools.pairwise(numeric):
                assert is_near(x, y, member), (line.name, member)
                held.add(line.name)
        last = value(chains[-1][-1])
        if last is None:
            assert line.computed.size > MAX_ENTRIES
        else:
            np.testing.assert_array_equal(np.ravel(last), np.ravel(line.computed), err_msg=line.name)
    return held


@pytest.mark.slow
@every_way
def test_every_equals_sign_in_the_latex_holds(settings, score, normaliser):
    for cell in way(settings, score, normaliser)[1]:
        checked(cell)


@pytest.mark.slow
def test_the_equals_signs_of_every_kind_of_line_are_checked():
    ways = [("causal", name, "softmax") for name, row in SCORES.items() if row.lines]
    ways += [("plain", "scaled_dot", name) for name, row in NORMALISERS.items() if row.lines or row.written]
    ways.append(("ragged", "dot", "softmax"))
    held = {name for each in ways for cell in way(*each)[1] for name in checked(cell)}
    named = {line.name for rows in (SCORES, NORMALISERS) for row in rows.values() for line in row.lines}
    assert (RULES.keys() | named) - held == {"mask", "largest", "winners", "support"}  # nothing is calculated in these


# --- what is said ----------------------------------------------------------------------------------------------------

EDITS = {
    "queries": ("query", (1, 3, 1)),
    "keys": ("key", (1, 2, 1)),
    "values": ("value", (1, 2, 1)),
    "scores": ("score", (1, 3, 2)),
    "scaled": ("scale", (1, 3, 2)),
    "capped": ("softcap", (1, 3, 2)),
    "masked": ("mask", (1, 3, 2)),
    "weights": ("weight", (1, 3, 2)),
    "heads": ("output", (1, 3, 1)),
}


@for_each("step", EDITS)
@for_each("score", OWN_SCORES)
@pytest.mark.slow
def test_an_edit_is_said_where_it_is_made_and_nowhere_else(step, score):
    name, index = EDITS[step]
    settings = SETTINGS["causal"] | {"score": score, "sentence": "the cat sat on the mat"}
    cell = derive(run(Config(**settings), edits=[(0, step, index, 7.25)]), 0, 1, 3, 2, 17)
    assert cell.edited == (name,)
    line = cell[name]
    assert "Edited" in line.sentence
    assert r"\text{edited to}\; " in line.latex
    assert "7.25" in line.latex.split("edited to")[1]
    for other in cell.lines:
        assert ("Edited" in other.sentence) == ("edited" in other.latex) == (other.name == name)
    values = [
        x for x in map(value, statements(line.latex.split(r" \\\n&\quad \text")[0] + "\n\\end{aligned}")[-1]) if x
    ]
    np.testing.assert_array_equal(np.ravel(values[-1]), np.ravel(line.computed))
    assert np.any(line.result != line.computed)
    after = cell.lines[cell.lines.index(line) + 1 :]
    for other in after:  # all that follows uses it
        np.testing.assert_allclose(recomputed(other, cell, Config(**settings)), other.result, rtol=1e-12, atol=1e-12)


def test_an_edit_in_the_seventh_digit_is_seen():
    trace = run(Config())
    for step, (name, index) in EDITS.items():
        changed = trace[step].array[index] * (1 + 1e-7)
        assert derive(run(Config(), edits=[(0, step, index, changed)]), 0, 1, 3, 2).edited == (name,)


def test_what_overflows_on_paper_only_is_no_edit():
    edits = [(0, "queries", (0, 1, 0), 1e200)]  # its square is infinite, the distance is not
    for score in ("negative_distance", "cosine", "gaussian", "dot", "additive"):
        cell = derive(run(Config(score=score), edits=edits), 0, 0, 1, 0)
        assert cell.edited == ("query",)


def test_a_forbidden_score_that_was_edited_open_is_seen():
    cell = derive(run(Config(mask="causal"), edits=[(0, "masked", (1, 2, 3), 7.0)]), 0, 1, 2, 3)
    assert cell.edited == ("mask",)
    assert cell["mask"].latex.endswith("\\text{edited to}\\; 7\n\\end{aligned}")
    assert cell["weight"].result > 0


def test_a_sigmoid_far_from_zero_is_written_without_overflow():
    trace = run(Config(normaliser="sigmoid", scale=1000.0))
    for key in range(7):
        assert "weight" in checked(derive(trace, 0, 0, 3, key, 17))
    assert np.abs(trace["masked"].array[0, 3]).max() > 1000


def test_an_edit_before_a_turn_and_after_it():
    settings = SETTINGS["ragged"] | {"sentence": "the cat sat on the mat"}
    before = derive(run(Config(**settings), edits=[(0, "projected_keys", (0, 2, 1), 3.0)]), 0, 1, 3, 2)
    after = derive(run(Config(**settings), edits=[(0, "keys", (0, 2, 1), 3.0)]), 0, 1, 3, 2)
    assert before.kv_head == 0
    assert before.edited == ("key",)
    assert after.edited == ("turned_key",)


def test_an_edited_mask_and_an_edited_bias_say_so():
    config = Config(sentence="a b c d", mask="causal", bias="alibi")
    opened = derive(run(config, edits=[(0, "allowed", (0, 3), 1)]), 0, 0, 0, 3)
    assert opened.allowed
    assert opened.forbidden_by == ("causal",)
    assert "the mask was edited, so the score stays" in opened["mask"].sentence
    closed = derive(run(config, edits=[(0, "allowed", (3, 0), 0)]), 0, 0, 3, 0)
    assert not closed.allowed
    assert closed.forbidden_by == ()
    assert closed["mask"].sentence.endswith("the mask was edited, the settings would allow it.")
    assert closed["mask"].result == -np.inf
    assert closed["weight"].result == 0
    biased = derive(run(config, edits=[(0, "bias", (0, 3, 0), 2.5)]), 0, 0, 3, 0)
    assert biased["bias"].sentence == "Added to the score. Edited: the settings give -0.75, it was set to 2.5."
    never = derive(run(config, edits=[(0, "bias", (0, 3, 0), -np.inf)]), 0, 0, 3, 0)
    assert never["mask"].sentence.endswith("minus infinity was added to its score.")
    assert r"-\infty" in never["mask"].latex
    assert never["weight"].result == 0
    sunk = derive(run(config, edits=[(0, "scores", (0, 3, 0), -np.inf)]), 0, 0, 3, 0)
    assert sunk["mask"].sentence.endswith("its score is minus infinity.")


def test_a_forbidden_cell_names_the_masks_that_forbid_it():
    trace = run(Config(sentence="a b c d", mask=("causal", "window", "no_self"), reach=1))
    assert derive(trace, 0, 0, 0, 3).forbidden_by == ("causal", "window")
    assert derive(trace, 0, 0, 0, 3)["mask"].sentence == (
        "Query 1 may not attend to key 4: the masks “Causal” and “Sliding window” forbid it."
    )
    assert derive(trace, 0, 0, 1, 1)["mask"].sentence.endswith("the mask “Not itself” forbids it.")
    more = run(Config(sentence="a b c d", mask=("causal", "window", "no_self", "block"), reach=1, block_size=2))
    assert derive(more, 0, 0, 0, 3)["mask"].sentence.endswith(
        "the masks “Causal”, “Sliding window” and “Blocks” forbid it."
    )
    assert derive(trace, 0, 0, 1, 0)["mask"].sentence == "Query 2 may attend to key 1, so the score stays."


def test_padding_is_seen():
    cell = derive(run(Config(sentence="a b", pad_to=4, mask="padding")), 0, 0, 1, 3)
    assert cell.key_token == "<pad>"
    assert cell.forbidden_by == ("padding",)


@for_each("normaliser", NORMALISERS)
def test_an_emptied_row_says_so(normaliser):
    trace = run(Config(sentence="a b c", mask=("no_self", "causal"), normaliser=normaliser))
    cell = derive(trace, 0, 0, 0, 1)
    assert cell.emptied
    assert [line.name for line in cell.weight] == ["weight"]
    assert cell["weight"].sentence == "The row has nothing that may be attended to: every weight is 0."
    assert cell["weight"].result == 0
    assert not cell["output"].result.any()
    assert cell.edited == ()
    assert not derive(trace, 0, 0, 1, 0).emptied


def test_a_row_without_a_positive_score_says_so():
    trace = run(Config(sentence="a b c", score="negative_distance", normaliser="linear", mask="no_self"))
    assert derive(trace, 0, 0, 0, 1)["weight"].sentence == "No score of the row is positive, so all weights are 0."


def test_a_vector_of_zeros_has_no_direction():
    numbers = {"embedding": "own", "own_numbers": "1 2\n0 0\n3 1", "d_model": 2, "position": "none"}
    cell = derive(run(Config(sentence="a b c", score="cosine", **numbers)), 0, 0, 0, 1)
    assert cell["score"].result == 0
    assert "no direction" in cell["score"].sentence
    assert cell.edited == ()
    assert "frac" not in cell["score"].latex


def test_heads_of_a_group_share_a_key_and_a_value():
    trace = traced(SETTINGS["ragged"])
    first, second, third = (derive(trace, 0, h, 3, 2) for h in range(3))
    assert (first.kv_head, second.kv_head, third.kv_head) == (0, 0, 1)
    assert (first.d_k, first.d_v, third.d_k, third.d_v) == (3, 2, 5, 1)
    np.testing.assert_array_equal(first["turned_key"].result, second["turned_key"].result)
    assert first["key"].sentence.startswith(
        "Row 3 of what is attended to times W_K of key/value head 1, which heads 1 to 2"
    )
    assert len(first["output"].result) == 2
    assert len(third["products"].bars) == 5


def test_the_wrong_way_reads_a_column():
    cell = derive(traced(SETTINGS["wrong way"]), 0, 0, 3, 2)
    assert cell.over == "queries"
    assert cell.line_tokens == ("the", "cat", "sat", "on", "the", "warm", "mat")
    assert "column" in cell["largest"].title
    assert r"\hat s_{l,3}" in cell["largest"].latex
    assert cell["exponentials"].bars[3][0] == "query 4"


def test_bars_are_named_for_what_they_are():
    trace = traced({"d_k": 2})
    assert [label for label, _ in derive(trace, 0, 0, 3, 2)["products"].bars] == ["dim 1", "dim 2"]
    assert [x for _, x in derive(trace, 0, 0, 3, 2)["products"].bars] == derive(trace, 0, 0, 3, 2)[
        "products"
    ].result.tolist()
    distance = derive(traced({"d_k": 2}, "gaussian"), 0, 0, 3, 2)
    assert distance["squares"].bars[1][0] == "dim 2"


@for_each("score", SCORES)
def test_no_bar_is_named_as_the_vector_of_a_token_is(score):
    """q_3 is the query of token 3, so the third entry of a vector is never called q3."""
    for settings in ("causal", "ragged"):
        for line in derive(traced(SETTINGS[settings], score), 0, 0, 3, 2).lines:
            for label, _ in line.bars:
                assert re.fullmatch(r"(dim|key|query) \d+", label), (line.name, label)


STAGES = r"(\\hat s|s''|s'|(?<![a-z\\])s|B)_\{"


@pytest.mark.slow
@for_each("settings", SETTINGS)
@for_each("extra", [{}, {"mask": "causal"}, {"bias": "alibi"}, {"softcap": 2.0}, {"scale": 1.0}])
def test_no_line_names_a_score_that_no_line_before_it_has_named(settings, extra):
    trace = traced(SETTINGS[settings] | extra)
    for at in ((0, 3, 2), (1, 2, 3), (0, 0, 0)):
        named = {"B"}
        for line in derive(trace, 0, *at).lines:
            if line.active or line.edited:
                for symbol, *members in statements(line.latex):
                    used = {name for member in members for name in re.findall(STAGES, member)}
                    assert used <= named, (line.name, line.latex)
                    named |= set(re.findall(STAGES, symbol))


def test_the_mask_goes_on_with_the_score_that_is_there():
    trace = traced({"mask": "causal"})
    assert r"\hat s_{3,2} &= s'_{3,2}" in derive(trace, 0, 1, 2, 1)["mask"].latex
    biased = traced({"mask": "causal", "bias": "alibi"})
    assert r"\hat s_{3,2} &= s'_{3,2} + B_{3,2}" in derive(biased, 0, 1, 2, 1)["mask"].latex
    assert r"s'_{3,l} &=" in derive(traced({}), 0, 1, 2, 1)["largest"].latex
    assert r"\hat s_{3,l} &=" in derive(trace, 0, 1, 2, 1)["largest"].latex


# --- zero but for rounding -------------------------------------------------------------------------------------------


DUST = r"10\^\{-(?:1[2-9]|[2-9]\d|\d{3})\}"


@pytest.mark.slow
def test_what_is_zero_but_for_rounding_is_written_as_zero_and_said():
    trace = run(Config(initialiser="by_hand", sentence="the cat sat on the warm mat"))
    dusty = noted = 0
    for head, query in itertools.product(range(4), range(7)):
        exact, cell = derive(trace, 0, head, query, 2, 17), derive(trace, 0, head, query, 2)
        for fine, line in zip(exact.lines, cell.lines):
            if line.name not in ("exponentials", "sum", "weight", "share", "output", "exponents"):
                assert not re.search(DUST, line.latex), line.latex
                dusty += bool(re.search(DUST, fine.latex))
                noted += "zero up to rounding" in line.sentence
            np.testing.assert_array_equal(fine.result, line.result)  # only what is written is another
            assert "zero up to rounding" not in fine.sentence
    assert dusty > 5
    assert noted >= dusty


def test_a_small_number_that_is_no_rounding_stays():
    edits = [(0, "queries", (0, 1, 0), 1e200)]
    cell = derive(run(Config(), edits=edits), 0, 0, 1, 0)
    assert all(NumberFormat(4).number(x) in cell["query"].latex.split("edited to")[1] for x in cell["query"].result)
    sharp = derive(run(Config(scale=20.0)), 0, 0, 3, 0)
    smallest = NumberFormat(4).number(sharp["exponentials"].result.min())
    assert re.search(DUST, smallest)
    assert smallest in sharp["sum"].latex


HOSTILE = r"\frac{ $x$ </script> [a](b) **c** #d %e &f {g} _h ~i ^j"
COMMANDS = (
    r"begin end quad text vdots cdots cdot times infty frac tfrac sqrt cos sin tanh max left right bigl bigr hat tilde "
    r"bar odot sum textstyle mathrm tau sigma le dots underbrace"
)
"""What the LaTeX may hold: KaTeX was seen to set each of them."""


@for_each("settings", SETTINGS)
def test_tokens_stay_out_of_latex_and_sentences(settings):
    config = {**SETTINGS[settings], "sentence": HOSTILE, "tokeniser": "whitespace"}
    trace = traced(config)
    for cell in (derive(trace, 0, 1, 3, 2), derive(trace, 0, 0, 0, 3)):
        assert cell.query_token in HOSTILE
        for line in cell.lines:
            assert set(re.findall(r"\\([a-zA-Z]+)", line.latex)) <= set(COMMANDS.split()), line.latex
            assert not re.search(r"[$#%~\[\]<>]", line.latex)
            assert line.latex.count("{") == line.latex.count("}")
            assert "nan" not in line.latex
            assert not re.search(r"[$#~*\[\]<>{}\\]", line.title + line.sentence)


@for_each("digits", [1, 18, 0, -3])
def test_digits_outside_the_range_are_refused(digits):
    with pytest.raises(ValueError, match=f"digits is {digits}; choose 2 to 17"):
        derive(traced({}), 0, 0, 0, 0, digits)


@for_each("at", [(1, 0, 0, 0), (0, 4, 0, 0), (0, 0, 7, 0), (0, 0, 0, 7), (0, 0, 0, -1)])
def test_a_cell_that_is_not_there_is_refused(at):
    with pytest.raises(ValueError, match="choose 0 to"):
        derive(traced({}), *at)


def test_digits_change_what_is_written_and_nothing_else():
    trace = traced({})
    few, many = derive(trace, 0, 1, 3, 2, 2), derive(trace, 0, 1, 3, 2, 17)
    for line, other in zip(few.lines, many.lines):
        np.testing.assert_array_equal(line.result, other.result)
        assert line.name == other.name
    assert len(few["score"].latex) < len(many["score"].latex)


@for_each(
    "x, digits, written",
    [
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (0.12345, 3, "0.123"),
        (1234.5678, 2, "1235"),
        (-1e6, 4, r"-1 \times 10^{6}"),
        (1.26e-5, 2, r"1.3 \times 10^{-5}"),
        (0.000126, 2, "0.00013"),
        (9.999, 2, "10"),
        (0.1, 17, "0.10000000000000001"),
        (-math.inf, 5, r"-\infty"),
        (math.inf, 5, r"\infty"),
        (math.nan, 5, r"\mathrm{NaN}"),
    ],
)
def test_numbers_are_written(x, digits, written):
    assert NumberFormat(digits).number(x) == written


def test_a_number_of_17_digits_comes_back_unchanged():
    numbers = np.random.default_rng(5).normal(size=2000) * 10.0 ** np.random.default_rng(6).integers(-300, 300, 2000)
    for x in numbers:
        assert value(NumberFormat(17).number(x)) == x


@for_each("n", range(1, 30))
def test_what_is_left_out_is_never_the_cell_itself(n):
    for keep in range(n):
        positions = [position for position in shown_entries(n, keep) if position is not None]
        assert keep in positions
        assert positions[-1] == n - 1
        assert positions[0] == 0
        assert positions == sorted(set(positions))
        assert len(positions) <= MAX_ENTRIES
        gaps = sum(b - a > 1 for a, b in itertools.pairwise(positions))
        assert shown_entries(n, keep).count(None) == gaps


def test_the_sum_is_complete_where_terms_are_left_out():
    cell = derive(traced({"d_k": 20}), 0, 0, 3, 2)
    assert r"\cdots" in cell["score"].latex
    assert len(cell["score"].operands["products"]) == 20
    long = derive(traced({"sentence": " ".join(f"w{n}" for n in range(30))}), 0, 0, 3, 20)
    assert long["sum"].latex.count(r"\cdots") == 2  # on either side of key 21
    assert len(long["sum"].operands["e"]) == 30
    term = NumberFormat(4).product(long["weight"].result, long["value"].result[0])
    assert term in long["output"].latex


def test_every_score_and_normaliser_has_arithmetic_of_its_own():
    for own, rows in ((OWN_SCORES, SCORES), (OWN_NORMALISERS, NORMALISERS)):
        assert set(own) == {name for name, row in rows.items() if not row.typed} - {"formula"}
    assert {name for name, row in POSITIONS.items() if row.rotate} == {"rope"}


@for_each("name", [name for name, row in SCORES.items() if row.lines])
def test_the_lines_of_a_score_say_its_definition(name):
    row, draws = SCORES[name], np.random.default_rng(3)
    lines, line = (parse(text) for text in ("; ".join(each.formula for each in row.lines), row.unscaled or row.line))
    Q, K = draws.normal(size=(2, 1, 5, 4))
    own = {
        each: draws.normal(size=(1, *(5 if axis == "key" else 4 for axis in axes)))
        for each, axes in row.parameters.items()
    }
    made, wanted = (Numbers(of_score(each, Q, K, own))(each.root) for each in (lines, line))
    np.testing.assert_allclose(np.broadcast_to(made, wanted.shape), wanted, rtol=1e-12, atol=1e-12)


OF_LINES = [("score", name) for name in ("scaled_cosine", "qk_norm", "multiplicative_tanh")]
OF_LINES += [("normaliser", name) for name, row in NORMALISERS.items() if row.typed and row.lines]


@for_each("field, name", OF_LINES)
@for_each("T", [1.0, 0.6])
def test_a_row_that_is_its_line_says_it_in_words_of_its_own(field, name, T):
    trace = run(Config(sentence="the cat sat on the mat", mask="causal", temperature=T, **{field: name}))
    row = (SCORES if field == "score" else NORMALISERS)[name]
    for cell in (derive(trace, 0, h, i, j) for h, i, j in ((0, 5, 2), (1, 3, 3), (2, 0, 0))):
        found = {line.name: line for line in (cell.score if field == "score" else cell.weight)}
        assert not cell.edited
        for each in row.lines:
            assert found[each.name].title == each.title.format(line="row")
        assert "nan" not in " ".join(line.latex for line in cell.lines)
        step = "scores" if field == "score" else "weights"
        last = found["score" if field == "score" else "weight"].computed
        np.testing.assert_allclose(last, trace[step].array[cell.head, cell.query, cell.key], rtol=1e-12, atol=1e-15)


@for_each("row", [*SCORES.values(), *NORMALISERS.values()])
def test_every_row_has_words_of_its_own(row):
    worded = row.lines or getattr(row, "written", None) or row.name == "formula"
    assert worded, "its file says the arithmetic of a cell in words: lines=(CellLine(...), ...), see rows/line_row.py"


@for_each("T", [1.0, 0.6])
@for_each("name", [name for name, row in NORMALISERS.items() if row.lines])
def test_the_lines_of_a_normaliser_say_its_definition(name, T):
    row, s = NORMALISERS[name], np.random.default_rng(4).normal(size=(1, 6, 5))
    knobs = {knob.name: knob.default for knob in row.knobs}
    lines = parse("; ".join(each.formula for each in row.lines), "normaliser_lines", knobs)
    arrays = of_normaliser(s / T)
    values = {**arrays.values, "s": s[..., None], "T": np.full((1, 1, 1, 1), T)}
    made = Numbers(dataclasses.replace(arrays, values=values))(lines.root)[..., 0]
    np.testing.assert_allclose(made, row.fn(s, T), rtol=1e-12, atol=1e-12)


def run_quietly(config, edits):
    """A run in which infinity times zero is NaN and nobody minds."""
    with np.errstate(invalid="ignore"):
        return run(config, edits=edits)


def test_infinite_numbers_neither_stop_it_nor_count_as_edits():
    config = Config(sentence="a b c")
    valued = run_quietly(config, [(0, "values", (0, 1, 0), -np.inf)])
    assert derive(valued, 0, 0, 1, 1).edited == ("value",)
    assert derive(valued, 0, 0, 2, 0).edited == ()
    lost = run_quietly(config, [(0, "queries", (0, 1, 0), -np.inf)])
    assert derive(lost, 0, 0, 1, 0).edited == ("query",)
    assert derive(lost, 0, 0, 0, 1).edited == ()
    assert r"\infty" in derive(lost, 0, 0, 1, 0)["products"].latex


def test_a_forbidden_infinite_value_takes_no_part():
    trace = run_quietly(Config(sentence="a b c", mask="causal"), [(0, "values", (0, 2, 1), -np.inf)])
    cell = derive(trace, 0, 0, 0, 2)
    assert cell["share"].result[1] == 0
    assert "takes no part" in cell["share"].sentence
    assert cell.edited == ("value",)
    assert np.isfinite(cell["output"].result).all()


def test_words_are_sentences():
    assert all(title and sentence.endswith(".") for title, sentence in LINES.values())


def test_of_a_long_sum_only_the_terms_that_stand_there_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[float] = []
    product = NumberFormat.product
    monkeypatch.setattr(NumberFormat, "product", lambda fmt, x, y: (written.append(x), product(fmt, x, y))[1])
    lines = NumberFormat(4).products(np.arange(384.0), np.ones(384), keep=100)
    assert written == [0, 1, 2, 3, 4, 100, 383]
    assert r"\underbrace{\cdots}_{4940}" in "".join(lines)
