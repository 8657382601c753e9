"""Admission control: a computation is refused beyond what the host allows, and large ones run one at a time.

Every page, panel, experiment, comparison and file asks here before anything is computed. The host sets the memory that
one computation may take with the environment variable ATTNVIZ_MAX_MB. What is large is computed in another process,
where the host has any for that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.engine import inputs
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.estimate import Cost
from attnviz.engine.cost.need import MB, Need
from attnviz.engine.cost.sizes import Sizes
from attnviz.engine.learning import film, learnable, learning_cost
from attnviz.engine.learning.frames import LearnedFrames
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.hosting import counts, recent_runs, workers
from attnviz.ui.session import browser_learner, interrupted, locale
from attnviz.ui.session.browser.uninterrupted import while_connected, while_wanted
from attnviz.ui.session.notices import notice
from attnviz.ui.session.run_queue import RunQueue

LARGE = Cost(24 * MB, 0.4)
"""A computation that takes more of either waits for others that do."""

MOST_TOKENS = 128
"""Tokens of a text that everything shows; what is made of any length shows those of a longer one too, by windows."""
MAPS = Need(any_length=True)
"""The need of the maps of a run and nothing else."""

WORDS = Words(
    {
        "waiting": "Another large setting is being computed; this one comes next.",
        "long": "This text has {n} tokens, and up to {most} of them can be shown here. Explore shows all, one part "
        "at a time; “Tokens at most” cuts a text.",
    }
)

Made = TypeVar("Made")
TURNS = RunQueue(large=max(workers.there.n, 1))


def refusal(need: Need, of: Config | Trace | Sizes, *beside: Config, again: int = 0) -> str:
    """Return why a computation is refused here, and what would help; empty if it is not."""
    n = max(map(_length, (of, *beside)))
    if n > MOST_TOKENS and not need.any_length:
        return WORDS["long"].format(n=n, most=MOST_TOKENS)
    most = cost.most_bytes(os.environ.get(cost.VARIABLE, ""))
    return cost.refusal(need, of, *beside, most=most, again=again)


def _length(of: Config | Trace | Sizes) -> int:
    """Return the number of tokens of the longer text."""
    if isinstance(of, Sizes):
        return of.n_keys
    if isinstance(of, Trace):
        return max(len(of.query_tokens), len(of.key_tokens))
    if of.max_tokens <= MOST_TOKENS:
        return of.max_tokens
    return max(map(len, inputs.tokens(of)[:2]))


def admitted(need: Need, of: Config | Trace | Sizes, *beside: Config, again: int = 0) -> bool:
    """Say why something cannot be made here or now, if so; else wait for others if it is large, and return True.

    need    what it takes beside the run
    of      a setting, a run, or the sizes of what is to be made of given numbers
    beside  settings whose runs are in memory at the same time;  again  how often the run is made once more
    """
    refused = refusal(need, of, *beside, again=again)
    if refused:
        counts.refused("large")
        notice(refused, kind="fault")
        return False
    if not browser_learner.at_hand(*_settings(of, *beside)):
        return False
    if waits(need, of, *beside, again=again):
        name = interrupted.name(need, cost.setting(of) if isinstance(of, Trace) else of, beside, again)
        if not interrupted.may_begin(name):
            return False
        container = st.empty()
        TURNS.enter_large(
            lambda: container.caption(WORDS["waiting"])
        )  # drawing ends a run that nobody waits for any more
        container.empty()
    return True


@contextmanager
def turn(*, opens: bool = False) -> Iterator[None]:
    """Wait for a turn of the page; what is computed in it ends once nobody waits for it.

    opens  whether the run opens the page for a visitor who sees nothing of it yet
    """
    with TURNS.turn(opens=opens), while_wanted():
        yield


def computed(config: Config) -> Trace:
    """Return the run of a setting that the page shows, for a callback."""
    return before_page(MAPS, config, lambda: run_of(config))


def run_of(config: Config) -> Trace:
    """Return the run of a setting: `run`, in another process if it is large; a small one that was just made is there.

    Raises workers.Ended where that process had to end.
    """
    if _stays(config):
        return run(config)
    found = cost.estimate(MAPS, config)
    return recent_runs.run_of(config, found.n_bytes, lambda: apart(found, run, config))


def _stays(config: Config) -> bool:
    """Return whether a setting needs what only this process has: the weights of a trained model, or what was learned.

    A run of either takes no long time: a host bounds the tokens of a model, and tasks are short.
    """
    return bool(model_registry.find(config.model)) or learnable.learns(config)


def apart(found: Cost, make: Callable[..., Made], *given: object) -> Made:
    """Return what a function of a module gives, called in another process if that costs much, without a turn meanwhile.

    Raises workers.Ended where that process had to end.
    """
    if not (workers.there.n and is_large(found)):
        return make(*given)
    with TURNS.away():
        return workers.there(make, *given)


def repeated(
    config: Config,
    runs: int,
    make: Callable[..., Made],
    *given: object,
    known: Trace | None = None,
    like: Config | None = None,
) -> Made:
    """Return what a function makes of a setting that it runs so often, in another process if all of that is large.

    make   a function of a module, called with the setting and what is `given`; here also with `known`, if that is given
    known  a run that is there already, which it need not make here
    like   a setting that costs what each of the runs does; by default this one

    Raises workers.Ended where that process had to end.
    """
    found = cost.estimate(MAPS, like or config, again=runs)
    if not _stays(config) and workers.there.n and is_large(found):
        return apart(found, make, config, *given)
    return make(config, *given, *([] if known is None else [known]))


FRAMES_AT_ONCE = 2


def _learned(config: Config, learned: LearnedFrames, step: int) -> tuple[LearnedFrames, int]:
    """Learn until a step, a few frames at a time: each part may take as long as any computation."""
    cost_of_all, last = Cost(0, learning_cost.of(config).seconds), step
    for stop in reversed(
        [each for each in learnable.kept_steps(step) if each not in learned.frames][::-FRAMES_AT_ONCE]
    ):
        learned, last = apart(cost_of_all, film.learned_until, learned, stop)
        if last < stop:
            break
    return learned, last


film.learn_by(_learned)


def before_page(need: Need, of: Config | Sizes, make: Callable[[], Made]) -> Made:
    """Run a callback in a turn of its own, before that of the page, and return its result.

    Raises ConfigError with the reason why there is no room for it here.
    """
    refused = refusal(need, of)
    if refused:
        counts.refused("large")
        raise ConfigError(refused.removesuffix("."))
    with turn():
        if waits(need, of):
            TURNS.enter_large()
        return make()


def _settings(*of: Config | Trace | Sizes) -> list[Config]:
    """Return the settings of what is to be computed; given numbers have none that could learn."""
    return [cost.setting(each) for each in of if not isinstance(each, Sizes)]


def waits(need: Need, of: Config | Trace | Sizes, *beside: Config, again: int = 0) -> bool:
    """Return whether a computation is large, or learns what was not learned yet; what was costs no learning."""
    if any(learnable.learns(each) and not film.is_kept(each) for each in _settings(of, *beside)):
        return True
    first = of if isinstance(of, Sizes) or not learnable.learns(cost.setting(of)) else _kept(cost.setting(of))
    return is_large(cost.estimate(need, first, *map(_kept, beside), again=again))


def _kept(config: Config) -> Config:
    """Return a setting as what it costs once it was learned."""
    return replace(config, learn_steps=0) if learnable.learns(config) else config


def is_large(found: Cost) -> bool:
    """Return whether a computation should not be made at the same time as others like it."""
    return found.n_bytes > LARGE.n_bytes or found.seconds > LARGE.seconds


def download(
    where: DeltaGenerator,
    label: str,
    form: str,
    of: Trace,
    again: Callable[[], Trace],
    target: ExportTarget,
    *,
    file_name: str,
    key: str | None = None,
) -> str:
    """Draw a button that makes a file of a run when it is pressed; return why it cannot be made here, if so.

    again  makes the run anew: one that waited to be saved would stay in memory as long as its page
    """
    need = FORMATS[form].need
    refused = refusal(need, of)
    if refused:
        where.button(label, key=key, disabled=True, help=refused)
        return refused
    make = later(need, of, partial(_file, form, again, target))
    where.download_button(label, make, file_name, key=key, on_click="ignore")
    return ""


def _file(form: str, again: Callable[[], Trace], target: ExportTarget) -> bytes | str:
    return export(form, again(), target)


def later(need: Need, of: Config | Trace, make: Callable[[], Made]) -> Callable[[], Made | bytes]:
    """Return a deferred file factory: it runs alone if the file is large, in the current language.

    It ends, with an empty file, if its visitor goes meanwhile.

    make  a function of a module with what it is given (`functools.partial`), so that another process can call it
    """
    found = cost.estimate(need, of)
    if not is_large(found):
        return locale.in_current_language(make)
    check, stays = while_connected(), _stays(cost.setting(of))

    def run_alone() -> Made | bytes:
        try:
            with cancellation.checked_by(check), TURNS.alone(check):
                return make() if stays else apart(found, make)
        except Cancelled:
            return b""  # nobody is there to get it

    return locale.in_current_language(run_alone)
