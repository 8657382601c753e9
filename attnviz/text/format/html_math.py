r"""Formulas and texts of ours as HTML that prints from any browser: letters, signs, sub- and superscripts, fractions.

The formulas are those that `arithmetic.latex_numbers` and the lessons write, a small part of LaTeX. Libraries that read
all of it write MathML, and would be a fifth package beside the page's four, for these few signs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from unicodedata import bidirectional, normalize

from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised, localised_latex
from attnviz.text.format.sentence_parts import TEXT, Part, plain

SIGNS = {
    "cdot": "·", "times": "×", "infty": "∞", "sum": "∑", "odot": "⊙", "dots": "…", "cdots": "⋯", "vdots": "⋮",
    "le": "≤", "ge": "≥", "in": "∈", "tau": "τ", "sigma": "σ", "Sigma": "Σ", "delta": "δ", "theta": "θ",
    "partial": "∂", "top": "T",
    "max": "max", "min": "min", "tanh": "tanh", "cos": "cos", "sin": "sin", "exp": "exp", "quad": "\u2003",
    ",": "\u2009", ";": "\u2005", ":": "\u2005", " ": " ", "{": "{", "}": "}",
}  # fmt: skip
TYPESET = str.maketrans("-'", "−′")
MARKS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304"}
SILENT = {"left", "right", "bigl", "bigr", "Bigl", "Bigr", "textstyle", "displaystyle", "underbrace", "!"}
UPRIGHT = {"mathrm", "text", "operatorname"}
FRACTION = '<span class="over"><span>{top}</span><span>{bottom}</span></span>'
ROOT = '<span class="surd">√</span><span class="root">{inside}</span>'

IN_FORMULAS = Words({word: word for word in (" where forbidden", " or ", "and", "your list")})
"""The words that stand in a formula of a step, which otherwise is the same in every language."""

_PART = re.compile(r"\\[a-zA-Z]+|\\.|[{}_^&]|[0-9.]+|\s+|.", re.DOTALL)
_NAME = re.compile(r"\b(?!n_[a-z])([A-Za-z])_([A-Za-z0-9]+)\b")
"""A name with an index; n_heads is a setting, and no letter of a formula."""
_LABELLED = re.compile(
    r"(?P<kept>\$[^$]*\$|`[^`]*`)|(?P<over>1/)?(?P<root>√)?(?<![A-Za-z_])(?P<letter>[A-Za-z])_(?P<index>[A-Za-z0-9]+)\b"
)
_QUOTED = re.compile(r"((?<=[“„])[^“”„]*(?=[”“])|(?<=(?<!\w)')[^']*(?='(?!\w)))")
_ROWS = re.compile(r"\\begin\{aligned\}(.*?)\\end\{aligned\}", re.DOTALL)
_TEXT = re.compile(
    r"\$(?P<formula>.+?)\$|\*\*(?P<bold>.+?)\*\*|(?<!\*)\*(?!\*)(?P<slanted>.+?)(?<!\*)\*(?!\*)|`(?P<code>.+?)`",
    re.DOTALL,
)


def worded(latex: str) -> str:
    r"""Return a formula with its words in the language that is spoken.

    >>> worded(r"j \le i \;\text{ or }\; j < p") == r"j \le i \;\text{ or }\; j < p"
    True
    """
    return re.sub(r"\\text\{([^{}]*)\}", lambda word: rf"\text{{{IN_FORMULAS.get(word[1], word[1])}}}", latex)


def sentence(parts: Iterable[Part]) -> str:
    """Return a sentence in parts as HTML: names such as W_Q as letters with a subscript, and numbers as they are
    written in the language; the visitor's words stay as they are.

    >>> sentence([("text", "How wide is W_Q for "), ("token", "W_Q<"), ("text", "?")])
    'How wide is <i>W</i><sub><i>Q</i></sub> for “W_Q&lt;”?'
    """
    return "".join(
        named(html.escape(localised(words))) if kind == TEXT else quoting(plain([(kind, words)]))
        for kind, words in parts
    )


def quoting(text: str, *, is_typed: bool = False) -> str:
    """Return a sentence as HTML: our names as letters with a subscript, and what is quoted as it stands.

    is_typed  whether its names are typed by whoever reads it, and so stay as they are typed

    The quoted words turn no others around, whichever way they run.

    >>> quoting("W_O < 1 for “W_O<”"), quoting("“قط” is 1")
    ('<i>W</i><sub><i>O</i></sub> &lt; 1 for “W_O&lt;”', '“<bdi>قط</bdi>” is 1')
    >>> quoting("d_k was 'd_k'; it's 4")
    '<i>d</i><sub><i>k</i></sub> was &#x27;d_k&#x27;; it&#x27;s 4'
    """
    parts = _QUOTED.split(text)
    ours = html.escape if is_typed else lambda part: named(html.escape(part))
    return "".join(_isolated(part) if at % 2 else ours(part) for at, part in enumerate(parts))


def _isolated(quoted: str) -> str:
    runs_left = any(bidirectional(letter) in ("R", "AL") for letter in quoted)
    return f"<bdi>{html.escape(quoted)}</bdi>" if runs_left else html.escape(quoted)


def named(text: str) -> str:
    """Return escaped text of ours with each name of a matrix or a width typeset.

    >>> named("d_model is 4"), named("n_heads is 4")
    ('<i>d</i><sub><i>model</i></sub> is 4', 'n_heads is 4')
    """
    return _NAME.sub(r"<i>\1</i><sub><i>\2</i></sub>", text)


def as_markdown(label: str) -> str:
    r"""Return a label of ours for a widget that reads markdown: names with a subscript, and roots of them, as formulas.

    What is a formula or code already stays as it is.

    >>> print(as_markdown("No 1/√d_k, but W_Q and d_model"))
    No $1/\sqrt{d_k}$, but $W_Q$ and $d_{\mathrm{model}}$
    """
    return _LABELLED.sub(lambda match: match["kept"] or f"${match['over'] or ''}{_subscripted(match)}$", label)


def _subscripted(match: re.Match[str]) -> str:
    letter, index = match["letter"], match["index"]
    name = f"{letter}_{index}" if len(index) == 1 else rf"{letter}_{{\mathrm{{{index}}}}}"
    return rf"\sqrt{{{name}}}" if match["root"] else name


def formula(latex: str) -> str:
    r"""Return a formula as HTML; lines that stand below each other become a table, aligned where they say.

    >>> formula(r"\frac{1}{2} \cdot q_1")
    '<span class="over"><span>1</span><span>2</span></span> · <i>q</i><sub>1</sub>'
    >>> formula(r"\sqrt{4}")
    '<span class="surd">√</span><span class="root">4</span>'
    """
    aligned = _ROWS.fullmatch(latex.strip())
    if aligned is None:
        return _set(latex)
    rows = [row.partition("&") for row in re.split(r"\\\\\s*", aligned[1].strip()) if row.strip()]
    cells = (f"<tr><td>{_set(left)}</td><td>{_set(right)}</td></tr>" for left, _, right in rows)
    return f'<table class="formula">{"".join(cells)}</table>'


def _set(latex: str) -> str:
    try:
        return "".join(_atoms(iter(_PART.findall(localised_latex(latex.strip())))))
    except RecursionError:  # a thousand groups inside each other, which no formula has
        return html.escape(latex)


def _atoms(parts: Iterator[str]) -> Iterator[str]:
    """Yield each atom as HTML, until the group that it stands in ends."""
    for part in parts:
        if part == "}":
            return
        yield _atom(part, parts)


def _atom(part: str, parts: Iterator[str]) -> str:
    if part == "{":
        return "".join(_atoms(parts))
    if part in "_^":
        tag = "sub" if part == "_" else "sup"
        return f"<{tag}>{_argument(parts)}</{tag}>"
    if part.startswith("\\") and len(part) > 1:
        return _command(part[1:], parts)
    if part.isalpha():
        return f"<i>{html.escape(part)}</i>"
    return " " if part.isspace() else "" if part == "&" else html.escape(part.translate(TYPESET))


def _command(name: str, parts: Iterator[str]) -> str:
    if name in ("frac", "tfrac"):
        top = _argument(parts)
        return FRACTION.format(top=top, bottom=_argument(parts))
    if name == "sqrt":
        return ROOT.format(inside=_argument(parts))
    if name in MARKS:
        return normalize("NFC", _argument(parts).replace("</i>", f"{MARKS[name]}</i>"))
    if name in UPRIGHT:
        return re.sub("</?i>", "", _argument(parts))
    return "" if name in SILENT else SIGNS.get(name, html.escape(name))


def _argument(parts: Iterator[str]) -> str:
    """Return the next atom that is not a space; nothing at the end."""
    part = next((part for part in parts if not part.isspace()), None)
    return "" if part is None else _atom(part, parts)


def prose(text: str) -> str:
    """Return a text of a lesson as HTML: paragraphs and tables, bold, slanted and code, and its formulas.

    >>> prose("A **row** of $Q$.")
    '<p>A <b>row</b> of <i>Q</i>.</p>'
    """
    return "".join(map(_block, text.split("\n\n")))


def _block(text: str) -> str:
    if not text.startswith("|"):
        return f"<p>{inline(text)}</p>"
    rows = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in text.splitlines()]
    head = "".join(f"<th>{inline(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows[2:])
    return f'<table class="told"><tr>{head}</tr>{body}</table>'


def inline(text: str) -> str:
    """Return one line of a text as HTML."""
    parts, end = [], 0
    for match in _TEXT.finditer(text):
        parts += [html.escape(text[end : match.start()]), _marked(match)]
        end = match.end()
    return "".join([*parts, html.escape(text[end:])])


def _marked(match: re.Match[str]) -> str:
    if match["formula"] is not None:
        return _set(match["formula"])
    if match["code"] is not None:
        return f"<code>{html.escape(match['code'])}</code>"
    tag, inside = ("b", match["bold"]) if match["bold"] is not None else ("i", match["slanted"])
    return f"<{tag}>{inline(inside)}</{tag}>"
