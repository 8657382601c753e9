"""The suggestion for a line that cannot be read: the whole line as it was probably meant, which can be."""

from __future__ import annotations

import re
from collections.abc import Callable

from attnviz.formula import names
from attnviz.formula.faults import FormulaError

ROUNDS, LONGEST = 10, 200
"""The most slips that are put right in a line, and the most characters of a line that is guessed at."""

CHARACTERS = ("character", "character_instead", "bar", "latex", "comment")
INSIDE = r"([^|‖∥]+)"

PASTED = (
    (r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)?)\}", r"(\1)/(\2)"),
    (r"\^\s*\{?\s*(?:\\top|\\mathsf\s*\{?T\}?|T\b|[⊤ᵀ])\s*\}?|[⊤ᵀ]", " @ "),
    (r"\\(?:cdot|times|ast)\b", " * "),
    (r"\\(?:left|right|,|;|!|quad)", ""),
    (r"\\(?:sum|Sigma)(?:_\{?\w\}?)?", "sum "),
    (
        r"\\langle([^,\\]+),([^,\\]+)\\rangle|[⟨〈]([^,⟨〈⟩〉]+),([^,⟨〈⟩〉]+)[⟩〉]",
        lambda m: f"dot({m[1] or m[3]}, {m[2] or m[4]})",
    ),
    (r"<([^<>|]+)\|([^<>|]+)>", r"dot(\1, \2)"),
    (r"\\([A-Za-z]+)", r"\1"),
    (r"[$\\]", ""),
    (r"√\s*(\w+)", r"sqrt(\1)"),
    (r"√\s*\(", "sqrt("),
    (r"[Σ∑](?:_\w+)?\s*", "sum "),
    (r"#.*", ""),
    (r"~\s*", "not "),
    (r"&&?", " and "),
    (r"[‘’]", "'"),
    (r"[“”]", '"'),
    (r"[∙•·⋅]", "@"),
    (r"[⊙∘×]", "*"),
    (r"½\s*", "0.5*"),
    (r"([²³])", lambda m: "**2" if m[1] == "²" else "**3"),
    (r"\^|↑", "**"),
    (r"^([^?:]+)\?([^?:]+):([^?:]+)$", lambda m: f"{m[2].strip()} if {m[1].strip()} else {m[3].strip()}"),
    (r"\{", "("),
    (r"\}", ")"),
)
"""Notation of papers and other programs, and what is typed here instead; tried in this order."""

PLAIN = {
    "−": "-",
    "–": "-",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "π": "3.141592653589793",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "λ": "lam",
    "τ": "tau",
    "θ": "g",
}
_CALLED = "|".join(names.CALLED)
LATER = (
    (rf"\b({_CALLED}) *\*\* *\(", r"\1("),
    (r"\be *\*\* *(\((?:[^()]|\([^()]*\))*\)|-?\w+)", lambda m: f"exp({m[1].strip('()') if _is_flat(m[1]) else m[1]})"),
    (r"\bsum_\w+", "sum"),
)


def suggestion(text: str, kind: str, error: FormulaError, read: Callable[[str], object]) -> str:
    """Return the line as it was probably meant; nothing where no line that can be read is found.

    error  what was said of the line;  read  reads a line, or raises what is wrong with it

    >>> from attnviz.formula.faults import fault
    >>> from attnviz.formula.reader import parse
    >>> suggestion("2q @ k", "score", fault("factor", (0, 2), (1, 1, "*"), number=2, name="q"), parse)
    '2*q @ k'
    """
    seen: list[str] = []
    for _ in range(ROUNDS if len(text) <= LONGEST else 0):
        seen.append(text)
        text = " ".join(_step(text, error, kind).split())
        if not text or text in seen:
            return ""
        try:
            read(text)
        except FormulaError as other:
            error = other
        else:
            return text
    return ""


def _step(text: str, error: FormulaError, kind: str) -> str:
    """Return the line without this fault; nothing where it is not known how."""
    if error.fix:
        at, until, better = error.fix
        if error.which == "unknown_near" and text[at:until].isidentifier():
            return re.sub(rf"\b{text[at:until]}\b(?! *\()", better, text)
        return _tidy(text[:at] + better + text[until:])
    if error.which in CHARACTERS:
        return _typed(text, kind)
    step = STEPS.get(error.which)
    return step(text, error, kind) if step else ""


def _is_flat(part: str) -> bool:
    return part.startswith("(") and "(" not in part[1:]


def _tidy(text: str) -> str:
    """Return the line without brackets around the whole of it, and without blanks that are left over."""
    text = re.sub(r" +", " ", text).strip()
    inner = text[1:-1]
    is_whole = text.startswith("(") and text.endswith(")")
    return inner if is_whole and not re.search(r"[()]", inner) else text


def _typed(text: str, kind: str) -> str:
    """Return the line in the characters that can be typed."""
    bars = rf"\|\|{INSIDE}\|\||‖{INSIDE}‖|∥{INSIDE}∥"
    length = "norm" if kind in ("score", "normaliser") else "abs"
    text = re.sub(bars, lambda m: f"{length}({next(filter(None, m.groups()))})", text)
    if kind == "mask":
        text = text.replace("||", " or ")
    text = re.sub(rf"\|{INSIDE}\|", r"norm(\1)" if kind == "score" else r"abs(\1)", text)
    text = re.sub(r"\|", " or ", text) if kind == "mask" else text
    for pattern, better in PASTED:
        text = re.sub(pattern, better, text)
    text = text.translate({ord(c): better for c, better in PLAIN.items()})
    for pattern, better in LATER:
        text = re.sub(pattern, better, text)
    text = re.sub(r"@\s*(?=[@*/)]|$)", "", text)
    return _tidy(text)


def _summed(text: str, error: FormulaError, kind: str) -> str:
    """Return the sum of a vector that is the outcome."""
    whole = text[error.at : error.until]
    return f"{text[: error.at]}sum({_tidy(whole)}){text[error.until :]}"


def _entry_by_entry(text: str, error: FormulaError, kind: str) -> str:
    """Return the line with * instead of the @ beside the part that is one number."""
    at = text.find("@", error.until) if error.which == "at_left" else text.rfind("@", 0, error.at)
    return text[:at] + "*" + text[at + 1 :] if at >= 0 else ""


def _turned(text: str, error: FormulaError, kind: str) -> str:
    """Return q @ W for W @ q, and q @ W for q * W."""
    name = text[error.at : error.until]
    after = re.match(rf"{name}\s*[@*]\s*(\w+(?:\([^()]*\))?)", text[error.at :])
    if after:
        return f"{text[: error.at]}{after[1]} @ {name}{text[error.at + after.end() :]}"
    before = re.search(r"\*\s*$", text[: error.at])
    return f"{text[: before.start()].rstrip()} @ {text[error.at :]}" if before else ""


def _number_of_number(text: str, error: FormulaError, kind: str) -> str:
    """Return sum(q * k) for sum(q @ k), and abs(i) for norm(i)."""
    part = text[error.at : error.until]
    name = re.search(r"(\w+)\($", text[: error.at])
    if name and name[1] == "sum" and part.count("@") == 1:
        return text[: error.at] + part.replace("@", "*") + text[error.until :]
    return f"{text[: name.start()]}abs({text[error.at :]}" if name and name[1] == "norm" else ""


def _weighed(text: str, error: FormulaError, kind: str) -> str:
    """Return 1 where the condition holds, else 0."""
    return f"{text[: error.at]}1 if {text[error.at : error.until]} else 0{text[error.until :]}"


def _condition(text: str, error: FormulaError, kind: str) -> str:
    """Return the condition of `1 if j <= i else 0`, and `j % 2 == 0` for `j % 2`."""
    match = re.fullmatch(r"\s*1 if (.+) else 0\s*", text)
    if match:
        return match[1]
    return f"{text} == 0" if re.search(r"%\s*\d+\s*$", text) else ""


def _compared(text: str, error: FormulaError, kind: str) -> str:
    return re.sub(r"\bis\b", "==", re.sub(r"\bis\s+not\b", "!=", text))


def _in_list(text: str, error: FormulaError, kind: str) -> str:
    """Return token[j] in ("the", "a") for token[j] == "the" or "a"."""
    return re.sub(r"(token\[[ij]\])\s*==\s*(['\"][^'\"]*['\"])\s+or\s+(['\"][^'\"]*['\"])", r"\1 in (\2, \3)", text)


def _listed(text: str, error: FormulaError, kind: str) -> str:
    """Return 0 <= j < 3 for j in range(3), and == "the" for in "the"."""
    text = re.sub(r"\b([ij])\s+in\s+range\((\w+)\)", r"0 <= \1 < \2", text)
    text = re.sub(r"\bnot\s+in\s+(?=['\"\w])", "!= ", text)
    return re.sub(r"\bin\s+(?=['\"\w])", "== ", text)


STEPS: dict[str, Callable[[str, FormulaError, str], str]] = {
    "vector_left": _summed,
    "at_left": _entry_by_entry,
    "at_right": _entry_by_entry,
    "matrix": _turned,
    "not_a_vector": _number_of_number,
    "outcome_truth": _weighed,
    "outcome_number": _condition,
    "comparison": _compared,
    "over_T": lambda text, error, kind: re.sub(r"\s*/\s*T\b", "", text),
    "truth": _in_list,
    "membership": _listed,
    "power_of_e": lambda text, error, kind: _typed(text, kind),
    "power_of_function": lambda text, error, kind: _typed(text, kind),
}
"""Instructions for faults that a replacement at one position does not mend."""
