"""What Moodle's importer of XML reads of a question, as a grammar, and the form that it refuses.

Written from question/format/xml/format.php and the save_question_options of the types of questions in Moodle 4: which
elements a question may have and how often, which values they take, which shares of points there are, and that the
shares of several options that are right come to the whole.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

TEXT = re.compile(r"(?s).*")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
COMMON = {
    "name": (1, 1, None),
    "questiontext": (1, 1, None),
    "generalfeedback": (1, 1, None),
    "defaultgrade": (1, 1, NUMBER),
    "penalty": (1, 1, NUMBER),
    "hidden": (1, 1, re.compile("[01]")),
}
BOOLEAN = re.compile("true|false")
TYPES = {
    "category": {"category": (1, 1, None), "info": (0, 1, None)},
    "numerical": {**COMMON, "answer": (1, 40, None)},
    "multichoice": {
        **COMMON,
        "single": (1, 1, BOOLEAN),
        "shuffleanswers": (1, 1, BOOLEAN),
        "answernumbering": (1, 1, re.compile("none|abc|ABCD|123|iii|IIII")),
        "answer": (2, 200, None),
    },
    "essay": {
        **COMMON,
        "responseformat": (1, 1, re.compile("editor|editorfilepicker|plain|monospaced|noinline")),
        "responserequired": (1, 1, re.compile("[01]")),
        "responsefieldlines": (1, 1, re.compile(r"\d+")),
    },
}
FORMATS = ("html", "plain_text", "markdown", "moodle_auto_format")
SHARES = (
    *(100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111),
    *(10, 5, 0),
)
"""The shares of points that a question bank knows; of each there is the negative one, too."""


def faults(text: str) -> list[str]:
    """Return all that an importer would stumble over."""
    root = ET.fromstring(text.encode())  # noqa: S314
    found = [] if root.tag == "quiz" else [f"the root is {root.tag}"]
    for n, question in enumerate(root):
        found += [f"question {n}: {fault}" for fault in _of_question(question)]
    return found


def _of_question(question: ET.Element) -> Iterator[str]:
    rules = TYPES.get(question.get("type", ""))
    if question.tag != "question" or rules is None:
        yield f"{question.tag} of type {question.get('type')}"
        return
    counts = Counter(part.tag for part in question)
    yield from (f"{name} is unknown" for name in counts.keys() - rules.keys())
    for name, (least, most, pattern) in rules.items():
        if not least <= counts[name] <= most:
            yield f"{counts[name]} times {name}"
        for part in question.findall(name):
            value = part.text or ""
            if pattern is not None and not pattern.fullmatch(value):
                yield f"{name} is {value!r}"
            if pattern is None and len(part.findall("text")) != 1:
                yield f"{name} has no text"
            if part.get("format") not in (None, *FORMATS):
                yield f"format of {name} is {part.get('format')}"
    if question.get("type") != "category":
        if not 1 <= len(question.findtext("name/text", "")) <= 255:
            yield "the name is too long, or none"
        yield from _of_answers(question)


def _of_answers(question: ET.Element) -> Iterator[str]:
    answers = question.findall("answer")
    shares = [float(answer.get("fraction", "nan")) for answer in answers]
    yield from (f"no share of {share}" for share in shares if min(abs(abs(share) - each) for each in SHARES) > 1e-4)
    for answer in answers:
        parts = Counter(part.tag for part in answer)
        is_number = question.get("type") == "numerical"
        if parts != Counter(["text", "feedback", *(["tolerance"] if is_number else [])]):
            yield f"an answer of {dict(parts)}"
        value = answer.findtext("text", "")
        if is_number and not (NUMBER.fullmatch(value) or value == "*"):
            yield f"the number {value}"
        if is_number and not NUMBER.fullmatch(answer.findtext("tolerance", "")):
            yield f"the tolerance {answer.findtext('tolerance')}"
        if not value.strip():
            yield "an empty option"
    if question.get("type") == "multichoice" and question.findtext("single") == "false":
        if round(sum(share for share in shares if share > 0), 2) != 100:
            yield f"shares of {sum(share for share in shares if share > 0)}"
    elif answers and max(shares) != 100:
        yield "nothing is right"
