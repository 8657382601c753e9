"""Fingerprints of what links are rendered to: `python -m tests.support.rendered [how many] > before.txt`, and later.

Each line is the SHA-256 of one link in one kind of file, so two runs that agree line by line have drawn and written the
same bytes. No file holds the time at which it was made: those of a workbook and an archive are fixed where they are
written. A kind whose library or font is not installed is named as missing, in every line.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from attnviz import Config, run
from attnviz.classroom.printed import handout
from attnviz.engine.records.trace import Trace
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import settings
from attnviz.ui.session.selection import Selection

HOW_MANY = 200
SENTENCES = ("the cat sat on the warm mat", "a b a c a b", "Le chat mange du poisson!", "one", "Ünïcode <b> & % 猫 كلب")
NUMBERS = {  # what a number may be here: small, so that all are drawn in minutes
    "d_model": (1, 2, 5, 8, 16),
    "n_heads": (1, 2, 3, 4, 6),
    "n_kv_heads": ("auto", 1, 2),
    "d_k": (1, 2, 4, "4.3.2"),
    "d_v": (1, 3, 4, "2.5"),
    "d_a": (2, 8),
    "d_ff": (4, 9),
    "n_layers": (1, 1, 1, 2),
    "seed": range(100),
    "temperature": (1.0, 0.5, 3.0),
    "scale": ("auto", 0.0, 0.7),
    "softcap": (0.0, 2.5),
    "pad_to": (0, 9),
    "sentence": SENTENCES,
    "second_sentence": ("", "", *SENTENCES),
    "layer": (1, 2),
    "head": ("auto", 1, 2),
    "query": ("auto", 1, 3),
    "key": ("auto", 1),
}
SHOWN = ("step", "layer", "head", "query", "key")


def kept() -> list[str]:
    """The links that must open for ever."""
    lines = (Path(__file__).parents[1] / "addresses.txt").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines if line and not line.startswith("#")]


def drawn(generator: random.Random) -> str:
    """A link in which about a third of the settings is drawn at random."""
    query: dict[str, object] = {"v": "1"}
    for record in (Config, Selection):
        for item in settings(record):
            if record is Selection and item.name not in SHOWN:
                continue
            table = getattr(item.metadata["kind"], "table", None)
            choices = NUMBERS.get(item.name) or (tuple(table) if table else ())
            if choices and generator.random() < 0.35:
                query[item.name] = generator.choice(choices)
    return urlencode(query)


def links(n: int = HOW_MANY, seed: int = 1) -> list[str]:
    """The links that are kept, then random ones, the same every time; `n` of them, none twice."""
    generator, found = random.Random(seed), dict.fromkeys(kept())  # noqa: S311
    while len(found) < n:
        found[drawn(generator)] = None
    return list(found)[:n]


def export_target(trace: Trace, selection: Selection) -> ExportTarget:
    """The part of a run that is written, as far as the run has it."""
    layer = min(selection.layer, len(trace.layers) - 1)
    head, query, key = (
        given if given is None or given < most else None
        for given, most in zip(
            (selection.head, selection.query, selection.key),
            (len(trace.layers[0]["weights"].array), len(trace.query_tokens), len(trace.key_tokens)),
        )
    )
    return ExportTarget(layer=layer, step="weights", head=head, query=query, key=key)


def files(link: str) -> Iterator[tuple[str, str | bytes]]:
    """What a link is rendered to, by kind; a refusal is its sentence."""
    (config, selection), problems = url_codec.open_link(link, Config, Selection)
    yield "link", url_codec.query_string(config, selection) + "".join(f"\n{problem}" for problem in problems)
    try:
        trace = run(config)
    except ConfigError as error:
        yield "run", str(error)
        return
    where = export_target(trace, selection)
    for kind in FORMATS:
        try:
            yield kind, export(kind, trace, where)
        except ConfigError as error:
            yield kind, f"missing: {error}"
    yield "handout", handout.html(config, solutions=True)


def lines(n: int = HOW_MANY) -> Iterator[str]:
    for number, link in enumerate(links(n)):
        for kind, file in files(link):
            data = file.encode() if isinstance(file, str) else file
            refused = "  (missing)" if isinstance(file, str) and file.startswith("missing: ") else ""
            yield f"{number:3} {kind:9} {hashlib.sha256(data).hexdigest()}{refused}"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if sys.argv[1:] else HOW_MANY):
        print(line, flush=True)
