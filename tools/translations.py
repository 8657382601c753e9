"""The translators' catalogues: brought up to date with what the code says, and compiled for the page.

    python -m tools.translations            writes every attnviz.po anew, and compiles it to the attnviz.mo beside it
    python -m tools.translations fr         begins a catalogue for another language first

Needs Babel. A message that is new has no translation yet; one that nobody says any more is dropped. What is missing is
listed at the end, and the exit code is then 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from attnviz.settings.language import CATALOGUES, DOMAIN, InContext
from tools.messages import Message, forms, messages

HEADER = "# Translations of attnviz. Names in {braces}, formulas and [[numbers]] stay as they are."
LINE = 100


def path(language: str) -> Path:
    """Return the path of a language's catalogue."""
    return CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """Return the catalogue of a language as its translators left it; an empty one where there is none yet."""
    if not path(language).exists():
        return empty(language)
    with path(language).open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN, abort_invalid=True)


class Undated(Catalog):
    """A catalogue whose header holds no dates and no names, so that the same messages give the same file."""

    KEPT = ("Language", "Plural-Forms", "MIME-Version", "Content-Type", "Content-Transfer-Encoding")

    @property
    def mime_headers(self) -> list[tuple[str, str]]:  # type: ignore[override]
        return [item for item in self._get_mime_headers() if item[0] in self.KEPT]


def empty(language: str) -> Catalog:
    """Return a catalogue of a language without any message."""
    return Undated(language, DOMAIN, HEADER, fuzzy=False, charset="utf-8")


def msgid(message: Message) -> tuple[str | tuple[str, ...], str | None]:
    """Return a message as gettext names it, a plural by both of its English forms, and its context, mostly None."""
    texts = forms(message)
    return texts if len(texts) > 1 else texts[0], message.context if isinstance(message, InContext) else None


def brought_up_to_date(old: Catalog) -> Catalog:
    """Return a catalogue of what the code says now, with the translations that are there."""
    new = empty(str(old.locale))
    for message in sorted(messages(), key=lambda message: (forms(message)[0], msgid(message)[1] or "")):
        ids, context = msgid(message)
        known = old.get(forms(message)[0], context)
        is_same = known is not None and known.id == ids
        new.add(ids, known.string if known is not None and is_same else None, context=context)
    return new


def write(catalogue: Catalog) -> list[str]:
    """Write a catalogue and its compiled form; return the messages that have no translation."""
    to = path(str(catalogue.locale))
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as file:
        write_po(file, catalogue, width=LINE, omit_header=False, no_location=True)
    with to.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)
    return [str(message.id) for message in catalogue if message.id and not all(_forms(message.string))]


def _forms(string: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (string or "",) if string is None or isinstance(string, str) else string


def main() -> int:
    languages = sorted({*(folder.name for folder in CATALOGUES.iterdir() if folder.is_dir()), *sys.argv[1:]})
    missing = [
        f"{language}: {message}" for language in languages for message in write(brought_up_to_date(read(language)))
    ]
    print("\n".join(missing) or "complete")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
