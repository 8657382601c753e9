"""What a run takes, before it is made: held to the runs themselves, and to every name that can be asked for."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from attnviz import BIASES, INITIALISERS, NORMALISERS, SCORES, TASKS, Config, ConfigError, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.cost.need import MOST_SECONDS, Need
from attnviz.engine.external.traces import of_weights
from attnviz.engine.learning import film
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from tests.support.cases import for_each
from tests.support.needs import NEEDS
from tests.support.small_models import model

WORDS = " ".join(f"w{i}" for i in range(11))
LARGEST: dict[str, Any] = {"sentence": " ".join(f"w{i}" for i in range(128)), "max_tokens": 128, "d_model": 512}
LARGEST |= {"n_heads": 16, "n_layers": 6, "d_k": 64, "d_v": 64, "feed_forward": "gelu", "d_ff": 1024}
SETTINGS: list[dict[str, Any]] = [
    {},
    *({"score": name, "projection_bias": True} for name in SCORES),
    *({"bias": name} for name in BIASES),
    *({"normaliser": name} for name in NORMALISERS),
    *({"initialiser": name, "d_model": 48} for name in INITIALISERS),
    *({"feed_forward": name, "d_ff": 200} for name in FEED_FORWARDS),
    *({"norm": name, "residual": True, "feed_forward": "gelu", "n_layers": 3} for name in NORMS),
    {"position": "rope", "d_k": 32},
    {"second_sentence": "one two three", "embedding": "one_hot"},
    {"second_sentence": WORDS * 2, "sentence": "a"},
    {"n_heads": 6, "n_kv_heads": 2, "d_k": (1, 9), "d_v": (17, 2)},
    {"pad_to": 128, "n_heads": 1},
    {"output_projection": False, "d_v": 40},
    {"softcap": 5.0, "mask": ("causal", "window"), "d_model": 1},
    {"score": "formula", "score_formula": "sum((q@W + q@U + q@A) * k)", "d_k": 16},
]
MANY_PARTS = "+".join("(" + "+".join(f"a*{5 * i + j + 2}" for j in range(5)) + ")" for i in range(6))
TYPED: list[dict[str, Any]] = [
    {"score": "formula", "score_formula": f"a=sum(q*k);{MANY_PARTS}"},
    {"bias": "formula", "bias_formula": f"a=h*i-j;{MANY_PARTS}"},
    {"normaliser": "formula", "normaliser_formula": f"a=relu(x)/n;{MANY_PARTS}"},
]


def numbers(trace: Trace) -> int:
    return sum(step.array.size for steps in (trace.around, *trace.layers) for step in steps.values())


@for_each("setting", SETTINGS)
def test_sizes_are_never_below_those_of_the_run_and_little_above(setting: dict[str, Any]) -> None:
    config = Config(**{"sentence": WORDS, "max_tokens": 128, **setting})
    found, trace = run_sizes.sizes(config), run(config)
    assert numbers(trace) <= found.numbers <= 1.6 * numbers(trace)
    largest = max(step.array.size for steps in (trace.around, *trace.layers) for step in steps.values())
    assert largest <= found.largest <= 3 * largest
    drawn = max(sum(layer[name].array.size for name in ("scores", "weights", "heads")) for layer in trace.layers)
    assert 0.5 * drawn <= found.drawn <= 1.1 * drawn


def test_every_need_is_one_that_is_measured() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("attnviz.")]
    needs = [(module.__name__, each) for module in modules for each in vars(module).values() if isinstance(each, Need)]
    assert len(needs) > 10
    assert [each for each in needs if not any(each[1] is known for known in NEEDS.values())] == [], (
        "tests/support/needs.py"
    )


@for_each("what", NEEDS)
def test_more_of_anything_never_costs_less(what: str) -> None:
    small = Config(sentence=WORDS, n_layers=2, feed_forward="relu", score="additive")
    before = cost.estimate(NEEDS[what], small)
    for name, value in {"n_layers": 4, "n_heads": 8, "d_model": 64, "d_k": 16, "d_ff": 99, "d_a": 30}.items():
        after = cost.estimate(NEEDS[what], replace(small, **{name: value}))
        assert after.n_bytes >= before.n_bytes
        assert after.seconds >= before.seconds


def test_what_once_ended_a_server_is_refused_with_what_would_help() -> None:
    largest = Config(**LARGEST)
    for what in ("experiments/shuffle", "file/json", "file/npz", "file/html"):
        message = cost.refusal(NEEDS[what], largest, most=cost.most_bytes())
        assert "the server allows 500 MB" in message
        assert "fewer layers" in message
    base = Config(d_model=512, n_heads=8, d_k=64, d_v=64, n_layers=6, feed_forward="relu", d_ff=1024)
    assert "What would help most" in cost.refusal(NEEDS["file/json"], base, most=cost.most_bytes())
    assert "500 MB" in cost.refusal(NEEDS["compare"], largest, largest, most=cost.most_bytes())


def test_what_takes_too_long_is_refused_though_there_is_memory() -> None:
    message = cost.refusal(NEEDS["experiments/shuffle"], Config(**LARGEST), most=1e12)
    assert "busy" in message
    assert "fewer layers" in message


@pytest.mark.slow
def test_a_run_has_no_more_time_than_everything_made_from_it() -> None:
    words = {"sentence": " ".join(f"w{i}" for i in range(1024)), "max_tokens": 1024, "n_heads": 1, "d_k": 8, "d_v": 8}
    solved = Config(**words, n_layers=6, d_model=512, initialiser="by_hand")
    for what in NEEDS:  # 150 seconds that nobody counted: they were those of the run and not of what is made from it
        message = cost.refusal(NEEDS[what], solved, most=1e12)
        assert "seconds, and it allows" in message
    assert cost.refusal(NEEDS["explore"], replace(solved, max_tokens=128, n_layers=1), most=1e12) == ""
    by_hand = replace(solved, max_tokens=256, d_model=256, n_layers=5)
    seconds = run_sizes.sizes(by_hand).seconds
    assert 6 < seconds < MOST_SECONDS  # a page has room for one such run, and not for two, however they come
    assert cost.refusal(NEEDS["explore"], by_hand, most=1e12) == ""
    assert "it allows 12" in cost.refusal(NEEDS["compare"], by_hand, replace(by_hand, seed=3), most=1e12)
    assert "it allows 12" in cost.refusal(NEEDS["explore"], by_hand, most=1e12, again=1)


def test_what_is_learned_is_counted_once_and_another_setting_adds_to_it() -> None:
    one = TASKS["backwards"].config(learn_steps=600, learn_batch=32, seed=31)
    learning, other = run_sizes.sizes(one).learning, replace(one, seed=32)
    assert learning > 1
    for need, beside, times in ((Need(made=3), [], 1), (Need(), [one], 1), (Need(), [other], 2)):
        assert times * learning <= cost.estimate(need, one, *beside).seconds < (times + 0.5) * learning


def test_forbidding_each_key_is_held_to_a_few_seconds() -> None:
    many = Config(**LARGEST | {"d_model": 16, "n_layers": 4})
    assert "busy" in cost.refusal(NEEDS["experiments/importance"], many, most=1e12)
    few_keys = replace(many, sentence="a b c d", d_model=256)
    assert cost.refusal(NEEDS["experiments/importance"], few_keys, most=1e12) == ""
    assert cost.refusal(NEEDS["experiments/importance"], TASKS["coreference"].config(), most=1e12) == ""  # learned once


def test_frames_that_would_stay_in_memory_are_refused_where_they_take_too_much() -> None:
    wide = TASKS["translation"].config(d_model=512, n_heads=16, d_k=64, d_v=64, learn_steps=50, learn_batch=1)
    assert "The frames of learning would take" in cost.refusal(NEEDS["explore"], wide, most=1e12)
    for small in (TASKS["backwards"].config(learn_steps=10, seed=5), TASKS["backwards"].config(learn_steps=10)):
        film._FRAMES.clear()  # the second comes with the package, all of it
        run(small)
        really = [*film._FRAMES.values()][-1].n_bytes
        assert 0.8 * really <= cost.NUMBER * run_sizes.sizes(small).frames <= 1.2 * really
    for task in TASKS.values():
        assert cost.refusal(NEEDS["learn"], task.config(), most=cost.most_bytes()) == ""


def test_the_advice_names_what_helps_most() -> None:
    many_words = Config(sentence=LARGEST["sentence"], max_tokens=128, n_heads=16)
    assert "fewer tokens" in cost.refusal(NEEDS["file/json"], many_words, most=1e6)
    assert "a narrower feed-forward block" in cost.refusal(
        NEEDS["explore"], Config(d_model=64, feed_forward="relu", d_ff=1024), most=1e6
    )
    for what in NEEDS:  # also where heads share keys and values, or differ in width
        odd = Config(n_heads=6, n_kv_heads=3, d_k=(1, 2, 3), sentence="a", n_layers=1)
        assert "What would help most" in cost.refusal(NEEDS[what], odd, most=1.0)


@for_each("what", NEEDS)
def test_an_ordinary_setting_is_admitted_everywhere(what: str) -> None:
    ordinary = Config(sentence=WORDS, d_model=64, n_heads=8, d_k=8, d_v=8, n_layers=2)
    assert cost.refusal(NEEDS[what], ordinary, ordinary, most=cost.most_bytes()) == ""


def test_what_was_brought_is_measured() -> None:
    trace = of_weights([[1.0, 0.0], [0.5, 0.5]])
    assert run_sizes.sizes(trace).numbers == numbers(trace)
    assert cost.refusal(NEEDS["data"], trace, most=1.0).endswith("Use a part of it.")


def test_a_host_writes_what_one_computation_may_take() -> None:
    assert cost.most_bytes("2000") == 2e9
    assert cost.most_bytes("") == cost.most_bytes(" ") == 5e8
    for text in ("1g", "512MB", "much", "nan", "inf", "-3", "0", "63", "1e12"):
        with pytest.raises(
            ConfigError, match=f"ATTNVIZ_MAX_MB is '{text}'; write megabytes as a number from 64 to 100000, as in 500"
        ):
            cost.most_bytes(text)


@for_each("setting", TYPED)
def test_the_parts_that_a_typed_formula_keeps_are_counted(setting: dict[str, Any]) -> None:
    config = Config(**{**LARGEST, "d_model": 8, "d_k": 4, "d_v": 4, "n_layers": 1, "feed_forward": "none"} | setting)
    tracemalloc.start()
    run(config)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken <= cost.estimate(NEEDS["explore"], config).n_bytes <= 4 * taken


def test_a_formula_that_cannot_be_read_costs_nothing_and_is_no_error() -> None:
    for faulty in ("sum(q*k", "tahn(q)"):
        assert run_sizes.sizes(Config(score="formula", score_formula=faulty, d_k=3)).working == 0


def test_a_sentence_without_tokens_has_no_cost() -> None:
    with pytest.raises(ConfigError):
        run_sizes.sizes(Config(sentence=" "))


def test_slopes_of_a_model_hold_its_matrices_once_more() -> None:
    small = model("bert")
    sizes = run_sizes._of_model(small.sizes, 6)
    weights = sum(array.size for layer in small._layers for array in layer.values())
    assert sizes.weights == weights
    more = cost.estimate(Need(weight=9), sizes).n_bytes - cost.estimate(Need(), sizes).n_bytes
    assert more == pytest.approx(9 * weights)
    assert NEEDS["explore/backward"].weight >= cost.NUMBER
