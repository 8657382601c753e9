"""The values of the setting that stay in sight while an answer stands in its place."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import score_of
from attnviz.settings.fields import settings
from attnviz.settings.kinds import Named, Option
from attnviz.settings.language import InContext, Words, sign
from attnviz.settings.tuple_kinds import Options

WORDS = Words(
    {
        "model": "model",
        "d_model": "size",
        "n_heads": "heads",
        "mask": "mask",
        "score": InContext("score", "the function that scores a query and a key"),
        "seed": "seed",
    }
)
"""Fields of a `Config`, in the order in which the page draws them, each with a word that fits a narrow rail."""

NO_MASK = Words({"none": InContext("none", "no mask, in a narrow rail")})
"""What stands there in place of a label of two words, the second of which is that of the field once more."""

SHORT = 12  # letters of a formula that a chip has room for


def chips(config: Config) -> list[Mapping[str, str]]:
    r"""Return field, label and value of what stands on the rail.

    >>> [chip["value"] for chip in chips(Config(n_heads=2, mask=("causal",)))]
    ['16', '2', 'Causal', 'q · k ÷\xa0√d', '0']
    """
    items = {item.name: item for item in settings(config)}
    values = {name: _worded(items[name].metadata["kind"], getattr(config, name)) for name in WORDS}
    values["score"] = _short_score(config)
    if config.mask == ("none",):
        values["mask"] = str(NO_MASK["none"])
    return [{"name": name, "label": str(WORDS[name]), "value": value} for name, value in values.items() if value]


def _short_score(config: Config) -> str:
    """Return the score as a formula where that is short, else its label without what stands in brackets."""
    row = score_of(config)
    formula = f"{row.plain} ÷\u00a0√d" if row.is_over_root and config.scale is None else row.plain
    return formula if 0 < len(formula) <= SHORT else row.label.partition(" (")[0]


def _worded(kind: object, value: object) -> str:
    """Return a value as its widget writes it."""
    match kind, value:
        case Options(), tuple():
            return sign(", ").join(kind.table[name].label for name in value)
        case Option(), str():
            return str(kind.table[value].label)
        case Named(), str():
            return value.partition("~")[0]
        case _:
            return str(value)
