"""Learning: what is learned, that it is the gradient, that it is what `run` then has, and what it refuses."""

from __future__ import annotations

import ast
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import INITIALISERS, NORMALISERS, SCORES, TASKS, Config, ConfigError, Film, learn, run
from attnviz.engine.learning import film as films
from attnviz.engine.learning import learnable, normalisers, scores
from attnviz.engine.learning.frames import LearnedFrames
from attnviz.engine.learning.trainer import Trainer
from attnviz.engine.numerics import exact
from attnviz.engine.tasks.games import GAMES
from tests.support.cases import for_each

PACKAGE = Path(exact.__file__).parents[2]
SMALL = {"d_model": 12, "d_k": 6, "d_v": 5, "n_heads": 2, "d_a": 3, "learn_batch": 3, "rope_base": 10.0}


def first(film: Film, measure: str, least: float) -> int:
    """The first kept step at which a measure is reached."""
    return next((step for step, value in zip(film.steps, getattr(film, measure)) if value >= least), 10**9)


# --- what can be learned ---------------------------------------------------------------------------------------------

WITHIN = {"translation": 110, "backwards": 60, "recall": 120, "induction": 150, "dates": 160}
"""Steps within which a task is done: right in 99 of 100 rows, with 0.9 of the weight where it should be."""


@pytest.mark.parametrize("name", ["translation", "backwards"])
def test_a_task_is_learned(name):
    film = learn(TASKS[name].config())
    assert max(first(film, "right", 0.99), first(film, "crisp", 0.9)) <= WITHIN[name]
    assert film.crisp[0] < 0.5 > film.right[0]
    assert film.loss[-1] < 0.01 * film.loss[0]


@pytest.mark.slow
@for_each("name, seed", [(name, 1 + n % 2) for n, name in enumerate(WITHIN)])
def test_a_task_is_learned_with_any_seed(name, seed):
    film = learn(TASKS[name].config(seed=seed))
    assert max(first(film, "right", 0.99), first(film, "crisp", 0.9)) <= WITHIN[name]


@pytest.mark.slow
def test_a_task_can_be_learned_and_stay_unreadable():
    film = learn(TASKS["coreference"].config())
    assert film.right[-1] >= 0.99
    assert film.crisp[-1] < 0.6


@pytest.mark.slow
@for_each(
    "name, changes, most",
    [
        ("translation", {"position": "none"}, 0.75),
        ("translation", {"normaliser": "hardmax"}, 0.35),
        ("backwards", {"position": "none"}, 0.35),
        ("recall", {"n_layers": 1}, 0.75),
    ],
)
def test_what_cannot_work_does_not(name, changes, most):
    assert max(learn(TASKS[name].config(**changes)).right) <= most


@pytest.mark.slow
def test_without_the_mask_induction_looks_at_the_answer():
    film = learn(TASKS["induction"].config(mask="none"))
    assert film.right[-1] >= 0.95  # but for the last letter, after which no answer stands
    assert film.crisp[-1] <= 0.05


@pytest.mark.slow
@for_each("name", ["translation", "backwards", "recall", "induction"])
def test_what_is_learned_stays(name):
    film = learn(TASKS[name].config(learn_steps=300))
    assert min(right for step, right in zip(film.steps, film.right) if step > WITHIN[name] + 20) >= 0.985


def test_a_pair_of_words_that_was_never_shown_is_translated():
    game, config = GAMES["translation"], TASKS["translation"].config()
    shown = [game.vocabulary[key] for step in range(60) for key in game.examples(0, "batch", 16, step)[1].ravel()]
    assert ("black", "cat") not in set(pairwise(shown))
    assert ("black", "dog") in set(pairwise(shown))
    assert " ".join(films.predicted_words(run(config))) == "le chat noir voit un chien"


# --- what is right ---------------------------------------------------------------------------------------------------


@for_each("name", GAMES)
def test_the_sentence_of_a_recipe_has_answers_and_its_words_are_tokens(name):
    config, game = TASKS[name].config(), GAMES[name]
    trace = run(replace(config, learn_steps=0))
    answers = game.answers(trace.query_tokens, trace.key_tokens)
    assert answers is not None
    queries, keys = game.examples(0, "batch", 5, 3)
    assert (queries.shape[1], keys.shape[1]) == (len(trace.query_tokens), len(trace.key_tokens))
    judged = game.judge(queries, keys)
    for row in range(5):
        alone = game.answers([game.vocabulary[i] for i in queries[row]], [game.vocabulary[i] for i in keys[row]])
        assert alone is not None
        for field in ("words", "counts", "where"):
            np.testing.assert_array_equal(getattr(alone, field)[0], getattr(judged, field)[row])


REFUSALS = {
    ("translation", "begin le chat", "a boy hears this sad dog"): (
        "un garçon entend",
        ["a", "boy", "hears"],
    ),
    ("translation", "begin un garçon entend ce chien", "a boy hears this sad dog"): (
        "un garçon entend ce chien triste",
        ["a", "boy", "hears", "this", "dog", "sad"],
    ),
    ("dates", "day year", "mar 7 , 1994"): ("7 1994", ["7", "1994"]),
    ("backwards", "a b c", ""): ("c b a", ["c", "b", "a"]),
    ("recall", "tom red ann blue tom", ""): ("red", ["red"]),
    ("induction", "a b c a b", ""): ("b c", ["b", "c"]),
    ("coreference", "the car passed the girl because it was new", ""): ("car", ["car"]),
}
"""What is right in sentences that can be judged in one's head: the words of the rows that count, and what they read."""


@for_each("given", REFUSALS)
def test_what_is_right(given):
    name, queries, keys = given
    game = GAMES[name]
    read = (keys or queries).split()
    answers = game.answers(queries.split(), read)
    assert answers is not None
    words, looked = REFUSALS[given]
    assert [game.vocabulary[i] for i in answers.words[answers.counts]] == words.split()
    assert [read[index] for index in np.argwhere(answers.where[answers.counts])[:, 1]] == looked


@for_each(
    "name, queries, keys",
    [
        ("translation", "begin le", "the cat sat"),
        ("translation", "begin le", "cat the black sees a dog"),
        ("translation", "zebra", "the black cat sees a dog"),
        ("dates", "day", "7 of mar mar"),
        ("recall", "tom red tom red tom", ""),
        ("recall", "tom tom", ""),
        ("coreference", "the car passed the door because it was new", ""),
    ],
)
def test_sentences_outside_a_task_have_no_answer(name, queries, keys):
    assert GAMES[name].answers(queries.split(), (keys or queries).split()) is None


# --- it is the gradient ----------------------------------------------------------------------------------------------

VARIANTS: list[dict[str, Any]] = [
    {"score": "additive"},
    {"score": "additive", "projection_bias": True, "n_layers": 2, "residual": True},
    {"score": "general", "n_heads": 4, "n_kv_heads": 2, "position": "rope"},
    {"score": "location", "softcap": 1.5},
    {"score": "gaussian", "scale": 0.3, "bias": "alibi"},
    {"score": "dot", "normaliser": "sigmoid", "mask": "causal"},
    {"normaliser": "quiet_softmax", "temperature": 0.7, "n_layers": 3},
    {"normaliser": "linear", "bias": "linear", "bias_slope": 0.1, "n_layers": 2, "residual": True},
    {"position": "rope", "d_k": 5, "n_layers": 2, "residual": True, "mask": ("causal", "window")},
]


@for_each("task", ["translation", "induction"])
@for_each("changes", VARIANTS)
@pytest.mark.slow
def test_the_gradient_is_that_of_the_loss(changes, task, monkeypatch):
    monkeypatch.setattr(exact, "rounded", lambda x: x)  # otherwise the loss is a staircase of very small steps
    config = Config(**SMALL | {"initialiser": "learned", "task": task, "sentence": "a"} | changes)
    trainer = LearnedFrames(learnable.what_is_learned(config), run).trainer
    queries, keys = trainer.game.examples(0, "batch", 3, 0)
    answers = trainer.game.judge(queries, keys)

    def loss(vector: np.ndarray) -> float:
        Y, _ = trainer.network.forward(trainer.layout.layers(vector), queries, keys)
        away = (Y - trainer.network.embeddings[answers.words]) * answers.counts[..., None]
        return float((away**2).sum() / answers.counts.sum())

    found, step = trainer._gradient(queries, keys), 1e-5
    for index in range(0, trainer.layout.size, max(trainer.layout.size // 60, 1)):
        move = np.zeros(trainer.layout.size)
        move[index] = step
        slope = (loss(trainer.vector + move) - loss(trainer.vector - move)) / (2 * step)
        assert abs(found[index] - slope) <= 1e-6 * max(abs(slope), np.abs(found).max())


# --- run has what was learned ----------------------------------------------------------------------------------------


@for_each("name", TASKS)
def test_no_steps_are_glorot_to_the_last_bit(name):
    config = TASKS[name].config(learn_steps=0)
    drawn = run(replace(config, initialiser="glorot"))
    for made in (run(config), run(config, learn(config).at(0))):
        for one, other in zip(made.layers, drawn.layers, strict=True):
            for step in one:
                np.testing.assert_array_equal(one[step].array, other[step].array)


@for_each(
    "config",
    [
        TASKS["translation"].config(learn_steps=20, projection_bias=True),
        TASKS["recall"].config(learn_steps=20, learn_batch=4),
        Config(initialiser="learned", task="backwards", learn_steps=15, n_kv_heads=2, score="location"),
    ],
)
def test_run_has_the_frame_and_the_weights_that_were_learned_with(config):
    film = learn(config)
    trainer = film._learner.trainer
    game = GAMES[config.task]
    shown = replace(config, sentence=game.recipe["sentence"], second_sentence=game.recipe.get("second_sentence", ""))
    x = run(replace(shown, learn_steps=0))
    queries, keys = (game.positions(tokens)[None] for tokens in (x.query_tokens, x.key_tokens))
    for step in film.steps:
        trace, given = run(replace(shown, learn_steps=step)), run(shown, film.at(step))
        _, kept = trainer.network.forward(film.at(step), queries, keys)
        for layer, parameters in enumerate(film.at(step)):
            for name, array in parameters.items():
                np.testing.assert_array_equal(trace.layers[layer][name].array, array)
            A = trace.layers[layer]["weights"].array
            np.testing.assert_array_equal(A, given.layers[layer]["weights"].array)
            np.testing.assert_allclose(A, kept[layer].known["weights"][0], rtol=0, atol=2e-5)


@pytest.mark.slow
def test_a_longer_film_begins_as_a_shorter_one_and_the_sentence_makes_no_difference():
    config = TASKS["backwards"].config(seed=3)
    frames = learn(replace(config, learn_steps=30)).at(20)
    films._FRAMES.clear()
    longer = learn(replace(config, learn_steps=40, sentence="h g", edits=((0, "scores", (0, 0, 0), 1.0),)))
    between = learn(replace(config, learn_steps=17, max_tokens=3, bos=True)).at(17)
    films._FRAMES.clear()
    assert longer.steps == (0, 10, 20, 30, 40)
    for name, array in frames[0].items():
        np.testing.assert_array_equal(longer.at(20)[0][name], array)
        np.testing.assert_array_equal(learn(replace(config, learn_steps=17)).at(17)[0][name], between[0][name])


def test_given_projections_win_and_nothing_is_learned_where_all_are_given(monkeypatch):
    config = TASKS["backwards"].config(learn_steps=10)
    frame = learn(config).at(10)
    made = run(config, [{"w_q": frame[0]["w_k"]}])
    np.testing.assert_array_equal(made["w_q"].array, frame[0]["w_k"])
    np.testing.assert_array_equal(made["w_v"].array, frame[0]["w_v"])
    monkeypatch.setattr(films, "film_of", None)
    run(replace(config, seed=77), frame)


def test_frames_cannot_be_changed_and_others_are_refused():
    film = learn(TASKS["backwards"].config(learn_steps=10))
    with pytest.raises(ValueError, match="read-only"):
        film.at(10)[0]["w_q"][0] = 1.0
    with pytest.raises(ValueError, match="step 5 is not kept; choose one of: 0, 10"):
        film.at(5)


# --- what is refused, and what is said -------------------------------------------------------------------------------

CANNOT: list[dict[str, Any]] = [
    {"score": "cosine"},
    {"score": "formula"},
    {"normaliser": "entmax15"},
    {"embedding": "one_hot"},
    {"mask": "formula"},
    {"normalise_over": "queries"},
    {"d_k": (3, 4)},
    {"tied": True},
    {"output_projection": False},
    {"norm": "pre"},
    {"feed_forward": "relu"},
]


@for_each("changes", CANNOT)
def test_what_cannot_be_learned_is_said_and_stays_as_it_was_drawn(changes):
    config = Config(initialiser="learned", **changes)
    with pytest.raises(ConfigError, match="Nothing is learned in this setting, because the trainer"):
        learn(config)
    trace = run(config)
    assert any("Nothing is learned in this setting, because the trainer" in note for note in trace.notes)
    np.testing.assert_array_equal(trace["w_v"].array, run(replace(config, initialiser="glorot"))["w_v"].array)


def test_every_score_and_normaliser_is_learned_or_refused_by_name():
    for known, table, field in ((scores.SCORES, SCORES, "score"), (normalisers.NORMALISERS, NORMALISERS, "normaliser")):
        assert set(known) < set(table)
        for name in table:
            assert bool(learnable.obstacle(Config(initialiser="learned", **{field: name}))) == (name not in known)


def test_words_that_were_never_seen_are_named():
    trace = run(TASKS["backwards"].config(sentence="a zebra b yak", learn_steps=1))
    assert trace.notes == ("“zebra”, “yak” are not words of the task “Backwards”: this head has never seen them.",)


def test_a_number_that_becomes_too_large_ends_the_film_at_the_last_finite_frame(monkeypatch):
    films._FRAMES.clear()
    right = Trainer._gradient

    def wrong(self, queries, keys):
        g = right(self, queries, keys)
        return g if self.step < 13 else g * np.nan

    monkeypatch.setattr(Trainer, "_gradient", wrong)
    config = TASKS["backwards"].config(learn_steps=40, seed=1)
    film = learn(config)
    assert film.steps == (0, 10, 13)
    assert film.notes == ("Learning stopped after 13 steps: a number became too large to hold.",)
    assert all(np.isfinite(film.loss))
    trace = run(config)
    assert trace.notes == film.notes
    np.testing.assert_array_equal(trace["w_q"].array, film.at(13)[0]["w_q"])
    between = learn(replace(config, learn_steps=7)).at(7)[0]["w_q"]
    assert not np.array_equal(between, film.at(13)[0]["w_q"])
    films._FRAMES.clear()


@for_each(
    "name, value, message",
    [
        ("task", "chess", "choose one of: translation, dates"),
        ("learn_steps", -1, "choose 0 to 2,000"),
        ("learn_steps", 10**9, "choose 0 to 2,000"),
        ("learn_rate", float("nan"), "choose 0.0001 to 0.1"),
        ("learn_rate", 1e300, "choose 0.0001 to 0.1"),
        ("learn_batch", 0, "choose 1 to 64"),
    ],
)
def test_hostile_numbers_are_refused(name, value, message):
    with pytest.raises(ConfigError, match=message):
        Config(**{name: value})


@pytest.mark.slow
def test_films_that_are_kept_have_a_bound(monkeypatch):
    films._FRAMES.clear()
    monkeypatch.setattr(films, "MOST_BYTES", 1_200_000)
    config = TASKS["backwards"].config(learn_steps=10, seed=5)
    assert not films.is_kept(config)
    learn(config)
    assert films.is_kept(replace(config, sentence="h"))
    assert not films.is_kept(replace(config, learn_steps=11))
    for seed in range(5):
        learn(TASKS["backwards"].config(learn_steps=10, seed=seed))
        kept = sum(each.n_bytes for each in films._FRAMES.values())
        assert kept <= 1_200_000
    assert len(films._FRAMES) == 2
    films._FRAMES.clear()


def test_what_is_kept_does_not_wait_for_what_is_being_learned():
    kept = TASKS["backwards"].config(learn_steps=5)
    learn(kept)
    with films._LEARNING:
        wanted = threading.Thread(target=lambda: films.is_kept(kept) and learn(kept), daemon=True)
        wanted.start()
        wanted.join(30)
        assert not wanted.is_alive()


def test_the_row_says_that_it_is_learned():
    assert [row.name for row in INITIALISERS.values() if row.learned] == ["learned"]


# --- exact arithmetic ------------------------------------------------------------------------------------------------

ALLOWED = {
    "abs", "add", "argmax", "argsort", "arange", "array", "asarray", "ascontiguousarray", "broadcast_to", "choose",
    "clip", "concatenate", "copysign", "count_nonzero", "errstate", "eye", "floor", "full", "inf", "isfinite",
    "isneginf", "ldexp", "matmul", "max", "maximum", "minimum", "ndarray", "ones", "ones_like", "repeat", "round",
    "sqrt", "stack", "swapaxes", "take_along_axis", "tile", "tri", "where", "zeros", "zeros_like", "int32",
}  # fmt: skip
"""What learning may call of NumPy: all else may differ in its last bit between processors or libraries."""


def faults(source: str, *, may_add: bool = False) -> list[str]:
    """What in a source could round differently elsewhere."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            wrong = node.attr not in ALLOWED or (node.attr in ("matmul", "add") and not may_add)
            found += [f"np.{node.attr}"] if wrong else []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append("@")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not isinstance(node.left, ast.Constant):
            found.append("**")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found += [f".{node.func.attr}"] if node.func.attr in ("sum", "mean", "dot", "cumsum", "std") else []
    return found


def test_learning_calls_nothing_that_differs_between_machines():
    no_parameter = {"film.py", "constants.py", "learning_cost.py", "shipped_films.py", "__init__.py"}
    learning = {path for path in (PACKAGE / "engine/learning").glob("*.py") if path.name not in no_parameter}
    assert len(learning) >= 4
    for path in sorted(learning | {*PACKAGE.glob("engine/tasks/*.py")}):
        assert faults(path.read_text("utf-8")) == [], path.name
    assert faults(Path(exact.__file__).read_text("utf-8"), may_add=True) == []


@for_each("line", ["a @ b", "np.exp(x)", "x.sum(-1)", "np.einsum('i,i', x, y)", "x**3", "np.matmul(a, b)"])
def test_the_check_of_calls_can_fail(line):
    assert faults(line)


@for_each("n", [1, 3, 100, 8192, 20_000])
def test_products_and_sums_do_not_depend_on_their_order(n):
    draw = np.random.default_rng(n)
    A, B = draw.normal(size=(3, n)) * np.exp(draw.normal(size=(3, n))), draw.normal(size=(n, 2))
    order = draw.permutation(n) if n <= exact.MOST_TERMS else np.arange(n)
    np.testing.assert_array_equal(exact.product(A, B), exact.product(A[:, order], B[order]))
    np.testing.assert_array_equal(exact.total(A, 1), exact.total(A[:, order], 1))
    np.testing.assert_allclose(exact.product(A, B), A @ B, atol=4e-6 * np.sqrt(n) * np.abs(A).max() * np.abs(B).max())


def test_rounding_is_to_whole_numbers_of_twenty_bits_and_takes_what_is_odd():
    x = np.random.default_rng(0).normal(size=1000) * 1e-30
    whole = exact.rounded(x) / 2.0 ** (np.frexp(np.abs(x).max())[1] - exact.BITS)
    assert (whole == np.rint(whole)).all()
    assert np.abs(whole).max() <= 2**exact.BITS
    assert not exact.rounded(np.array([1e-200])).any()
    assert np.isnan(exact.rounded(np.array([np.nan, 1.0]))).tolist() == [True, False]
    assert exact.rounded(np.zeros((0, 3))).shape == (0, 3)


def test_the_exponential_is_right_to_the_last_bits():
    x = np.random.default_rng(0).uniform(-600, 600, 10_000)
    np.testing.assert_allclose(exact.exp(x), np.exp(x), rtol=1e-13)
    np.testing.assert_allclose(exact.tanh(x / 100), np.tanh(x / 100), rtol=1e-13)
    assert exact.exp(np.array([-np.inf, -1e9])).max() < 1e-200
