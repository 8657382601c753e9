"""What pages and files really take: held to the estimates, and to the limit of a small host with two visitors."""

from __future__ import annotations

import gc
import importlib.util
import io
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit import config as streamlit_config
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest, app_test

from attnviz import TASKS, Config, ConfigError, behaviours, run
from attnviz import load as load_model
from attnviz.analysis.circuits.prompts import prompts
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments, coded_answers, grading, moodle
from attnviz.classroom.printed import handout
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import Need
from attnviz.engine.learning import film
from attnviz.engine.numerics import buffer_pool
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.models import hosting
from attnviz.settings import url_codec
from attnviz.ui.session import admission
from attnviz.ui.session.selection import Selection
from attnviz.uploads import read_files, to_trace
from attnviz.uploads.parse_text import Upload
from tests.engine.test_cost import LARGEST
from tests.support.cases import for_each
from tests.support.needs import NEEDS, ON_PAGES

ROOT = Path(__file__).parents[2]
WITHIN = 3.5
"""An estimate is at most so many times what is taken, beside what even the smallest setting is granted."""

MANY_WORDS = Config(sentence=LARGEST["sentence"], max_tokens=64, n_heads=12, n_layers=2)
LARGE_MATRICES = Config(d_model=512, n_heads=8, d_k=64, d_v=64, n_layers=2, feed_forward="relu", d_ff=512)
LARGE = Config(**LARGEST)
WIDE = replace(LARGE, d_model=16, n_layers=1, d_k=4, d_v=4, feed_forward="none")
DRAWN = ("png", "step.png", "gif")
FILES = [name for name in FORMATS if name not in DRAWN or importlib.util.find_spec("resvg_py")]
PIXELS = [name for name in FILES if name in DRAWN and name != "gif"]
"""Files whose memory lies outside what Python counts; a GIF is made of pictures that are smaller."""

VISITED = ("data: weights", "data: scores", "data: vectors", "assign/student", "assign/mark", "lessons")
"""Pages on which something has to be brought before they compute anything."""
PAGES = [name for name in ON_PAGES if name not in {each.partition(":")[0] for each in VISITED}]
ASKED = [*PAGES, *VISITED, *(f"file/{name}" for name in (*FILES, "handout", "moodle"))]

ALLOWED, LIMIT = 500 * cost.MB, 1_000 * cost.MB
"""What the host of two visitors allows for one computation by default, and the memory that it has."""
SLOW = (
    "explore/table",
    *(
        f"file/{name}"
        for name in ("csv", "svg", "step.svg", "png", "step.png", "gif", "pdf", "tex", "tikz", "json", "handout")
    ),
)
"""What takes long where every piece of memory is counted: smaller settings tell as much."""

TOGETHER = ("explore/redeal", "compare", "data: weights", "file/npz")
"""What two visitors ask for at once: runs that are held beside each other, what is brought, and a whole file."""

OTHER = ("seed", 7)
PATIENCE = 300  # seconds after which a page counts as stuck


def selection(what: str) -> Selection:
    """Where something is found; panels with a cell that is chosen."""
    page, _, rest = what.partition("/")
    names = {"explore": "panel", "experiments": "experiment", "assign": "desk"}
    chosen: dict[str, Any] = {names[page]: rest.removesuffix("/setting")} if rest else {}
    if rest.endswith("/setting"):
        chosen["trial_vectors"] = "setting"
    if page == "compare":
        chosen["changes"] = ((OTHER[0], str(OTHER[1])),)
    return Selection(page=page, head=0, query=0, key=0, **chosen)


def opened(what: str, config: Config, **more: Any) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    for name, text in url_codec.encode(config, replace(selection(what), **more)).items():
        at.query_params[name] = text
    return clean(at.run())


def clean(at: AppTest) -> AppTest:
    assert not at.exception, at.exception[0].message
    assert "What would help most" not in page_text(at)
    return at


def page_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def parts(kind: str, config: Config) -> dict[str, np.ndarray]:
    """Numbers of one byte as a file holds them, for as many layers, heads and words as a setting has."""
    n, random = len(config.sentence.split()[: config.max_tokens]), np.random.default_rng(3)
    width = config.key_widths()[0] if kind == "vectors" else n
    shape = config.n_layers, config.n_heads, n, width
    return {name: random.integers(-3, 4, shape, dtype=np.int8) for name in to_trace.PARTS[kind]}


def bring(kind: str, config: Config) -> Callable[[], object]:
    """Return a function that uploads numbers to the page for data."""
    file = io.BytesIO()
    np.savez_compressed(file, **parts(kind, config))
    data = file.getvalue()

    def made() -> None:
        at = opened("data", Config())
        at.segmented_control(key="own_kind").set_value(kind)
        at.file_uploader(key="own_file").set_value(("numbers.npz", data, "application/octet-stream"))
        clean(at.run())
        assert f"{config.n_heads} heads" in page_text(at)

    return made


QUESTIONS = (
    question_codec.item("weight", {"head": 2, "query": 5, "key": 3}),
    question_codec.item("rows_changed", {"whole": "weights", "change": "no_mask"}),
)


def mark(config: Config) -> Callable[[], object]:
    """Return a function that marks a code that was handed in, with a question about another run."""
    opens, _ = assignments.open_assignment(
        assignments.encode(assignments.Assignment(task_questions=QUESTIONS)), replace(config, mask=("causal",))
    )
    assert opens is not None
    wanted = assignments.resolved_questions(opens.task, run(opens.of_student("Ada")))
    code = grading.answer_code(opens.digest, "Ada", [coded_answers.encode(ask, None) for ask in wanted])

    def made() -> None:
        at = opened("assign/mark", opens.given, assigned=assignments.encode(opens.task))
        at.text_area(key="task-codes").set_value(f"Ada,{code}")
        clean(at.run())
        assert "Valid codes: 1 of 1" in page_text(at)

    return made


def study(config: Config) -> Callable[[], object]:
    """Return a function that opens an assignment in numbers of the student's own, who has changed the setting.

    Four runs are in memory: the page's, the student's of the setting as given, that of the setting as changed, and the
    one that a question asks about.
    """
    free = assignments.Assignment(task_questions=QUESTIONS, task_free=("temperature",), task_own=True)
    task = assignments.with_setting(free, replace(config, mask=("causal",)))

    def made() -> None:
        at = opened(
            "assign/student", replace(config, mask=("causal",), temperature=2.0), assigned=assignments.encode(task)
        )
        at.text_input(key="task-name").set_value("Ada")
        clean(at.run())
        assert "The picture shows the setting as you changed it" in page_text(at)

    return made


LESSON = """title = "Large"
about = "As large as a lesson may be."
goal = "See it."
minutes = 1
source = "none"
known = "It was seen."

[setting]
sentence = "{sentence}"
max_tokens = {max_tokens}
d_model = {d_model}
n_heads = {n_heads}
n_layers = {n_layers}
d_k = {d_k}
d_v = {d_v}

[[slides]]
text = "Here."
steps = ["scores", "weights"]
beside = true
change = {{seed = 7}}
control = {{measures = ["largest_weight"], moves = [{{label = "Seed", field = "seed", stops = [7, 8]}}]}}
"""


def teach(config: Config) -> Callable[[], object]:
    """Return a function that opens a lesson from a file and moves its control: three runs at once."""
    data = lesson(config)

    def made() -> None:
        at = opened("lessons", Config())
        at.file_uploader(key="lesson-file").set_value(("large.toml", data, "text/plain"))
        clean(at.run())
        next(each for each in at.select_slider if str(each.key).startswith("control-")).set_value(1)
        clean(at.run())

    return made


def lesson(config: Config) -> bytes:
    names = ("sentence", "max_tokens", "d_model", "n_heads", "n_layers", "d_k", "d_v")
    return LESSON.format(**{name: getattr(config, name) for name in names}).encode()


def make(what: str, config: Config) -> Callable[[], object]:
    """Return the function that makes a page or a file."""
    kind, _, name = what.partition("/")
    if what == "file/handout":
        return lambda: handout.html(config, solutions=True)
    if what == "file/moodle":
        return lambda: moodle.xml(config, assignments.Assignment(task_questions=QUESTIONS[:1]))
    if kind == "file":
        return lambda: export(name, run(config), ExportTarget())
    if what in VISITED:
        page, _, numbers = what.partition(": ")
        return (
            bring(numbers, config)
            if numbers
            else {"assign/mark": mark, "assign/student": study, "lessons": teach}[page](config)
        )
    return lambda: opened(what, config)


@cache
def load(what: str) -> None:
    """Load the libraries that something needs, so that they are not counted."""
    make(what, Config())()


def estimated(what: str, config: Config) -> cost.Cost:
    what, _, kind = what.partition(": ")
    if kind:
        brought = {"": Upload(parts(kind, config))}
        return cost.estimate(NEEDS[what], to_trace.sizes(kind, brought, Config()))
    beside = [replace(config, seed=OTHER[1])] if what == "compare" else []
    if what in ("explore/redeal", "experiments/axis", "assign/student"):
        beside = [config]
    if what == "experiments/sharing":
        beside = [replace(config, n_kv_heads=n) for n in (config.n_heads // 2, 1)]
    return cost.estimate(NEEDS[what], config, *beside)


def taken(made: Callable[[], object]) -> int:
    """Bytes at the peak, beside what was there."""
    gc.collect()
    buffer_pool._free.clear()
    film._FRAMES.clear()
    tracemalloc.start()
    try:
        made()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measured(what: str) -> list[Config]:
    """The settings with which something is measured: many words, and large matrices."""
    if what == "learn":  # nothing else is learned there
        return [TASKS["translation"].config()]
    if what == "file/xlsx":  # others have too many numbers for a workbook
        return [replace(MANY_WORDS, max_tokens=16, n_heads=4)]
    if what == "lessons":
        return [largest_admitted(what)]
    both = MANY_WORDS, LARGE_MATRICES
    if what in SLOW:
        return [replace(each, max_tokens=28, n_heads=6, d_model=min(each.d_model, 128)) for each in both]
    return [*both]


@pytest.mark.slow
@pytest.mark.parametrize("what", ASKED)
def test_an_estimate_is_never_below_what_is_taken_and_not_far_above(what: str) -> None:
    load(what)
    for config in measured(what):
        found, really = estimated(what, config).n_bytes, taken(make(what, config))
        assert really <= found <= WITHIN * really + need(what).fixed, config


def need(what: str) -> Need:
    return NEEDS[what.partition(":")[0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", PIXELS)
def test_the_pixels_of_a_png_are_within_its_estimate(name: str) -> None:
    """They are not Python's, so what counts is what the process of one picture takes more than that of an SVG."""
    peaks = []
    for kind in (name.replace("png", "svg"), name):
        code = f"from tests.ui import test_memory as m; m.make('file/{kind}', m.WIDE)(); print(m._peak())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=_env())
        assert done.returncode == 0, done.stderr[-2000:]
        peaks.append(int(done.stdout))
    assert 20 * cost.MB < peaks[1] - peaks[0] <= estimated(f"file/{name}", WIDE).n_bytes


@pytest.fixture
def minilm(minilm_installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    """A setting of the model that is installed by name, with as many tokens as a host allows."""
    monkeypatch.syspath_prepend(minilm_installed)
    hosting.offer(["minilm"])
    yield Config(sentence="the cat sat " * 12, model="minilm")
    MODELS.clear()


@pytest.mark.slow(seconds=36)
@for_each("what", [what for what in PAGES if what != "learn" and not need(what).excludes_models])
def test_a_page_of_a_trained_model_takes_no_more_than_is_estimated(what: str, minilm: Config) -> None:
    load(what)
    run(minilm)  # the weights' file is mapped once for all visitors
    found = cost.estimate(
        need(what), minilm, *([replace(minilm, mask=("causal",))] if what == "compare" else [])
    ).n_bytes
    assert taken(make(what, minilm)) <= found


@pytest.mark.slow
def test_heads_are_tested_on_prompts_within_what_is_estimated() -> None:
    model = load_model("small")
    model("a dog")
    found = cost.estimate(NEEDS["heads on prompts"], model("a dog and a cat"), again=len(prompts())).n_bytes
    assert taken(lambda: behaviours(model)) <= found


def largest_admitted(what: str) -> Config:
    """The largest setting of a family from small to the largest there is that is admitted."""
    whole = LARGE
    if what == "learn":
        whole = TASKS["translation"].config(n_heads=16, d_k=64, d_v=64)
    if what.startswith("data"):
        whole = replace(LARGE, sentence="w " * 1024, max_tokens=1024, d_k=8)
    for config in family(whole):
        if is_admitted(what, config):
            return config
    raise AssertionError(what)


def is_admitted(what: str, config: Config) -> bool:
    """Whether the page would compute it; of numbers, whether their file is read."""
    if estimated(what, config).n_bytes > ALLOWED:
        return False
    if what.startswith("data"):
        return config.n_layers * config.n_heads * config.max_tokens**2 <= read_files.BUDGET.n_numbers or "v" in what
    if what == "lessons":
        return not admission.is_large(cost.estimate(need(what), config))
    return not cost.refusal(need(what), config, most=ALLOWED)


def family(of: Config) -> Iterator[Config]:
    for max_tokens in (of.max_tokens, 64):
        for n_layers in (6, 5, 4, 3, 2, 1):
            for d_model in (512, 384, 256, 128, 64, 16):
                for n_heads in (16, 4):
                    yield replace(of, n_layers=n_layers, d_model=d_model, max_tokens=max_tokens, n_heads=n_heads)


@pytest.mark.slow(seconds=33)
def test_two_visitors_at_the_largest_setting_admitted_stay_below_the_limit_of_a_small_host() -> None:
    """Some pages and files in turn, in a process of its own, by two visitors in the same moment.

    `python tests/ui/test_memory.py` measures every one, for minutes, and prints what the process has held at most.
    """
    done = subprocess.run([sys.executable, __file__, *TOGETHER], capture_output=True, text=True, cwd=ROOT, env=_env())
    assert done.returncode == 0, done.stderr[-2000:]
    peaks = dict(line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    assert {*peaks} == {*TOGETHER}
    assert max(map(int, peaks.values())) <= LIMIT, peaks


def _env() -> dict[str, str]:
    allowed = {cost.VARIABLE: str(round(ALLOWED / cost.MB))}
    return os.environ | allowed | {"PYTHONPATH": str(ROOT), "MALLOC_MMAP_THRESHOLD_": "131072", "OMP_NUM_THREADS": "1"}


def _peak() -> int:
    """Bytes that this process has held at most since it began."""
    return next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )


def _together(what: str) -> None:
    config, failed = largest_admitted(what), []
    made = make(what, config)
    if what.startswith("file/"):
        made = admission.later(need(what), config, made)

    def one() -> None:
        try:
            made()
        except ConfigError:
            pass  # refused in words, as a workbook is
        except BaseException as error:  # whatever it was, it is raised below
            failed.append(error)

    visitors = [threading.Thread(target=one) for _ in range(2)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    if failed:
        raise failed[0]


def _keep_runtime() -> None:
    """Let pages run beside each other: each takes away what the tests have in place of Streamlit's runtime.

    They share its components as well, which it otherwise registers for the page that was opened last, and the option by
    which it knows that it is tested: the first to end took that from the other, which then missed a widget.
    """
    streamlit_config.set_option("global.appTest", value=True)
    kept: list[Runtime] = []
    components = app_test.BidiComponentManager()
    app_test.BidiComponentManager = lambda: components  # type: ignore[assignment,misc]

    def instance(cls: type[Runtime]) -> Runtime:
        if cls._instance is not None:
            kept[:] = [cls._instance]
        return kept[0]

    Runtime.instance = classmethod(instance)  # type: ignore[assignment]


if __name__ == "__main__":
    _keep_runtime()
    for name in sys.argv[1:] or ASKED:
        _together(name)
        print(name, _peak(), sep="\t", flush=True)
