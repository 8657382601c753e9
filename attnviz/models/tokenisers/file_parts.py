"""The parts of a tokenizer.json that do not depend on the kind of the tokeniser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(step: Any, inside: str) -> list[Any]:
    """Return the steps that a file describes, those of a sequence one by one."""
    if step is None:
        return []
    return [part for each in step[inside] for part in flat(each, inside)] if step["type"] == "Sequence" else [step]


def framing(step: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens before and after a sentence."""
    for part in flat(step, "processors"):
        if part["type"] in ("RobertaProcessing", "BertProcessing"):
            return (str(part["cls"][0]),), (str(part["sep"][0]),)
        if part["type"] == "TemplateProcessing":
            names = [each["SpecialToken"]["id"] if "SpecialToken" in each else None for each in part["single"]]
            at = names.index(None)
            return tuple(map(str, names[:at])), tuple(map(str, names[at + 1 :]))
    return (), ()


def is_byte_level(spec: Mapping[str, Any]) -> bool:
    """Return whether a file's tokeniser writes bytes as letters."""
    steps = flat(spec.get("decoder"), "decoders") + flat(spec.get("pre_tokenizer"), "pretokenizers")
    return any(step["type"] == "ByteLevel" for step in steps)
