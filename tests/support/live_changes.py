"""Changes of random runs, for the program of the browser: what is asked of it, and the run that has to come out."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attnviz import BIASES, MASKS, NORMALISERS, SCORES, Config, Trace, run
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.live.program import Data, arrays_of, key, program_of
from attnviz.live.typed_numbers import numbers_of, typed_fields, with_typed_number
from attnviz.settings.faults import ConfigError
from tests.support import slopes
from tests.support.small_models import NAMES, model

Rerun = Callable[..., Trace]
"""Runs the same again, with fields of the setting in place of its own, and edits."""

TEXTS = ("a cat sat", "the cat sat on the mat", "who")
BY_HEAD = ("i - j < 2**h", "h != 1 or j == 0 and i < n_heads", "j < n_heads")
MASK_LINES = ('token[j] != "the"', "j <= i or (i + j) % 3 == 0", "abs(i - j) // 2 < 2 and i >= 0")
SCORE_LINES = (
    *("sum(abs(q - k))", "max(q * k) - min(q)", "v @ tanh(q @ U + k @ A + b) * g", "norm(q - k) + sum(q * k * v)"),
    *("unit(q) @ W @ k / sqrt(d_k) - 0.1 * abs(i - j)", "sum(q * U[j]) + alpha * w[j] + mean(k)", "h * sum(k) / n"),
)
BIAS_LINES = ("-g * abs(i - j)", "-exp(alpha) * log(1 + exp(beta) * abs(i - j)) / h", "tau if j == 0 else n_key / 9")
NORMALISER_LINES = (
    *("e = exp(x - max(x)); e / sum(e)", "relu(x - level(x, 1))", "p = relu(x)**2; ratio(p, sum(p))"),
    *("sigmoid(x - mean(x)) / n", "exp(x - norm(x)) * (1 + (i - j) % 3) + min(x) / n_key"),
)


@dataclass
class Case:
    """A run, changes of it, and the run with them; the program is that of the run, or of the one with other lines."""

    name: str
    before: Trace
    after: Trace
    changes: list[Data]
    program: Data
    given: dict[str, np.ndarray] = field(default_factory=dict)
    """Whole steps that are handed over: what was changed, or drawn anew."""


def setting(at: int, dice: random.Random) -> Config:
    """A setting in which anything may be on, lines that are typed among it."""
    config = slopes.anything(at, layers=3)
    typed = {"score_formula": dice.choice(SCORE_LINES), "normaliser_formula": dice.choice(NORMALISER_LINES)}
    if dice.random() < 0.15:
        typed |= {"score": "formula"}
    if dice.random() < 0.15:
        typed |= {"normaliser": "formula"}
    if dice.random() < 0.2:
        typed |= {"mask": ("formula", dice.choice(("none", "causal"))), "mask_formula": dice.choice(MASK_LINES)}
    more = random.Random(f"lines of {at}")  # noqa: S311 - dice of their own, so that the other draws stay
    if "mask" in typed and more.random() < 0.6:
        typed |= {"mask_formula": more.choice(BY_HEAD)}
    if more.random() < 0.2:
        typed |= {"bias": "formula", "bias_formula": more.choice(BIAS_LINES)}
    if config.initialiser == "by_hand" and dice.random() < 0.8:  # what heads were made for is checked in each run
        typed |= {"initialiser": "normal"}
    edits = () if typed.get("score") or typed.get("bias") else config.edits
    return replace(config, **typed, edits=edits)  # type: ignore[arg-type]


def number(dice: random.Random) -> float:
    """A number that the parameters of a model can hold, which are of single precision."""
    return float(np.float32(dice.uniform(-1, 1)))


def base(at: int, dice: random.Random) -> tuple[str, Trace, Rerun]:
    """A run, and what runs it again."""
    if at % 10 == 0:
        name, text = dice.choice(NAMES), dice.choice(TEXTS)
        free: dict[str, Any] = {"normaliser": dice.choice(list(NORMALISERS)), "mask": dice.choice(("none", "causal"))}
        trace = model(name)(text, **free)

        def of_model(edits: Any = (), **fields: Any) -> Trace:
            return model(name)(text, edits=edits, **free | fields)

        return f"{name} {free}", trace, of_model
    config = setting(at, dice)
    return str(config), run(config), lambda edits=(), **fields: run(replace(config, **fields), edits=edits)


KINDS = 6
"""How many changes of each run are tried."""


def cases_of(at: int) -> Iterator[Case]:
    """Yield some changes of a run; none where a setting cannot be run, as its edits do not fit."""
    dice = random.Random(at)  # noqa: S311 - nothing secret
    try:
        name, before, rerun = base(at, dice)
    except ConfigError:
        return
    program = program_of(before)
    for change in dice.sample((entries, entries, whole_step, mask_cell, numbers, numbers, other_row), k=KINDS):
        try:
            made = change(before, rerun, dice, program)
        except ConfigError:
            continue
        if not has_grown(made.after):
            told = f"{at}: {[*made.changes, *made.given]}: {name}"
            yield with_what_was_drawn(replace(made, name=told))


LARGE = 1e6
"""The size of scores from which their rounding is seen in the weights."""


def has_grown(trace: Trace) -> bool:
    """Whether scores have grown, layer by layer, beyond what weights can be compared at."""
    arrays = (layer["scores"].array for layer in trace.layers)
    return any(abs(array[np.isfinite(array)]).max(initial=0.0) > LARGE for array in arrays)


def entries(before: Trace, rerun: Rerun, dice: random.Random, program: Data) -> Case:
    """A few numbers of any steps."""
    edits = []
    steps = list(slopes.steps_of(before))
    for layer, name, step in dice.sample(steps, k=dice.randint(1, 3)):
        places = slopes.indices(step)
        edits += [(layer, name, dice.choice(places), number(dice))] if places else []
    return Case("", before, rerun(edits=edits), [_entry(before, edit) for edit in edits], program)


def whole_step(before: Trace, rerun: Rerun, dice: random.Random, program: Data) -> Case:
    """All numbers of a step at once."""
    tied = ("w_q", "b_q") if before.config.tied else ()
    layer, name, step = dice.choice([each for each in slopes.steps_of(before) if each[1] not in tied])
    edits = [(layer, name, place, number(dice)) for place in slopes.indices(step)]
    array = np.array(step.array, dtype=float)
    for *_, place, value in edits:
        array[place] = value
    return Case("", before, rerun(edits=edits), [], program, {key((layer, name)): array})


def mask_cell(before: Trace, rerun: Rerun, dice: random.Random, program: Data) -> Case:
    """A cell of the mask of every layer, and a number of the setting beside it."""
    layers = [i for i, layer in enumerate(before.layers) if "allowed" in layer]
    place = tuple(map(dice.randrange, before.layers[0]["allowed"].shape))
    may = float(dice.random() < 0.5)
    edits = [(i, "allowed", place, may) for i in layers]
    changes = [_entry(before, edit) for edit in edits]
    temperature = dice.uniform(0.3, 2.0)
    after = rerun(edits=edits, temperature=temperature)
    return Case("", before, after, [*changes, {"setting": "temperature", "value": temperature}], program)


def numbers(before: Trace, rerun: Rerun, dice: random.Random, program: Data) -> Case:
    """A few numbers of the setting, of those that the run reads."""
    config = before.config
    ranges: dict[str, tuple[float, float]] = {"temperature": (0.3, 2.0)}
    if not is_pretrained(before):
        ranges |= {"scale": (0.1, 1.5)} | ({"softcap": (0.5, 3.0)} if config.softcap else {})
        ranges |= {"rope_base": (10.0, 1000.0)} if config.position == "rope" else {}
    ranges |= {"bias_slope": (0.0, 2.0)} if "bias_slope" in program["settings"] else {}
    whole = {"reach": (0, 4), "dilation": (1, 3), "block_size": (1, 4), "prefix_length": (0, 4), "n_global": (0, 3)}
    moved: dict[str, Any] = {name: dice.uniform(*ranges[name]) for name in ranges if dice.random() < 0.6}
    moved |= {name: dice.randint(*each) for name, each in whole.items() if name in program["settings"]}
    changes = [{"setting": name, "value": value} for name, value in moved.items()]
    for knob in NORMALISERS[config.normaliser].knobs:
        value = dice.uniform(knob.low, knob.high)
        moved["normaliser_knobs"] = {f"{config.normaliser}.{knob.name}": value}
        changes.append({"setting": f"{config.normaliser}.{knob.name}", "value": value})
    if not is_pretrained(before):
        typed = config
        for each in [each for name in typed_fields(config) for each in numbers_of(getattr(config, name), name)]:
            low = max(each.value, 1.0)
            value = float(dice.randint(1, 5)) if each.is_whole else round(dice.uniform(low / 2, 2 * low), 3)
            typed = with_typed_number(typed, each.setting, value)
            changes.append({"setting": each.setting, "value": value})
        moved |= {name: getattr(typed, name) for name in typed_fields(config)}
    return Case("", before, rerun(**moved), changes, program)


LINES = ("score", "normaliser", "bias", "scale", "temperature")


def other_row(before: Trace, rerun: Rerun, dice: random.Random, program: Data) -> Case:
    """Another score, normaliser, bias or mask: another program, to which the lines are what changed."""
    kinds: dict[str, Any] = {"score": SCORES, "normaliser": NORMALISERS, "bias": BIASES, "mask": MASKS}
    if is_pretrained(before):
        del kinds["score"], kinds["bias"]
    field_name = dice.choice(list(kinds))
    if field_name == "bias" and before.config.bias == "none":
        field_name = "normaliser"  # a bias that was not there is another plan
    names = [name for name in kinds[field_name] if field_name != "bias" or name != "none"]
    after = rerun(**{field_name: dice.choice(names)})
    program = program_of(after)
    settings = [name for name in program["settings"] if name in LINES or name.startswith("mask.")]
    changes = [{"setting": name, "value": program["settings"][name]} for name in settings]
    return Case("", before, after, changes, program)


def with_what_was_drawn(case: Case) -> Case:
    """Hand over what the program does not compute and is not what it was: parameters of another score, a drawn bias."""
    made = {step["name"]: step["made"] for step in case.program["steps"]}
    touched = {change["step"] for change in case.changes if "step" in change}
    before, after = arrays_of(case.before), arrays_of(case.after)
    for name, array in after.items():
        drawn = made[name] is None and name not in touched and name not in case.given
        if drawn and (name not in before or not np.array_equal(before[name], array, equal_nan=True)):
            case.given[name] = array
    return case


def _entry(trace: Trace, edit: tuple[int | None, str, tuple[int, ...], float]) -> Data:
    layer, name, index, value = edit
    step = (trace.around if layer is None else trace.layers[layer])[name]
    return {"step": key((layer, name)), "at": int(np.ravel_multi_index(index, step.shape)), "value": value}
