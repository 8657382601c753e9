"""An assignment as one field of a link: its unlocked settings, its hidden parts, its questions.

The setting itself travels in the link as always. The field holds the rest, and for what is free also what was given,
so that a student may try things out and is still asked about what the teacher set. It has a version and a check, so a
link that was cut on its way is told from one that is whole. It is no secret: whoever can read base64 can read it.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from attnviz.classroom import question_codec
from attnviz.classroom.marking import question_notes
from attnviz.classroom.marking.answer_codes import BASE
from attnviz.classroom.marking.assignment_parts import CONTROLS, LABELS, NOTHING, PANELS, PARTS, PICTURES
from attnviz.classroom.question_codec import Asked, Item
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.run_questions import SHOWING, STOPS
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.settings import fields, plain_text, url_codec
from attnviz.settings.fields import changes, options, serialised, settings, switch, text
from attnviz.settings.fields import number as number_field
from attnviz.settings.language import Words

VERSION = "1"
MAX_FIELD_CHARACTERS = 100_000
"""Characters of the field; a link holds 6,000 with the setting, so more than that is only kept in the session."""

DIGEST_SIGNS = 5
N_SEEDS = 1_000_000
"""As many as a setting can have."""

SHOWN_WORDS = ("task_title", "task_text", "task_words", "task_points")
"""The fields that may be corrected without making it another assignment."""

PROBLEMS = Words(
    {
        "cut": "The assignment in this link was cut or changed on its way; ask for the link again.",
        "version": "The assignment in this link is of a version that is not known here; ask for the link again.",
        "part": "The assignment in this link: {problem}",
    }
)


@dataclass(frozen=True)
class Assignment:
    """The part of an assignment beside its setting. The names of the fields stand in links."""

    task_title: str = text("", label=LABELS["title"], longest=120)
    task_text: str = text("", label=LABELS["text"], longest=1_500, lines=5)
    task_free: tuple[str, ...] = options(CONTROLS, NOTHING, label=LABELS["free"], help=LABELS["free_help"])
    task_hidden: tuple[str, ...] = options(PARTS, NOTHING, label=LABELS["hidden"], help=LABELS["hidden_help"])
    task_own: bool = switch(True, label=LABELS["own"], help=LABELS["own_help"])
    task_feedback: bool = switch(True, label=LABELS["feedback"], help=LABELS["feedback_help"])
    task_tries: int | None = number_field(
        None, 1, 20, none="as many as they like", label=LABELS["tries"], help=LABELS["tries_help"]
    )
    task_questions: tuple[Item, ...] = serialised(
        question_codec.MAX_QUESTIONS,
        question_codec.validated,
        question_codec.encode,
        question_codec.decode,
        label=LABELS["questions"],
    )
    task_words: tuple[str, ...] = serialised(
        question_codec.MAX_QUESTIONS,
        question_notes.checked_words,
        question_notes.write_words,
        question_notes.read_words,
        label=LABELS["words"],
    )
    task_points: tuple[float, ...] = serialised(
        question_codec.MAX_QUESTIONS,
        question_notes.checked_points,
        question_notes.write_points,
        question_notes.parse_points,
        label=LABELS["points"],
    )
    task_given: tuple[tuple[str, str], ...] = changes(Config, prefix="given_", label=LABELS["given"])

    def __post_init__(self) -> None:
        fields.check(self)

    @property
    def free(self) -> tuple[str, ...]:
        """The settings that a student may change; never the seed where it follows from the name."""
        return tuple(name for name in self.task_free if name != NOTHING and not (self.task_own and name == "seed"))

    @property
    def points(self) -> tuple[float, ...]:
        """The points of each question."""
        n = len(self.task_questions)
        return (*self.task_points[:n], *(1.0,) * (n - len(self.task_points)))

    @property
    def asked(self) -> list[Asked]:
        """The questions, each with the teacher's own wording; empty where it asks in its own words."""
        return question_codec.asked(self.task_questions, self.task_words)

    @property
    def locked(self) -> tuple[str, ...]:
        """The settings that a student may not change."""
        return tuple(item.name for item in settings(Config) if item.name not in self.free)

    @property
    def pictures(self) -> tuple[str, ...]:
        """The steps whose pictures are shown."""
        return tuple(name for name in PICTURES if name not in self.task_hidden)

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels that are shown."""
        return tuple(name for name in PANELS if name not in self.task_hidden)


def encode(task: Assignment) -> str:
    """Return the assignment as the field of a link; nothing for one in which nothing is set."""
    query = url_codec.encode(task)
    if query.keys() <= {url_codec.VERSION}:
        return ""
    payload = (
        base64.urlsafe_b64encode(
            json.dumps(query, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        )
        .decode()
        .rstrip("=")
    )
    return f"{VERSION}.{_check(payload)}.{payload}"


def decode(field: str) -> tuple[Assignment | None, list[str]]:
    """Return the assignment that a field means, None if it means none, and what had to be changed to read it.

    Never raises.

    >>> decode("")
    (None, [])
    """
    if not field:
        return None, []
    version, _, rest = field.partition(".")
    check, _, payload = rest.partition(".")
    if version != VERSION:
        return None, [PROBLEMS["version"]]
    if len(field) > MAX_FIELD_CHARACTERS or check != _check(payload):
        return None, [PROBLEMS["cut"]]
    query = _query(payload)
    if query is None:
        return None, [PROBLEMS["cut"]]
    (task,), problems = url_codec.decode(query, Assignment)
    return task, [PROBLEMS["part"].format(problem=problem) for problem in problems]


def _query(payload: str) -> Mapping[str, Any] | None:
    """Decode the field into values by name, or None if it is none of ours: its check can be made by anyone."""
    try:
        query = json.loads(base64.b64decode(payload + "=" * (-len(payload) % 4), "-_", validate=True), parse_int=str)
    except (ValueError, RecursionError):
        return None
    return query if isinstance(query, dict) else None


def _check(payload: str) -> str:
    return blake2b(payload.encode("utf-8", "replace"), digest_size=4).hexdigest()


def with_setting(task: Assignment, config: Config) -> Assignment:
    """Return the assignment with what is free as it stands in the setting."""
    whole = url_codec.encode(config, every=True)
    return replace(task, task_given=tuple((name, whole[name]) for name in task.free))


def teacher_setting(config: Config, task: Assignment) -> tuple[Config, list[str]]:
    """Return the teacher's setting, whatever a student has made of what is free, and what of it could not be read."""
    free = {*task.free, *(("solved_anew",) if "initialiser" in task.free else ())}  # the latter from older links
    return url_codec.apply_changes(config, [pair for pair in task.task_given if pair[0] in free])


def digest(config: Config, task: Assignment) -> int:
    """Return a number that stands for all of an assignment but its words; `config` may be as a student has changed it.

    Below 23 to the 5th. Another lock, number in the setting or question make another digest; older links keep theirs.
    """
    given, asked = map(_as_first_written, map(url_codec.encode, (teacher_setting(config, task)[0], task)))
    task_only = {name: value for name, value in asked.items() if name not in SHOWN_WORDS}
    return number(json.dumps([given, task_only], sort_keys=True)) % BASE**DIGEST_SIGNS


def _as_first_written(query: Mapping[str, str]) -> dict[str, str]:
    """Return an address as the oldest version wrote what it means, so that a number made of it is made again.

    >>> _as_first_written({"v": "2", "initialiser": "by_hand", "solved_anew": "yes"})
    {'v': '1', 'initialiser': 'by_hand'}
    """
    whole = {name: value for name, value in query.items() if name != url_codec.VERSION}
    for version in range(1, 1 + len(url_codec.MIGRATIONS)):
        without = {name: {other: whole[other] for other in whole if other != name} for name in whole}
        old = {name: whole[name] for name in whole if url_codec.migrated(without[name], version) != whole}
        if url_codec.migrated(old, version) == whole:
            return {url_codec.VERSION: str(version), **old}
    return {**query}


@dataclass(frozen=True)
class Opened:
    """An assignment as it is given out.

    given     the setting as the teacher gave it, whatever a student has made of what is free
    digest    a number that stands for the assignment, from which a student's own numbers follow
    problems  what had to be changed to read the assignment;  unread  what of the given setting could not be read
    """

    task: Assignment
    given: Config
    digest: int
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def of_student(self, name: str) -> Config:
        """Return the setting with the student's own numbers, if there are to be any."""
        return with_seed(self.given, self.task, self.digest, name)


def open_assignment(field: str, config: Config) -> tuple[Opened | None, list[str]]:
    """Open the field of a link with its setting; None, and the reason, if there is nothing to open.

    config  the setting of the link, which a student may have changed where it is free

    It never raises.
    """
    task, problems = decode(field)
    if task is None:
        return None, problems
    setting, unread = teacher_setting(config, task)
    return Opened(task, setting, digest(config, task), tuple(problems), tuple(unread)), []


def normalised_name(name: str) -> str:
    """Return a name or number as it counts: capitals, accents' spelling and spaces make no difference.

    >>> normalised_name("  Ada  LOVELACE ")
    'ada lovelace'
    """
    return " ".join(unicodedata.normalize("NFKC", plain_text.clean(name)).casefold().split())


def seed(digest: int, name: str) -> int:
    """Return the seed of one student: the same in every session, and another in another assignment."""
    return number(f"seed/{digest}/{normalised_name(name)}") % N_SEEDS


def of_student(config: Config, task: Assignment, name: str) -> Config:
    """Return a setting of the assignment with the student's own numbers, if there are to be any."""
    return with_seed(config, task, digest(config, task), name)


def with_seed(config: Config, task: Assignment, digest: int, name: str) -> Config:
    """Return the same, where the digest of the assignment is known: for a whole class."""
    return replace(config, seed=seed(digest, name)) if task.task_own else config


def number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


def resolved_questions(task: Assignment, trace: Trace, *, worked: bool = True) -> tuple[ResolvedQuestion | str, ...]:
    """Return every question in a run, or why this run has no answer to it; `worked` with the arithmetic."""
    n = len(trace.layers)
    asked = (question_codec.to_question(*each, layers=n) for each in task.asked)
    return tuple(_resolved(question, trace, worked) for question in asked)


def n_runs(task: Assignment) -> int:
    """Count the runs that the questions are asked about beside the one that is given: each change makes one, and a
    slider one for each of its stops.
    """
    n_stops = max(map(len, STOPS.values())) + 2
    return sum("change" in dict(at) for _, at in task.task_questions) + n_stops * sum(
        kind == "slider" for kind, _ in task.task_questions
    )


def _resolved(question: Question, trace: Trace, worked: bool) -> ResolvedQuestion | str:
    try:
        return resolve(question, trace, worked=worked)
    except ValueError as error:
        return str(error)


def given_away(task: Assignment, questions: Sequence[ResolvedQuestion | str]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the questions whose answers can be read off what is shown."""
    hides = {
        number: SHOWING if ask.form == "mask" else (ask.hides,)
        for number, ask in enumerate(questions, 1)
        if isinstance(ask, ResolvedQuestion) and ask.hides
    }
    return tuple(number for number, steps in hides.items() if task.panels or {*steps} & {*task.pictures})


def unchanged(task: Assignment, config: Config) -> tuple[int, ...]:
    """Return the numbers, from 1, of the questions about a change that leaves the setting as it is."""
    changes = {n: question_codec.to_question(each).at.get("change") for n, each in enumerate(task.task_questions, 1)}
    return tuple(n for n, change in changes.items() if change and replace(config, **change) == config)
