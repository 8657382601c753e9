"""What is said of words that a model's vocabulary does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnviz.settings.language import Words

NOTES = Words(
    {
        "unknown": "{n} of the tokens stand as {name}: the model's vocabulary does not have them.",
        "spare": "Not in the vocabulary: {listed}. Each takes a spare vector that stands for any word: the model knows "
        "of it only where it stands.",
    }
)


def notes(tokenise: Any, tokens: Sequence[str]) -> list[str]:
    """Return a sentence on the tokens that stand for unknown words, and one on the words that spare ones stand for."""
    found = []
    name = getattr(tokenise, "unknown", None)
    if name in tokens:
        found.append(NOTES["unknown"].format(n=tokens.count(name), name=name))
    lent = tokenise.lent(tokens) if getattr(tokenise, "spare", ()) else {}
    if lent:
        found.append(NOTES["spare"].format(listed=", ".join(lent)))
    return found


def spare(folder: Path, read: Callable[[Path], Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the spare words that the tokenizer_config.json of a folder names; `read` reads JSON."""
    path = folder / "tokenizer_config.json"
    names = read(path).get("spare_tokens") if path.is_file() else None
    return tuple(map(str, names)) if isinstance(names, list) else ()
