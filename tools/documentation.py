"""Make the pages of docs/ that follow from the code: `python -m tools.documentation`.

    docs/tables.md            every setting, row, step, kind of file, statistic and measure, from the tables of the code
    docs/gallery.md           links, and a picture made from each, in docs/gallery/
    docs/papers.md            published attentions, with the line, the link and the code of each

A test holds that the files are as this makes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from attnviz import STATISTICS, Config, run
from attnviz.analysis.corpus import study
from attnviz.engine.records.step_specs import AXES, STEPS
from attnviz.exports.formats import FORMATS
from attnviz.exports.script.torch_script import torch_script
from attnviz.pictures.static import link_card
from attnviz.settings import url_codec
from attnviz.settings.fields import default, settings
from attnviz.text import link_words
from attnviz.ui.session.selection import Selection, within
from tools.gallery import LINKS, Shown
from tools.papers import CAT, LEFT_OUT, PAPERS, PARTS, Paper

DOCS = Path(__file__).parents[1] / "docs"
ADDRESS = "http://localhost:8501/?"
"""Where the page is with the command of README."""
MOST_BYTES = 500_000
ABOUT_PAPERS = """\
{n} published attentions: what the paper writes, what says it here, and what the PyTorch script that the page exports
has from mask to weights.
Each is typed or chosen on the page, where every number and every gradient can be followed. A test computes the weights
of each anew, from its queries and keys, by a few lines written by hand from the paper, and holds the run and its
PyTorch against them; the gradients of what is typed are held against what a small change does to the result.

`q`, `k` are a query and a key, `x` the scores of a row, `i` and `j` the places of query and key counted from 0, and `h`
the head counted from 1; other letters are parameters, which start at random (matrices and vectors) or at 1 (numbers).
"""
CODE_OF_PAPERS = ("Mask", "Bias by distance", "Scores", "What is allowed", "With the bias",
                  "With the bias, where it is allowed", "Weights")  # fmt: skip
HEAD = "<!-- Made by python -m tools.documentation: change the code, not this page. -->\n"


def pages() -> dict[str, str]:
    """Return every file that is made, by its name in docs/."""
    return {
        "tables.md": tables(),
        "gallery.md": gallery(),
        "papers.md": papers(),
        **{f"gallery/{name}.svg": picture(shown) for name, shown in LINKS.items()},
    }


def tables() -> str:
    """Return the page of tables."""
    parts = [HEAD, "# Every setting, row, step and file\n", "What the code itself says of them, in its own order.\n"]
    parts += ["## Settings\n", "Fields of `Config`, options of the command line and names in a link.\n", _settings()]
    for item in settings(Config):
        table = getattr(item.metadata["kind"], "table", None)
        if table:
            parts += [f"## {item.metadata['label']}: `{item.name}`\n", _rows(table)]
    parts += ["## Steps\n", 'What a run can record, in the order of the data: `trace["weights"]`.\n', _steps()]
    parts += ["## Axes\n", _table(("axis", "meaning"), ((f"`{name}`", text) for name, text in AXES.items()))]
    parts += ["## Kinds of files\n", '`trace.save("run.html")`, `attnviz render ... -o run.html`.\n', _files()]
    parts += ["## Statistics of a row of weights\n", "`attnviz.STATISTICS`.\n", _rows(STATISTICS)]
    parts += ["## Measures of a study\n", "`attnviz.study`, beside the means of those statistics.\n", _measures()]
    return "\n".join(parts)


def _settings() -> str:
    rows = []
    for item in settings(Config):
        kind, about = item.metadata["kind"], item.metadata
        written = kind.write(default(item))
        most = f"{kind.low:g} to {kind.high:g}" if hasattr(kind, "low") and hasattr(kind, "high") else ""
        rows.append((f"`{item.name}`", about["label"], f"`{written}`" if written else "", most, about["help"]))
    return _table(("name", "label", "default", "range", "about"), rows)


def _rows(table: dict) -> str:
    rows = []
    for name, row in table.items():
        formula = getattr(row, "formula", "")
        rows.append((f"`{name}`", row.label, f"`{formula}`" if formula else "", row.note, getattr(row, "source", "-")))
    return _table(("name", "label", "formula, in LaTeX", "about", "source"), rows)


def _steps() -> str:
    rows = ((f"`{n}`", f"`{s.symbol}`", " × ".join(s.axes), f"`{s.formula}`", s.meaning) for n, s in STEPS.items())
    return _table(("name", "symbol", "axes", "formula, in LaTeX", "meaning"), rows)


def _files() -> str:
    rows = ((f"`.{name}`", form.note, f"`attnviz[{form.extra}]`" * bool(form.extra)) for name, form in FORMATS.items())
    return _table(("end of the name", "what it is", "to install"), rows)


def _measures() -> str:
    rows = ((f"`{name}`", text, study.SOURCES.get(name, "-")) for name, text in study.MEANINGS.items())
    return _table(("name", "meaning", "source"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") or " "


def gallery() -> str:
    """Return the page of links with their pictures."""
    parts = [HEAD, "# Gallery\n", "Each picture is made from its link, which opens it with the page running.\n"]
    for name, shown in LINKS.items():
        parts.append(f"## {shown.title}\n\n{shown.about}\n\n[![{shown.title}](gallery/{name}.svg)]({address(shown)})\n")
    return "\n".join(parts)


def papers() -> str:
    """Return the page of published attentions: equation, line, link and code of each."""
    parts = [HEAD, "# Papers as lines\n", ABOUT_PAPERS.format(n=len(PAPERS))]
    for title, of_part in PARTS.items():
        parts.append(f"## {title}\n")
        parts += [_paper(paper) for paper in of_part.values()]
    parts.append("## What no line says\n")
    parts += [f"- {name}: {why}." for name, why in LEFT_OUT.items()]
    return "\n".join([*parts, ""])


def _paper(paper: Paper) -> str:
    set_to = [f"- `{name}` `{value}`" for name, value in paper.link.items() if CAT.get(name) != value]
    code = "\n".join(_from_mask_to_weights(torch_script(opened(paper)[0])))
    return "\n".join(
        [
            f"### {paper.title}\n",
            f"{paper.source}. [Open it]({address(paper)}).\n",
            f"`{paper.equation}`\n",
            *([f"{paper.note}\n"] if paper.note else []),
            *set_to,
            f"\n```py\n{code}\n```\n",
        ]
    )


def _from_mask_to_weights(script: str) -> list[str]:
    """Return the lines of a script that compute mask, bias, scores and weights, without what is said of them."""
    lines: list[str] = []
    for part in re.split(r"\n\n(?=# [A-Z])", script):
        title, *code = part.split("\n")
        if title.removeprefix("# ") in CODE_OF_PAPERS:
            lines += [line for line in code if line and not line.startswith("# ")]
    return lines


def opened(shown: Shown | Paper) -> tuple[Config, Selection]:
    """Return the setting of a link of the gallery or of a paper, and what is looked at."""
    (config, selection), problems = url_codec.decode({"v": "2", **shown.link}, Config, Selection)
    if problems:
        raise ValueError(f"{shown.title}: {problems[0]}")
    return config, selection


def address(shown: Shown | Paper) -> str:
    """Return the address of a link on a page that runs here, with the check at its end."""
    return ADDRESS + url_codec.query_string(*opened(shown))


def picture(shown: Shown) -> str:
    """Return the card of a link: one head's map, and what it tells."""
    config, selection = opened(shown)
    trace = run(config)
    here = within(selection, trace)
    key = here.key if here.query is not None else None
    telling = link_words.telling(trace, here.layer, here.head, here.query, key)
    return link_card.card(trace, here.layer, telling) + "\n"


def main() -> None:
    """Write the files, and remove pictures of links that are gone."""
    made = pages()
    folder = DOCS / "gallery"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.svg"):
        if f"gallery/{path.name}" not in made:
            path.unlink()
    for name, text in made.items():
        (DOCS / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
