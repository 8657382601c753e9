"""Train one of the models: writes its weights and what was measured on the way.

    OMP_NUM_THREADS=1 nice python -m tools.training.train small --seed 0 --folder ../runs
    OMP_NUM_THREADS=1 nice python -m tools.training.train small --seed 0 --folder ../runs --after ../first/small

The second takes the further steps alone, from the file of a model that took the first ones.

PyTorch promises the same bits on one machine and version only, so what is shipped are the files, with their SHA-256.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from tools.corpus import documents
from tools.corpus.words import VOCABULARY
from tools.training.export import opened
from tools.training.measure import exam, right
from tools.training.muon import Muon
from tools.training.network import SIZES, Network, Sizes

STEPS, FURTHER, BATCH, POOL = 3_000, 1_500, 48, 150_000
"""FURTHER is for attention alone: what a skill needs is then in fewer heads, if their outputs have a price."""

MUON_RATE, ADAM_RATE, WARM = 0.02, 6e-3, 50
LATE, FULL = 0.2, 0.6
"""The shares of the first steps at which the price begins, and at which it is all there."""

SLOWER, SPREAD, OUTPUTS = 0.7, 1.5, 6.0
"""Of the further steps: the part of the rates that they begin with, and how much higher the two prices are."""

PRICED = 16
"""Rows of a step whose spread is priced: as good as all of them, and faster."""

EVERY = 250


class Price:
    """What spread rows and long outputs of heads cost, gathered as a run goes through the layers."""

    def __init__(self, net: Network, spread: float = 1.0, outputs: float = 1.0) -> None:
        self._net, self.sum = net, torch.zeros(())
        self._spread, self._outputs = net.sizes.spread * spread, net.sizes.outputs * outputs

    def __call__(self, i: int, weights: Tensor, heads: Tensor) -> None:
        sizes = self._net.sizes
        spread = -(weights * (weights + 1e-9).log()).sum(-1).mean()
        output = self._net.layers[i].o.weight.view(sizes.d_model, sizes.n_heads, -1)
        grams = torch.einsum("dhi,dhj->hij", output, output)
        lengths = torch.einsum("bhti,hij,bhtj->bht", heads, grams, heads).clamp_min(0).add(1e-6).sqrt().mean()
        self.sum = self.sum + self._spread * spread + self._outputs * lengths


class Training:
    """A network, its optimisers, and the rows that it learns from."""

    def __init__(self, sizes: Sizes, seed: int, rows: NDArray[np.int16]) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.net = Network(sizes, len(VOCABULARY), documents.LONGEST)
        self.order = torch.Generator().manual_seed(seed)
        self.rows = torch.from_numpy(rows).long()
        self.has_price = bool(sizes.spread or sizes.outputs)
        self._optimise()

    def _optimise(self) -> None:
        inner = [each for each in self.net.layers.parameters() if each.ndim == 2]
        others = [each for each in self.net.parameters() if not any(each is one for one in inner)]
        self.muon, self.adam = Muon(inner), torch.optim.Adam(others, lr=ADAM_RATE, betas=(0.9, 0.98))

    def again(self) -> None:
        """Begin the further steps: from the weights as a file would hold them, with optimisers that recall nothing."""
        self.net = self.net.half().float()
        self._optimise()

    def first(self, share: float, number: int) -> float:
        """Take one of the first steps, at a share of them, and return the loss without the price."""
        part = min(1.0, max(0.0, (share - LATE) / (FULL - LATE)))
        rate = min(1.0, (number + 1) / WARM) * min(1.0, (1 - share) / 0.5)
        return self._step(rate, Price(self.net) if part and self.has_price else None, part)

    def further(self, share: float, number: int) -> float:
        """Take one of the further steps: slower, and the price is higher."""
        rate = SLOWER * min(1.0, (number + 1) / WARM) * (1 - share)
        return self._step(rate, Price(self.net, SPREAD, OUTPUTS) if self.has_price else None, 1.0)

    def _step(self, rate: float, price: Price | None, part: float) -> float:
        row = self.rows[torch.randint(len(self.rows), (BATCH,), generator=self.order)]
        n = PRICED if price else 0
        logits = torch.cat([self.net(row[:n, :-1], price), self.net(row[n:, :-1])]) if n else self.net(row[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), row[:, 1:].flatten())
        self.net.zero_grad(set_to_none=True)
        (loss if price is None else loss + part * price.sum).backward()
        for group in self.adam.param_groups:
            group["lr"] = ADAM_RATE * rate
        self.adam.step()
        self.muon.step(MUON_RATE * rate)
        return loss.item()


def rows_of(folder: Path) -> NDArray[np.int16]:
    """Return the rows of every run, made once and kept beside the runs under the corpus's digest."""
    file = folder / f"rows-{documents.digest(200)[:8]}.npy"
    if not file.exists():
        np.save(file, documents.rows(POOL, 1))
    return np.load(file)


def train(training: Training, seed: int, name: str, after: bool = False) -> tuple[Network, dict[str, Any]]:
    """Train a network; return it as its file will hold it, in float16, with the facts of its run.

    after  the first steps are taken already
    """
    sizes, asked, began = training.net.sizes, exam(100, 3), time.process_time()
    loss, further = 0.0, 0 if sizes.d_ff else FURTHER
    for number in range(STEPS if after else 0, STEPS + further):
        if number == STEPS:
            training.again()
        after = number - STEPS
        loss = training.first(number / STEPS, number) if after < 0 else training.further(after / further, after)
        if number % EVERY == EVERY - 1:
            found = " ".join(f"{skill[:6]} {right(training.net, each):.2f}" for skill, each in asked.items())
            print(f"{name} {number + 1} {(time.process_time() - began) / 60:.1f} min {loss:.3f} {found}", flush=True)
    facts = {
        "seed": seed,
        "steps": STEPS + further,
        "further": {"steps": further, "rate": SLOWER, "spread": SPREAD, "outputs": OUTPUTS} if further else None,
        "words_read": (STEPS + further) * BATCH * documents.LONGEST,
        "minutes": round((time.process_time() - began) / 60, 1),
        "loss": round(loss, 3),
        "numbers": sum(each.numel() for each in training.net.parameters()),
        "sizes": asdict(sizes),
        "corpus": documents.digest(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    return training.net.half().float(), facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=SIZES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--after", type=Path)
    given = parser.parse_args()
    name, sizes = f"{given.name}-{given.seed}", SIZES[given.name]
    given.folder.mkdir(parents=True, exist_ok=True)
    training = Training(sizes, given.seed, rows_of(given.folder))
    if given.after:
        training.net.load_state_dict(opened(given.after, sizes).state_dict())
    net, facts = train(training, given.seed, name, given.after is not None)
    if given.after:
        first = json.loads((given.after / "card.json").read_text(encoding="utf-8"))
        facts["minutes"] = round(facts["minutes"] + first["minutes"], 1)
    torch.save(net.state_dict(), given.folder / f"{name}.pt")
    (given.folder / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    found = {skill: right(net, each) for skill, each in exam(300, 11).items()}
    print(json.dumps(facts | {"skills": found}))


if __name__ == "__main__":
    main()
