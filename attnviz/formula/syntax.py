"""Syntax errors of a line that Python cannot parse, found in the text itself, as there is no tree of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from attnviz.formula import names
from attnviz.formula.faults import FormulaError, fault

WORD = r"(?!(?:and|or|not|if|else|in|is)\b)"
APART = re.compile(rf"{WORD}((?<!\w)\w+|[)\]]) +{WORD}(?=[\w(])")
"""Two parts with nothing between them but a space; the first in a group."""

TAKEN_OF = re.compile(rf"\b({'|'.join(names.CALLED)})(?:_[ij])? +{WORD}(?=\w)")
"""A function before something without brackets."""

ORDERS = {"=<": "<=", "=>": ">=", "<>": "!=", ":=": "="}
PAIRS = {"(": ")", "[": "]"}
OVER_ENTRIES = ("sum", "mean", "max", "min", "norm")
VECTORS = ("q", "k", "Q", "K", "q_i", "q_j", "k_i", "k_j", "query", "key", *names.VECTORS)
TEXT = "\0"
"""The stand-in for each character of a string literal: it occurs nowhere else."""


def unquoted(text: str) -> str:
    """Return the line without what stands in quotation marks; positions stay."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda match: TEXT * len(match[0]), text)


def complaint(text: str, at: int, truth: bool) -> FormulaError:
    """Return what is probably wrong with a line that Python cannot read at this position."""
    bare = unquoted(text)
    for look in _LOOKS:
        problem = look(bare, truth)
        if problem:
            return problem
    return fault("unreadable", (at, at + 1))


def _angle(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"<([^<>=,;]+),([^<>=,;]+)>", text)
    if not match:
        return None
    one, other = match[1].strip(), match[2].strip()
    return fault("angle", match.span(), (*match.span(), f"dot({one}, {other})"), one=one, other=other)


def _order(text: str, truth: bool) -> FormulaError | None:
    match = re.search("|".join(ORDERS), text)
    if not match:
        return None
    better = ORDERS[match[0]]
    return fault("order", match.span(), (*match.span(), better), better=better, sign=match[0])


def _not(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"!(?!=)\s*", text)
    return fault("invert", (match.start(), match.start() + 1), (*match.span(), "not "), sign="!") if match else None


def _prime(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"\b[qkQK]'", text)
    if not match or truth:
        return None
    where = match.end() - 1, match.end()
    return fault("transpose", where, (*where, " "), name="'")


def _brackets(text: str, truth: bool) -> FormulaError | None:
    """Return the fault of the first bracket that closes none, or of the last that is never closed."""
    opened: list[int] = []
    for at, c in enumerate(text):
        if c in PAIRS:
            opened.append(at)
        elif c in PAIRS.values():
            if not opened or PAIRS[text[opened[-1]]] != c:
                opening = next(one for one, other in PAIRS.items() if other == c)
                return fault("opening", (at, at + 1), (at, at + 1, ""), opening=opening)
            opened.pop()
    if not opened:
        return None
    missing = "".join(PAIRS[text[at]] for at in reversed(opened))
    end = len(text.rstrip())
    return fault("closing", (opened[-1], opened[-1] + 1), (end, end, missing), closing=missing[0])


def _semicolon(text: str, truth: bool) -> FormulaError | None:
    depth = 0
    for at, c in enumerate(text):
        depth += (c in PAIRS) - (c in PAIRS.values())
        if c == ";" and depth:
            return fault("semicolon", (at, at + 1), (at, at + 1, ","))
    return None


def _not_text(text: str, truth: bool) -> FormulaError | None:
    match = re.search(rf"\bnot\s+(?={TEXT})", text)
    where = (match.start(), match.start() + 3) if match else (0, 0)
    return fault("order", where, (*match.span(), "!= "), better="!=", sign="not") if match else None


def _broken_off(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"([-+*/%@<>=,.]+|\b(?:and|or|not|in|else))\s*$", text)
    return fault("broken_off", (match.start(1), match.end(1)), (match.start(), len(text), "")) if match else None


def _taken_of(text: str, truth: bool) -> FormulaError | None:
    match = TAKEN_OF.search(text)
    if not match:
        return None
    depth, end = 0, len(text)
    for at in range(match.end(), len(text)):
        depth += (text[at] in PAIRS) - (text[at] in PAIRS.values())
        if depth < 0 or (not depth and re.match(r"[;,\n<>=]| (?:if|else|and|or)\b", text[at:])):
            end = at
            break
    part = text[match.end() : end].rstrip()
    where = match.end(), match.end() + len(part)
    return fault("brackets_missing", where, (match.start(), where[1], f"{match[1]}({part})"), name=match[1])


def _apart(text: str, truth: bool) -> FormulaError | None:
    match = APART.search(text)
    if not match:
        return None
    at, name = match.end(), (re.match(r"\w+", text[match.end() :]) or [""])[0]
    where = at, at + max(len(name), 1)
    line = re.match(r"\s*(\w+) *=(?!=)[^;]*$", text[:at])  # a name and its formula; what follows uses the name
    if re.match(r"\w+ *=(?!=)", text[at:]) or (line and re.search(rf"\b{line[1]}\b", text[at:])):
        return fault("lines_apart", where, (match.end(1), at, "; "))
    if match[1] == "mod" or name == "mod":
        mod = re.search(r" *\bmod\b *", text)
        return fault("between", where, (*mod.span(), " % ")) if mod else None
    return fault("between", where, (match.end(1), at, f" {_sign(text, match[1], name, at)} "))


def _sign(text: str, left: str, right: str, at: int) -> str:
    """Return the sign that is probably missing between two parts: @ between vectors and before a matrix, else *."""
    if right in names.MATRICES or (left in names.MATRICES and right in VECTORS):
        return "@"
    both = left in VECTORS and right in VECTORS
    calls, depth = re.findall(r"(\w*)\(|(\))", text[:at]), 0
    for name, closed in reversed(calls):
        depth += 1 if closed else -1
        if depth < 0 and name in ("dot", "ratio"):
            return ","
        if depth < 0:
            return "*" if name in OVER_ENTRIES or not both else "@"
    return "@" if both else "*"


def _if(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"\bif\b", text)
    if not match:
        return None
    whole = re.match(r"\s*if\b(.+?):(.+?)(?:;|\n)?\s*\belse\b\s*:?(.+)$", text, re.S)
    if whole:
        test, yes, no = (part.strip() for part in whole.groups())
        return fault("if_first", match.span(), (0, len(text), f"{yes} if {test} else {no}"))
    if re.match(r"\s*if\b", text):
        return fault("if_first", match.span(), (0, match.end(), "") if truth else None)
    return None if re.search(r"\belse\b", text) else fault("if_else", match.span(), (len(text), len(text), " else 0"))


def _equality(text: str, truth: bool) -> FormulaError | None:
    match = re.search(r"(?<![<>=!])=(?!=)", text)
    if not match:
        return None
    fix = (*match.span(), "==") if truth else (0, match.end(), "")
    return fault("equality" if truth else "last", (0, match.end()) if not truth else match.span(), fix)


_LOOKS: tuple[Callable[[str, bool], FormulaError | None], ...] = (
    *(_angle, _order, _not, _not_text, _prime, _brackets, _semicolon, _broken_off, _taken_of, _apart, _if, _equality),
)
