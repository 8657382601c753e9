"""Some visitors on a trained model among ordinary ones, beside as many who are all ordinary.

A click on the page computes one layer from what is kept of the run; here every move is another sentence, as long as a
host allows, so that all layers are computed: the most that a visitor can ask for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from attnviz import Config, ConfigError
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records import offered_models
from attnviz.models import hosting
from benchmarks.load import warmed
from benchmarks.outcome import Outcome
from benchmarks.served import ROOT, Server, served
from benchmarks.visitors import Tally, Visitor, entered, expected, left, seed_of

TIMES = 2  # as long as all ordinary visitors' p95
WORDS: tuple[str, ...] = (
    "king", "and", "the", "queen", "saw", "a", "dog", "cat", "sit", "on", "mat", "near", "river", "because", "it",
    "was", "warm", "they", "were", "glad", "to", "rest", "there", "now", "while", "some", "old", "men", "drank", "tea",
)  # fmt: skip
"""30: with what a model puts around them, as many tokens as a host allows if it says nothing."""
INSTALLED, SMALL = "minilm", f"bert={ROOT / 'tests/models/bert'}"


class ModelVisitor(Visitor):
    """A visitor whose moves are sentences."""

    moved: ClassVar[str] = "sentence"

    def wanted(self, seed: int) -> Config:
        return wanted(self.config, seed)

    def told(self, seed: int) -> dict[str, Any]:
        return {"string_value": self.wanted(seed).sentence}


def wanted(config: Config, seed: int) -> Config:
    """Return a setting with the sentence that a seed stands for: the words in turn, the last one another."""
    first, last = seed % len(WORDS), WORDS[seed // len(WORDS) % len(WORDS)]
    return replace(config, sentence=" ".join([*WORDS[first + 1 :], *WORDS[:first], last]))


def offered() -> str:
    """Offer a model in this process, which computes the right answers; return what a server is told to offer.

    Where the trained one is not installed, a small one stands in.
    """
    try:
        hosting.offer([INSTALLED])
    except ConfigError:
        hosting.offer([SMALL])
        return SMALL
    return INSTALLED


def on_a_model(n: int, n_models: int, rounds: int) -> Outcome:
    """Measure n visitors, of whom n_models are on a model, on a server that offers it."""
    written = offered()
    config = Config(model=offered_models.names()[0])
    for at in range(n_models):  # before anybody waits for an answer
        for number in range(rounds + 1):
            expected(wanted(config, seed_of(at, number)))
    with served(within=("env", f"{hosting.VARIABLE}={written}")) as server:
        return asyncio.run(compared(server, n, n_models, rounds))


async def compared(server: Server, n: int, n_models: int, rounds: int) -> Outcome:
    """Everybody moves in the same moment, in turn all ordinary and some on the model."""
    await warmed(server)
    [(name, model)] = model_registry.MODELS.items()
    out, opening, alone, mixed, those = Outcome(), Tally(), Tally(), Tally(), Tally()
    ordinary = await entered(server.url, n, opening)
    others = await entered(server.url, n_models, opening, Config(model=offered_models.names()[0]), ModelVisitor)
    spent = [0.0, 0.0]
    for number in range(1, rounds + 1):
        for is_mixed in (False, True):
            used = server.processor
            if is_mixed:
                await asyncio.gather(
                    moved(ordinary[n_models:], number + rounds, mixed), moved(others, number, mixed, those)
                )
            else:
                await moved(ordinary, number, alone)
            spent[is_mixed] += 1000 * (server.processor - used) / n / rounds
    await left([*ordinary, *others])
    failures = out.failed(opening.wrong + alone.wrong + mixed.wrong)
    times = mixed.ms(0.95) / alone.ms(0.95)
    n_tokens = len(model.tokens(others[0].wanted(1))) if others else 0
    out.row(f"{n} move at once, {rounds} times", f"{alone.words()}; {spent[0]:.0f} ms of processor a move")
    out.row(
        f"In turn with them, {n_models} of {n} on {name}, each with a new sentence of {n_tokens} tokens",
        f"{mixed.words()}; {spent[1]:.0f} ms of processor a move; {failures}",
        f"p95 ≤ {TIMES} × without",
        times <= TIMES,
    )
    out.row("Those on the model alone", those.words())
    out.figures = {"models_times": times, "models_p95": mixed.ms(0.95), "models_without_p95": alone.ms(0.95)}
    return out


async def moved(visitors: Sequence[Visitor], number: int, *tallies: Tally) -> None:
    """All of them move at once; each answer is noted in every tally."""
    now = Tally()
    await asyncio.gather(*(now.time(each.move(seed_of(at, number))) for at, each in enumerate(visitors)))
    for tally in tallies:
        tally.seconds += now.seconds
        tally.wrong += now.wrong
