"""Learning elsewhere: the browser's trainer, run here in node, finds every bit of ours; and anything may come back."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from attnviz import TASKS, Config, learn, run
from attnviz.engine import learning_job
from attnviz.engine.learning import film as films
from attnviz.engine.learning import learnable, normalisers, operations, scores, shipped_films
from attnviz.engine.learning.frames import LearnedFrames
from attnviz.exports.bundle import joined
from attnviz.ui.session import browser_learner as browser
from tests.support.cases import for_each

SETTINGS = [
    *(("translation", {"score": name, "position": "sinusoidal"}) for name in scores.SCORES),
    *(("backwards", {"normaliser": name, "score": "dot", "temperature": 2.0}) for name in normalisers.NORMALISERS),
    ("induction", {"n_heads": 4, "n_kv_heads": 2, "d_k": 5, "d_v": 3, "d_model": 20, "projection_bias": True}),
    (
        "translation",
        {"n_heads": 2, "d_v": 32, "n_layers": 2, "residual": True, "projection_bias": True, "softcap": 5.0},
    ),
    ("recall", {"bias": "alibi", "n_heads": 2, "d_v": 32, "residual": False, "learn_batch": 3}),
    ("translation", {"learn_batch": 64, "n_heads": 1, "sentence": "begin le"}),
]
MAIN = """
const job = new Uint8Array(require("fs").readFileSync(0));
process.stdout.write(JSON.stringify(learned(job, () => {}).film));
"""


def in_node(job: learning_job.Job, config: Config) -> dict[str, Any]:
    """What the worker sends back for a job."""
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no node")
    script = "const self = {};\n" + joined(browser.WORKER) + MAIN
    shown = config.sentence.split(), (config.second_sentence or config.sentence).split()
    done = subprocess.run([node, "-e", script], input=job.packed(shown), capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def job_of(config: Config, last: int, *also: int) -> learning_job.Job:
    job = learning_job.job(config, last, *also)
    assert job is not None
    return job


def received(answer: Any, job: learning_job.Job) -> learning_job.ReceivedFrames:
    found = learning_job.received(answer, job)
    assert found is not None
    return learning_job.ReceivedFrames(found, job)


@pytest.mark.slow
def test_the_film_of_a_task_has_the_hash_of_ours() -> None:
    config = TASKS["backwards"].config()
    job = job_of(config, 80)
    frames = received(in_node(job, config), job)
    assert frames.kept(80) == learnable.kept_steps(80)
    assert (
        shipped_films.digest({step: frames.vector(step) for step in frames.kept(80)})
        == shipped_films.hashes()["backwards"]
    )
    film = learn(config)
    assert [vars(frames.evaluate_frame(step)) for step in film.steps] == [
        {"loss": loss, "right": right, "crisp": crisp}
        for loss, right, crisp in zip(film.loss, film.right, film.crisp, strict=True)
    ]


@pytest.mark.slow
@for_each("task, changes", SETTINGS)
def test_every_score_normaliser_and_kind_of_layer_has_our_bits(task: str, changes: dict[str, Any]) -> None:
    config = TASKS[task].config(seed=4, **changes)
    assert not learnable.obstacle(config)
    job = job_of(config, 6, 3)
    frames, ours = received(in_node(job, config), job), LearnedFrames(job.config, run)
    for step in (3, 6):
        ours.until(step)
        assert frames.vector(step).tobytes() == ours.frames[step].tobytes()
        assert frames.evaluate_frame(step) == ours.evaluate_frame(step)


@pytest.mark.parametrize(
    ("file", "table"),
    [
        ("scores", scores.SCORES),
        ("normalisers", normalisers.NORMALISERS),
        ("operations", operations.OPERATIONS),
    ],
)
def test_the_browser_knows_every_row(file: str, table: dict[str, Any]) -> None:
    text = (browser.FOLDER / f"{file}.js").read_text("utf-8")
    rows = text[re.search(r"export const [A-Z]+ = \{", text).end() :]  # type: ignore[union-attr]
    assert {*re.findall(r'^  "?([^\s"(]+)"?: ', rows, re.MULTILINE)} == {*table}


def test_the_browser_calls_nothing_whose_last_bit_is_left_open() -> None:
    text = joined(browser.WORKER)
    assert {*re.findall(r"Math\.(\w+)", text)} <= {"abs", "floor", "max", "min", "sqrt"}
    powers = re.findall(r"\S+ \*\* \S+", text)
    assert all(re.fullmatch(r"2 \*\* -?(\d+|BITS)[;)]*", power) for power in powers), powers


def answer(job: learning_job.Job, **changes: Any) -> dict[str, Any]:
    """An answer of the right form, with changes."""
    n = sum(job.sizes)
    numbers = np.full((len(job.steps) * n, 3), [0, 0, 16], dtype=np.uint8)  # 2**20, which stands for 0
    return {
        "key": job.key,
        "steps": [*job.steps],
        "figures": [[1.0, 0.5, 0.25]] * (len(job.steps) + 1),
        "exponents": [[0] * len(job.sizes)] * len(job.steps),
        "numbers": base64.b64encode(numbers.tobytes()).decode(),
    } | changes


@pytest.fixture(scope="module")
def job() -> learning_job.Job:
    return job_of(TASKS["backwards"].config(seed=9), 20)


def test_what_fits_the_job_is_taken(job: learning_job.Job) -> None:
    frames = received(answer(job), job)
    assert frames.kept(20) == (0, 10, 20)
    assert not frames.vector(20).any()
    assert not frames.layers(10)[0]["w_q"].flags.writeable
    assert not frames.reaches(15)


@for_each(
    "changes",
    [
        {"key": "other"},
        {"steps": [10]},
        {"steps": [10, 20, 30]},
        {"steps": [10.0, 20.0]},
        {"steps": [True, 20]},
        {"steps": None},
        {"figures": [[1.0, 0.5, 0.25]]},
        {"figures": [[1.0, 2.0, 0.25]] * 3},
        {"figures": [[float("nan"), 0.5, 0.25]] * 3},
        {"figures": [["1", 0.5, 0.25]] * 3},
        {"exponents": [[10**9] * 4] * 2},
        {"exponents": [[0] * 3] * 2},
        {"exponents": "0000"},
        {"numbers": "AAAA"},
        {"numbers": "\u732b" * 98304},
        {"numbers": "////" * 24576},
        {"numbers": None},
    ],
)
def test_anything_else_is_none(job: learning_job.Job, changes: dict[str, Any]) -> None:
    assert learning_job.received(answer(job, **changes), job) is None


@for_each("what", [None, "film", [], 7])
def test_what_is_no_film_is_none(job: learning_job.Job, what: Any) -> None:
    assert learning_job.received(what, job) is None


def test_a_film_may_end_where_a_number_became_too_large(job: learning_job.Job) -> None:
    n = sum(job.sizes)
    early = answer(job, steps=[10, 13], exponents=[[0] * 4] * 2)
    frames = received(early, job)
    assert (frames.kept(20), frames.until(20), frames.reaches(20), frames.reaches(12)) == ((0, 10, 13), 13, True, False)
    assert learning_job.received(answer(job, steps=[13, 20], exponents=[[0] * 4] * 2), job) is None
    assert n == 12288


def test_a_large_film_brings_fewer_frames_but_those_that_are_asked_for() -> None:
    job = job_of(TASKS["induction"].config(seed=2), 180, 37)
    assert {37, 180} <= {*job.steps}
    assert 3 * sum(job.sizes) * len(job.steps) <= learning_job.MOST_BACK
    assert learning_job.job(TASKS["induction"].config(d_model=512, n_heads=8), 180) is None


def test_films_from_elsewhere_count_and_are_kept_for_nobody_else(job: learning_job.Job) -> None:
    config = TASKS["backwards"].config(seed=9, learn_steps=20)
    frames = received(answer(job), job)
    films._FRAMES.clear()
    try:
        films.look_also({job.config: frames}.get)
        assert films.is_kept(config)
        assert learn(config).steps == (0, 10, 20)
        assert learn(config).loss == (1.0, 1.0, 1.0)
        assert not run(config)["w_q"].array.any()
    finally:
        films.look_also(lambda key: None)
    assert not films.is_kept(config)
    assert run(config)["w_q"].array.any()
