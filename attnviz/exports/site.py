"""A folder of interactive pages with an index: the pictures of a lecture, alive on any web space or from a disk."""

from __future__ import annotations

import base64
import hashlib
import html as markup
import re
from collections.abc import Iterable, Iterator

from attnviz.engine.records.trace import Trace
from attnviz.exports import interactive_html
from attnviz.pictures.colours import PAPER
from attnviz.pictures.static import link_card
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.language import Words, current_language, tag
from attnviz.text import link_words
from attnviz.text.headline import headline

WORDS = Words({"title": "Attention, step by step", "open": "Open {sentence}"})
LONGEST_NAME = 40
INDEX = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{entries}
</body>
</html>
"""
STYLE = """
:root {{ color-scheme: light dark; --ground: {ground[0]}; --ink: {ink[0]}; --quiet: {quiet[0]}; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ground: {ground[1]}; --ink: {ink[1]}; --quiet: {quiet[1]}; }}
}}
body {{ margin: 0 auto; padding: 1.2rem clamp(0.8rem, 3vw, 2.4rem); max-width: 1200px; background: var(--ground);
  color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }}
.pages {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr)); gap: 1.2rem;
  margin: 0; padding: 0; list-style: none; }}
a {{ color: inherit; text-decoration: none; }}
a:hover b, a:focus-visible b {{ text-decoration: underline; }}
img {{ display: block; width: 100%; aspect-ratio: 1200 / 630; border: 1px solid var(--quiet); }}
b, small {{ display: block; overflow-wrap: anywhere; }}
small {{ color: var(--quiet); }}
"""


def files(parts: Iterable[str | tuple[Trace, int]]) -> Iterator[tuple[str, str]]:
    """Yield the files of a site, by name: a page and a picture for each run, and at last the index.

    parts  in the order of the index: headings, and runs with the layer that their picture shows, counted from 0
    """
    entries, n, is_listing = list[str](), 0, False
    for part in parts:
        if isinstance(part, str):
            entries += ["</ul>"] * is_listing + [f"<h2>{markup.escape(drawable(part))}</h2>"]
            is_listing = False
            continue
        trace, layer = part
        n += 1
        name = f"{n:02}{_name(trace)}"
        picture = _picture(trace, layer)
        yield f"{name}.html", interactive_html.html(trace)
        if picture:
            yield f"{name}.svg", picture
        entries += ['<ul class="pages">'] * (not is_listing) + [_entry(trace, name, bool(picture))]
        is_listing = True
    style = STYLE.format(**PAPER)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    yield (
        "index.html",
        INDEX.format(
            language=tag(current_language()),
            policy=f"default-src 'none'; img-src 'self' file:; style-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'",
            title=markup.escape(WORDS["title"]),
            style=style,
            entries="\n".join(entries + ["</ul>"] * is_listing),
        ),
    )


def _picture(trace: Trace, layer: int) -> str | None:
    """Return the card of a run, or None where no weight of it can be named."""
    told = link_words.telling(trace, layer)
    return None if told is None else link_card.card(trace, layer, told)


def _entry(trace: Trace, name: str, has_picture: bool) -> str:
    sentence, about = _sentence(trace), " ".join(headline(trace))
    image = f'<img src="{name}.svg" alt="" loading="lazy">' if has_picture else ""
    said = f"<b>{markup.escape(sentence)}</b><small>{markup.escape(drawable(about))}</small>"
    label = markup.escape(WORDS["open"].format(sentence=sentence))
    return f'<li><a href="{name}.html" aria-label="{label}">{image}{said}</a></li>'


def _sentence(trace: Trace) -> str:
    return drawable(" ".join((trace.config.sentence or " ".join(trace.query_tokens)).split()))


def _name(trace: Trace) -> str:
    """Return the end of a file's name: what letters and digits of the sentence every file system takes."""
    words = re.findall(r"[a-z0-9]+", _sentence(trace).lower())
    return "".join(f"-{word}" for word in words)[:LONGEST_NAME].rstrip("-")
