"""2,000 hostile lines: none runs code, none is slow, nothing but FormulaError comes out."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.codegen.javascript import javascript
from attnviz.codegen.latex import COMMANDS, latex
from attnviz.codegen.script import Script
from attnviz.formula.evaluation import arrays, operation_counts
from attnviz.formula.evaluation.functions import bias_table, complete, mask_table, normaliser_function
from attnviz.formula.evaluation.gradient import Gradient
from attnviz.formula.evaluation.numbers import scores
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from tests.formula.generator import lines

HEADS, TOKENS, WIDTH = 16, 64, 64
LONGEST = 20_000
KINDS = ("score", "score", "score", "mask", "normaliser", "bias")

CODE = [
    *("__import__('os').system('touch OWNED')", "open('/etc/passwd').read()", "q.__class__.__mro__", "().__class__"),
    *("[x for x in range(10**9)]", "(lambda: q)()", "eval('1')", "exec('1')", "globals()", "{**{}}", "f'{q}'"),
    *("q if (z:=1) else k", "yield q", "await q", "q; import os", "import os", "del q", "while 1: pass", "raise q"),
    *("for i in j: pass", "def f(): pass", "class A: pass", "assert 0", "*q", "**q", "print(q)", "q[0]", "q[::2]"),
    *(
        "W[i]",
        "W[j][j]",
        "W[j, j]",
        "W[10**9]",
        "token[j]",
        "'a'*10**9",
        "b'a'",
        "'''a'''",
        "q.real",
        "np.zeros(10**12)",
    ),
    *(
        "sum(range(10**9))",
        "sum(q for q in k)",
        "True",
        "None",
        "...",
        "__debug__",
        "inf",
        "nan",
        "1e999",
        "9**9**9**9",
    ),
    *("2**2**2**2**2**2", "10**10**10", "1<<10**9", "0x" + "f" * 250, "1" * 290, "1_000", "0b11", "0o7", "1j", "1/0"),
    *("0**-1", "(-1)**0.5", "5%0", "5//0", "q@@k", "q@", "@q", "W@W", "q@W@W@W@W@k", "max()", "max(q,k,v)", "sum()"),
    *("tanh(q, k)", "norm(q, axis=0)", "max(*q)", "max(**q)", "sum(q)(k)", "tanh", "tanh(tanh)", "q=k", "q<k<v", "~q"),
    *("a = a", "q = q*k; sum(q)", "tanh = q; sum(tanh)", "x1=1;;x1", ";", "=", "==", "((", "[]", "()", "{}", '"', "\\"),
    *("?" * 150 + ":" * 149, "⟨" * 99 + "," * 99 + "⟩" * 99, "\\frac{" * 49, "e**(" * 70, "|" * 299, "if" + ":" * 290),
    *(
        "<" * 150 + "," * 149,
        "'" * 299,
        "q " * 149,
        "exp " * 74,
        "(" * 150 + ")" * 149,
        "np." * 99,
        "q." * 149,
        "x_i" * 99,
    ),
    *("Q*K*" * 74 + "1", "√" * 299, "^T" * 149, "q[i]" * 74, "\\sqrt" * 59, "2q" * 149, "{" * 150 + "}" * 150),
    *("#", "a\x00b", "\x00", "\ud800", "'\ud800'", "ｓｕｍ(q*k)", "ѕum(q*k)", "sum(ԛ*k)", "sum(q∗k)", "sum(q*k)\u202e"),
    *("\ufeffsum(q*k)", "sum(q*k)\u2028import os", "sum(q*k)\nimport os", "sum(q*k)\r\nx", "\t", "\f", "ª", "²", "𝐪"),
    *("𝟙", "sum(𝐪*k)", "١", "ﬁ", "sum(q*K)", "W_" + "a" * 200, "<script>alert(1)</script>", "${7*7}", "{{7*7}}"),
    *("%s%n", "=cmd|' /C calc'!A0", "\\input{/etc/passwd}", "lambda:0", "nonlocal q", "match q", "1if 1else 2", "if k"),
]
WORDS = """q k W U v i j n d_k ( ) sum( max( tanh( exp( log( norm( @ * ** + - / // % < == , = ; . [ ] : ' 9 1e300 0 x
token[j] lambda { } ratio( unit( b[j] 5 ) )"""
PIECES = [*WORDS.split(), " and ", " not ", " if ", " else ", "\n", " for ", " in ", "\x00", "é", "W[:, j]"]
GOOD = (
    "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)",
    "sum(v*tanh(q@W + k@U))",
    "dot(q,k)/(norm(q)*norm(k))",
    "t = tanh(q*k); sum(t)",
)
HEAVY = ("q*k*", "sin(q*k)*", "(q-k)**3*", "exp(q*k)*", "tanh(k*q)*", "(q%k)*", "(q//k)*", "abs(k-q)**0.3*")


def nested(draw: random.Random) -> str:
    n = draw.randrange(5, 160)
    names = "; ".join(f"x{a} = x{a - 1}*x{a - 1}" if a else "x0 = exp(q*k)" for a in range(n // 10))
    return draw.choice(
        [
            "(" * n + "q" + ")" * n,
            "-" * n + "sum(q)",
            "not " * (n // 2) + "j<i",
            "tanh(" * (n // 3) + "sum(q*k)" + ")" * (n // 3),
            "[" * n + "]" * n,
            "**".join("2" * (n // 2)),
            "0 if i<j else " * (n // 8) + "1",
            "<".join("ij" * (n // 4)),
            "q" + "@W" * (n // 3) + "@k",
            f"{names}; sum(x{max(n // 10 - 1, 0)})",
            "sum(" + "(" * (n // 6) + "q*k" + ")**2" * (n // 6) + ")",
            "sum((q*k)**" + "9" * draw.randrange(1, 30) + ")",
            "sum((q*k@W)@U)*" * (n // 18) + "1",
        ]
    )


def hostile(at: int, draw: random.Random) -> str:
    if at < len(CODE):
        return CODE[at]
    if at % 5 == 0:
        return nested(draw)
    if at % 5 == 1:
        return "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 60)))
    if at % 5 == 2:
        return "".join(chr(draw.choice([draw.randrange(32, 127), draw.randrange(0x3000)])) for _ in range(200))
    if at % 5 == 3:
        line = list(draw.choice(GOOD))
        for _ in range(draw.randrange(1, 4)):
            line[draw.randrange(len(line))] = draw.choice([*PIECES, draw.choice(CODE)])
        return "".join(line)
    return "sum(" + "".join(draw.choice(HEAVY) for _ in range(draw.randrange(1, 28))) + "1)"


class Watch:
    """What Python says that it does, while it is looked at; a hook cannot be taken away again."""

    def __init__(self) -> None:
        self.on = False
        self.seen: Counter[str] = Counter()
        sys.addaudithook(self._record)

    def _record(self, event: str, args: tuple[Any, ...]) -> None:
        if self.on and event not in ("compile", "object.__getattr__", "sys._getframe", "builtins.id"):
            if event == "open" and str(args[0]) == "<unknown>":  # where Python looks for the line of a syntax error
                return
            self.seen[event] += 1


def computed(formula: Formula, draws: np.random.Generator) -> None:
    """Run a formula at the largest size of the page."""
    kind = formula.kind.name
    with np.errstate(all="ignore"):
        if kind == "mask":
            mask_table(formula, ["the"] * TOKENS, ["a"] * TOKENS, (TOKENS, TOKENS))
        elif kind == "bias":
            bias_table(formula, HEADS, TOKENS, TOKENS)
        elif kind == "normaliser":
            normaliser_function(formula)(draws.normal(size=(HEADS, TOKENS, TOKENS)))
        else:
            Q, K = draws.normal(size=(HEADS, TOKENS, WIDTH)), draws.normal(size=(HEADS, TOKENS, WIDTH))
            given = arrays.of_score(formula, Q, K, complete(formula, {}, Q[None], K[None]))
            operation_counts.check(formula, given)
            small = Q[:2, :5, :3], K[:2, :4, :3]
            scores(formula, arrays.of_score(formula, *small, complete(formula, {}, *(part[None] for part in small))))


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def refused(text: str, kind: str, watch: Watch, draws: np.random.Generator) -> FormulaError | None:
    """What is said of a line that is refused; one that is not is read in every way, and computed."""
    watch.on = True
    try:
        formula = parse(text, kind)
        written = [latex(formula), javascript(formula), *Script(formula, heads=True).lines("S")]
        written.append(str(len(Gradient(formula).by_name)) if kind == "score" else "")
        assert max(map(len, written)) <= LONGEST
        computed(formula, draws)
    except FormulaError as fault:
        return fault
    finally:
        watch.on = False
    return None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [len(CODE), pytest.param(1000, marks=pytest.mark.slow)])
def test_no_line_runs_code_or_fails_in_another_way(n: int, watch: Watch) -> None:
    draw, draws = random.Random(5), np.random.default_rng(0)  # noqa: S311
    for at in range(n):
        text, kind = hostile(at, draw), "score" if at < len(CODE) else KINDS[at % len(KINDS)]
        fault = refused(text, kind, watch, draws)
        if fault is not None:
            assert 0 <= fault.at <= max(len(text), 1)
            assert fault.pointed(text)
            assert len(fault.sentence) < 500
            assert not fault.suggestion or parse(fault.suggestion, kind)
    assert watch.seen == Counter()


def test_the_watch_would_see_it(watch: Watch) -> None:
    watch.on = True
    try:
        Path(__file__).read_bytes()
    finally:
        watch.on = False
    assert watch.seen.pop("open") == 1


def test_every_command_of_latex_is_listed() -> None:
    command = re.compile(r"\\(?:[A-Za-z]+|.)")
    known = set(command.findall(COMMANDS))
    texts = [latex(formula) for formula in lines(300, 9)]
    texts += [latex(parse("token[i] in ('a_b', 'c#$%&{}~^') or not i != j and i >= j", "mask"))]
    assert set(command.findall(" ".join(texts))) <= known
