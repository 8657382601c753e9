"""The worked solution of one cell or one row as a LaTeX document, with the run's own numbers.

It needs no package beyond a plain TeX installation and goes through pdflatex; lualatex and xelatex also set the
tokens that pdflatex has no letters for; pdflatex prints the code points of those instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attnviz.arithmetic.cell import Cell, derive, derive_row
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.scores import SCORES
from attnviz.engine.tables.tokenisers import graphemes
from attnviz.exports.links import setting_of
from attnviz.pictures.static.fonts import chinese
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, current_language, full_stop, sign, translate
from attnviz.text.format.sentence_parts import QUOTED
from attnviz.text.query_sentences import visible_token

PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[margin=22mm]{geometry}
\usepackage{amsmath}
\usepackage{ifluatex,ifxetex}
\newif\ifunicode
\ifluatex\unicodetrue\fi
\ifxetex\unicodetrue\fi
\ifunicode
  \usepackage{fontspec}
  % \setmainfont{Noto Sans}  % FONT
\else
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
\fi
% INSTEAD
\newcommand{\letters}[2]{\ifunicode #1\else #2\fi}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\raggedright
"""

CHINESE = (r"\usepackage[margin", "\\usepackage[UTF8]{ctex}  % xelatex, lualatex\n\\usepackage[margin")
"""What a document in Chinese loads first, put in the place of what follows it."""
_LETTERS = re.compile(r"\\letters\{(.)\}\{U\+[0-9A-F]+\}")

NOTES = Words(
    {
        "letters": "Some tokens hold letters that pdflatex cannot set: compile with lualatex or xelatex, and choose a "
        "font that has them. pdflatex shows their code points.",
        "font": "any font on your machine that has the letters of your tokens",
        "instead": "the letters, and what pdflatex sets in their place",
        "link": "The setting, to be put after the question mark of a link:",
    }
)
TEXTS = Words(
    {
        "cell": "Head {head}: query {query}, {query_token}, attends to key {key}, {key_token}",
        "row": "Head {head}: query {query}, {query_token}, attends to {n} keys",
        "layer": "Layer {layer}. ",
        "score": "Score: {label}, {formula}.",
        "normaliser": "Normaliser: {label}, {formula}.",
        "vectors": "From the tokens to q and k",
        "query": "The query",
        "key": "Key {key}, {key_token}",
        "scores": "From q and k to the score",
        "weight": "From the scores to the weight",
        "weights": "From the scores to the weights",
        "output": "From the weight to the output",
        "outputs": "From the weights to the output",
    }
)

MAX_TOKEN_CHARACTERS = 60
"""Characters of a token, as a reader counts them, that are printed in a title."""

SYMBOL = re.compile(r"\b([A-Za-z]_[A-Za-z0-9])\b")

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "“": "``",
    "„": r"\quotedblbase{}",
    "”": "''",
    "’": "'",
    "…": r"\dots{}",
    "·": r"\textperiodcentered{}",
    "×": r"\texttimes{}",
    "√": r"$\surd$",
    "−": r"$-$",
    "∞": r"$\infty$",
}
_ESCAPED |= {character: rf"\{character}" for character in "#$%&_{}"}
_ESCAPED |= {character: f"{character}{{}}" for character in "-,?!"}
"""The empty group after the last four keeps TeX from joining two of them into a ligature."""

_SET_BY_PDFLATEX = {*map(chr, range(0x20, 0x7F)), *map(chr, range(0xC0, 0x180)), *"¡¿£§©®°±¶–—•€"} - {*"ĲĳĿŀŉŦŧĦħĸſƀ×÷"}


def cell(trace: Trace, layer: int, head: int, query: int, key: int, digits: int = 4) -> str:
    """Return the whole arithmetic of one cell as a LaTeX document; indices count from 0, `digits` are 2 to 17.

    Raises ValueError if the trace has no such cell, or for digits outside the range.
    """
    derived = derive(trace, layer, head, query, key, digits)
    named = {"query_token": _token(derived.query_token), "key_token": _token(derived.key_token)}
    title = TEXTS["cell"].format(head=ordinal(head), query=ordinal(query), key=ordinal(key), **named)
    parts = {"vectors": derived.vectors, "scores": derived.score, "weight": derived.weight, "output": derived.output}
    body = [part for name, lines in parts.items() if lines for part in (_section(TEXTS[name]), *_lines(lines))]
    return _document(trace, layer, title, body)


def row(trace: Trace, layer: int, head: int, query: int, digits: int = 4) -> str:
    """Return the arithmetic of all cells of one query as a LaTeX document, with what they share printed once.

    Raises ValueError if the trace has no such row, or for digits outside the range.
    """
    cells = derive_row(trace, layer, head, query, digits)
    token = _token(trace.query_tokens[query])
    title = TEXTS["row"].format(head=ordinal(head), query=ordinal(query), query_token=token, n=len(cells))
    return _document(trace, layer, title, list(_row(cells)))


def escaped(text: str) -> str:
    r"""Return the text as LaTeX sets it letter by letter: nothing in it is a command, and no two letters join.

    >>> print(escaped("50 % of {x}_1"), escaped("\u732b"))
    50 \% of \{x\}\_1 \letters{猫}{U+732B}
    """
    return "".join(_ESCAPED.get(each) or _letter(each) for each in drawable(text))


def _letter(character: str) -> str:
    if character in _SET_BY_PDFLATEX:
        return character
    return rf"\letters{{{character}}}{{U+{ord(character):04X}}}"


def _with_symbols(sentence: str) -> str:
    """Return a sentence of the package as LaTeX, with symbols such as W_Q in math mode."""
    return "".join(f"${part}$" if at % 2 else escaped(part) for at, part in enumerate(SYMBOL.split(sentence)))


def _token(token: str) -> str:
    clusters = graphemes(visible_token(token))
    short = "".join(clusters if len(clusters) <= MAX_TOKEN_CHARACTERS else (*clusters[: MAX_TOKEN_CHARACTERS - 1], "…"))
    return escaped(translate(QUOTED, token=short))


def _row(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the query once, every key with its score, the weights, and the output."""
    first, over_keys = cells[0], cells[0].over == "keys"
    of_query = [line for line in (*first.vectors, *first.score) if _is_of_query(line)]
    if of_query:
        yield from (_section(TEXTS["query"]), *_lines(of_query))
    for each in cells:
        lines = [line for line in (*each.vectors, *each.score) if not _is_of_query(line)]
        if lines:
            yield from (_section(_key(each)), *_lines(lines))
    yield _section(TEXTS["weights"])
    yield from _lines(first.weight[:-1] if over_keys and not first.emptied else ())
    for each in cells:
        yield from (_subsection(_key(each)), *_lines(each.weight[-1:] if over_keys else each.weight))
    if first.output:
        yield _section(TEXTS["outputs"])
    for each in cells if first.output else ():
        yield from (_subsection(_key(each)), *_lines(each.output[:-1]))
    yield from _lines(first.output[-1:])


def _is_of_query(line: ArithmeticLine) -> bool:
    return line.name in ("query", "turned_query", "transformed_query", "hidden_query", "query_length")


def _key(derived: Cell) -> str:
    return TEXTS["key"].format(key=ordinal(derived.key), key_token=_token(derived.key_token))


def _section(title: str) -> str:
    return rf"\section*{{{title}}}"


def _subsection(title: str) -> str:
    return rf"\subsection*{{{title}}}"


def _lines(lines: Sequence[ArithmeticLine]) -> Iterator[str]:
    """Yield the lines that change something, each with its title and sentence."""
    for line in lines:
        if line.active or line.edited:
            title = rf"\textbf{{{_with_symbols(line.title)}{full_stop()}}}"
            yield sign(" ").join([title, _with_symbols(line.sentence)])
            yield f"\\[\n{line.latex}\n\\]"


def _chosen(what: str, label: str, formula: str) -> str:
    """Return the sentence that says which score or normaliser is chosen."""
    return TEXTS[what].format(label=escaped(label), formula=f"${formula}$")


def _document(trace: Trace, layer: int, title: str, body: Sequence[str]) -> str:
    config = trace.config
    layers = TEXTS["layer"].format(layer=ordinal(layer)) if len(trace.layers) > 1 else ""
    head = [rf"\section*{{\Large {layers}{title}}}"]
    steps = trace.layers[layer]
    if "queries" in steps:
        head.append(_chosen("score", SCORES[config.score].label, score_of(config).formula))
    if "masked" in steps:
        normaliser = normaliser_of(config)
        head.append(_chosen("normaliser", normaliser.label, normaliser.formula))
    text, is_chinese = "\n\n".join([*head, *body]), current_language() == "zh"
    if is_chinese:  # whose letters are set as they are
        text = _LETTERS.sub(lambda found: found[1] if found[1] in chinese() else found[0], text)
    link = setting_of(trace)
    notes = [f"% {NOTES['link']} {link}"] if link else []
    if r"\letters" in text:
        notes.append(f"% {NOTES['letters']}")
    preamble = PREAMBLE.replace("FONT", NOTES["font"]).replace("INSTEAD", NOTES["instead"])
    start = "\n".join([*notes, preamble])
    if is_chinese:
        start = start.replace(*CHINESE)
    return start + "\\begin{document}\n\n" + text + "\n\n\\end{document}\n"
