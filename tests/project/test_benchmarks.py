"""The measuring itself: a wrong page is seen, mutated frames repeat, tables say what was kept."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz import Config, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.cost.need import MOST_SECONDS
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records import offered_models
from attnviz.exports.formats import FORMATS
from attnviz.models import hosting as model_hosting
from attnviz.pictures.stage_bytes import NamedArray, packed
from attnviz.ui.panels.stage_of_run import stage_of_run
from attnviz.ui.session.admission import MAPS
from attnviz.ui.session.selection import Selection
from benchmarks import (
    chaos,
    frames,
    hosting,
    limits,
    load,
    model_visitors,
    served,
    stage_route,
    stranger,
    table,
    visitors,
)
from benchmarks.outcome import Outcome, outcome

ROOT = Path(__file__).resolve().parents[2]


class Socket:
    """A server's side of the protocol, as a list of what it says."""

    def __init__(self, *says: ForwardMsg) -> None:
        self.says = [each.SerializeToString() for each in says]
        self.heard: list[BackMsg] = []

    async def send(self, frame: bytes) -> None:
        self.heard.append(BackMsg.FromString(frame))

    async def recv(self) -> bytes:
        return self.says.pop(0)


def picture(seed: int, cells: float = 0.0) -> ForwardMsg:
    """A map with the weights of a seed, off by so much, and with a number that is masked, where maps have their own."""
    header, arrays = stages_of(seed, cells)
    return maps_message({"there": None, **header}, arrays)


def stages_of(seed: int, cells: float = 0.0) -> tuple[dict[str, Any], dict[str, NamedArray]]:
    """The header and the arrays of such a map."""
    weights = visitors.expected(replace(visitors.USUAL, seed=seed)) + cells
    array = np.append(weights[::-1], 0.5).astype("float32")[None, None]
    axes = ("head", "query", "key")
    arrays = {"weights": (axes, array), "forbidden": (axes, np.arange(array.size).reshape(array.shape) == weights.size)}
    return {"stages": [{"name": "weights", "masked": "forbidden"}]}, arrays


def maps_message(header: dict[str, Any], arrays: dict[str, NamedArray]) -> ForwardMsg:
    """What the maps of a page are sent."""
    shown = packed(header, arrays)
    return component("attnviz_message", packed({}, {"explore": (("byte",), np.frombuffer(shown, np.uint8))}))


def component(name: str, data: bytes) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.bidi_component.component_name = name
    message.delta.new_element.bidi_component.bytes = data
    return message


def apart(name: str, seed: int) -> ForwardMsg:
    """Stages that have a message of their own."""
    header, arrays = stages_of(seed)
    message = component("attnviz_stages_sent", packed({"name": name, **header}, arrays))
    message.metadata.delta_path.extend((0, 1))
    return message


def drawn(name: str) -> ForwardMsg:
    """Maps that draw the stages of a name."""
    return maps_message({"there": name, "stages": []}, {})


def field() -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.number_input.id = "$$ID-5f-seed"
    return message


def named(seed: int) -> ForwardMsg:
    message = ForwardMsg()
    message.page_info_changed.query_string = f"v=1&seed={seed}"
    return message


def test_a_stage_of_another_setting_is_seen() -> None:
    config = replace(visitors.USUAL, seed=3)
    body = zlib.compress(stage_of_run(run(config), Selection()), wbits=31)
    assert stage_route.wrong(config, body) == ""
    assert stage_route.wrong(replace(config, seed=4), body) == "the weights of seed 4 are others"


def ended(how: Any = ForwardMsg.FINISHED_SUCCESSFULLY) -> ForwardMsg:
    return ForwardMsg(script_finished=how)


EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN


def come(*says: ForwardMsg) -> visitors.Visitor:
    """A visitor who opened seed 3 and then moves to 5."""
    socket = Socket(field(), picture(3), ended(), *says)
    visitor = visitors.Visitor(socket)  # type: ignore[arg-type]

    async def visit() -> None:
        await visitor.open(3)
        await visitor.move(5)

    asyncio.run(visit())
    return visitor


def test_the_page_that_was_asked_for_counts() -> None:
    visitor = come(named(5), picture(5), ended())
    opened, moved = visitor.socket.heard  # type: ignore[attr-defined]
    assert opened.rerun_script.query_string.startswith("v=2&seed=3&c="), "with the check at its end"
    assert [(each.id, each.double_value) for each in moved.rerun_script.widget_states.widgets] == [("$$ID-5f-seed", 5)]
    assert visitor.received > 1000


def test_a_run_that_gave_way_to_the_next_is_no_answer() -> None:
    come(named(4), picture(4), ended(EARLY), named(5), picture(5), ended())
    come(named(5), picture(5), ended(EARLY), ended())  # what is on the page is not sent again
    with pytest.raises(visitors.WrongPageError):
        come(named(5), picture(4), ended(EARLY), ended())


def test_stages_may_have_a_message_of_their_own_and_are_then_those_that_the_maps_draw() -> None:
    come(named(5), drawn("five"), apart("five", 5), ended())
    come(named(5), apart("five", 5), drawn("five"), ended())
    for says in ((drawn("five"), apart("four", 5)), (drawn("five"), apart("five", 4)), (drawn("five"),)):
        with pytest.raises(visitors.WrongPageError):
            come(named(5), *says, ended())


@pytest.mark.slow
def test_a_page_that_is_served_shows_visitors_what_they_ask_for() -> None:
    async def visit(url: str) -> None:
        visitor = await visitors.joined(url)
        await visitor.open(3)
        await visitor.move(5)
        await visitors.left([visitor])

    with served.served() as server:
        asyncio.run(visit(server.url))


def broken() -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.exception.type = "KeyError"
    return message


@pytest.mark.parametrize(
    "says",
    [
        (named(5), picture(3), ended()),
        (picture(5), ended()),
        (named(5), picture(5, 1e-4), ended()),
        (named(5), ended()),
        (named(5), picture(5), ended(ForwardMsg.FINISHED_WITH_COMPILE_ERROR)),
        (named(5), picture(5), broken(), ended()),
    ],
    ids=["other numbers", "other address", "nearly the numbers", "no picture", "a run that failed", "an error shown"],
)
def test_another_page_is_seen(says: tuple[ForwardMsg, ...]) -> None:
    with pytest.raises(visitors.WrongPageError):
        come(*says)


def test_a_visitor_takes_the_first_of_several_runs_that_shows_what_was_asked_for() -> None:
    socket = Socket(named(8), picture(8), ended(), named(9), picture(9), ended(), named(7), picture(7), ended())
    visitor = visitors.Visitor(socket)  # type: ignore[arg-type]
    asyncio.run(visitor.answered(9, runs=3))
    assert len(socket.says) == 3
    with pytest.raises(visitors.WrongPageError, match="seed 9"):
        asyncio.run(visitor.answered(9))


def test_visitors_on_a_model_say_sentences_as_long_as_a_host_allows_and_each_another() -> None:
    seeds = [visitors.seed_of(at, number) for at in range(30) for number in range(7)]
    visitor = model_visitors.ModelVisitor(None, query="v=1", widgets={"sentence": "$$ID-5f-sentence"})  # type: ignore[arg-type]
    frames_ = [BackMsg.FromString(visitor.frame(seed)).rerun_script.widget_states.widgets[0] for seed in seeds]
    assert {each.id for each in frames_} == {"$$ID-5f-sentence"}
    assert len({each.string_value for each in frames_}) == len(seeds)
    assert {len(each.string_value.split()) for each in frames_} == {model_hosting.MOST_TOKENS - 2}


def test_a_visitor_on_a_model_counts_what_that_model_computes() -> None:
    model_registry.MODELS.clear()  # what a command offered in an earlier test
    model_hosting.offer([model_visitors.SMALL])
    try:
        config = Config(model=offered_models.names()[0])
        visitor = model_visitors.ModelVisitor(None, config)  # type: ignore[arg-type]
        wanted = visitors.expected(visitor.wanted(5))
        assert wanted.size == 4 * model_hosting.MOST_TOKENS**2
        assert not visitors.shows(visitors.expected(visitor.wanted(6)), visitor.wanted(5))
    finally:
        model_registry.MODELS.clear()


def test_a_tally_tells_times_and_what_went_wrong() -> None:
    async def wrong() -> None:
        raise visitors.WrongPageError("seed 1")

    tally = visitors.Tally([0.001 * each for each in range(100, 0, -1)])
    assert (tally.ms(0.5), tally.ms(0.95), tally.ms(1)) == pytest.approx((51, 96, 100))
    assert not asyncio.run(tally.time(wrong()))
    assert tally.wrong == ["WrongPageError: seed 1"]
    assert len(tally.seconds) == 100
    assert np.isnan(visitors.Tally().ms(0.95))


def test_the_slope_is_that_of_the_line() -> None:
    assert load.slope([(x, 3 + 0.25 * x + (-1) ** x * 1e-9) for x in range(7)]) == pytest.approx(0.25)
    assert load.slope([(2, 5.0)]) == 0


SEED = "$$ID-5f-seed"


def frame() -> bytes:
    return visitors.Visitor(None, query="v=1", widgets={"seed": SEED}).frame(5)  # type: ignore[arg-type]


def test_mutated_frames_repeat_differ_and_are_of_both_kinds() -> None:
    found = list(islice(frames.mutations(3, frame()), 400))
    assert found == list(islice(frames.mutations(3, frame()), 400))
    assert found[:20] != list(islice(frames.mutations(4, frame()), 20))
    assert len({*found}) > 250
    assert 100 < sum(map(frames.readable, found)) < 390


def test_a_rewritten_frame_can_be_read_and_reaches_every_kind_of_message() -> None:
    rng = random.Random(1)  # noqa: S311 - as in the benchmark
    kinds = {BackMsg.FromString(frames.rewritten(rng, frame())).WhichOneof("type") for _ in range(300)}
    assert {"rerun_script", "clear_cache", "stop_script", "file_urls_request", "backend_operation_request"} <= kinds


LOG = """2026 Error deserializing back message
Traceback (most recent call last):
  File "/lib/streamlit/web/x.py", line 1, in f
    back_msg.ParseFromString(data)
  File "/lib/python3.11/json/decoder.py", line 9, in decode
google.protobuf.message.DecodeError: Error parsing message
  Something ran
Traceback (most recent call last):
  File "/lib/streamlit/y.py", line 2, in g
  File "/srv/attnviz/ui/z.py", line 3, in h
    ~~^^~~

KeyError: 'seed'
Traceback (most recent call last):
  File "/srv/attnviz/ui/z.py", line 4, in h
  File "/lib/streamlit/y.py", line 2, in g
streamlit.errors.StreamlitAPIException: no
"""


def test_a_traceback_is_a_fault_unless_it_is_streamlits_refusal() -> None:
    refusals, found = frames.tracebacks(LOG * 2)
    assert refusals == {"google.protobuf.message.DecodeError: Error parsing message (x.py:1)": 2}
    assert found == {"KeyError: 'seed' (z.py:3)": 2, "streamlit.errors.StreamlitAPIException: no (y.py:2)": 2}


def kept(**more: Any) -> dict[str, Any]:
    out = Outcome(figures={"move_ms": 20.0, "session_mb": 0.5, "base_mb": 170.0, "visit_mb": 3.0})
    out.bound("A move | cost", 20.0, 16, "20.0 ms", " ms")
    out.bound("Bytes", 30.0, 50, "30 KB")
    out.row("Others", out.failed([]))
    return {"move": out.plain() | {"machine": "a box", "commit": "abc", "load": [0.1, 2.0]} | more}


def test_the_table_has_a_line_for_every_row_and_says_what_was_missed() -> None:
    lines = table.rows(kept()).splitlines()
    assert lines[2:] == [
        "| A move \\| cost | 20.0 ms | ≤ 16 ms | **missed** | 0.1 → 2.0 |",
        "| Bytes | 30 KB | ≤ 50 | met |  |",
        "| Others | no error, no wrong page |  |  |  |",
    ]


def test_machines_and_commits_are_named_once_each() -> None:
    both = kept() | {"soak": kept()["move"], "kill": kept(commit="def")["move"]}
    assert table.machines(both) == "Measured on a box; commit abc.\nAnd on a box; commit def."


def test_what_rooms_need_is_reckoned_from_the_figures() -> None:
    lines = table.whole(kept()).splitlines()
    assert "| A class of 30 | 1 | 185 MB | 90 MB | 7 s |" in lines
    assert "| A talk of 300 | 3 | 660 MB | 900 MB | 72 s |" in lines
    assert "50 moves a second: 250 visitors" in lines[-1]
    assert "Replicas" not in table.whole({"move": kept()["move"] | {"figures": {}}})
    many = {"open_ms": 60.0, "open_kb": 250.0, "move_kb": 25.0}
    lines = table.whole({"move": kept()["move"] | {"figures": kept()["move"]["figures"] | many}}).splitlines()
    assert lines[-2:] == ["| A thousand | 260 s | 0.5 GB | 3 GB |", "| A million | 260,000 s | 500.0 GB | 3,000 GB |"]


def test_a_value_that_could_not_be_measured_meets_no_goal() -> None:
    out = Outcome()
    out.bound("p95", float("nan"), 5, "-")
    assert out.rows[0].met is False
    assert out.failed(["lost"]) == "1 errors or wrong pages"
    assert out.wrong == ["lost"]


def test_an_outcome_survives_json() -> None:
    plain = json.loads(json.dumps(kept()["move"]))
    assert outcome(plain).plain() == {name: plain[name] for name in ("rows", "wrong", "figures")}


def all_kept() -> dict[str, Any]:
    """Every part that the short form speaks of."""
    part = kept()["move"] | {"machine": "2 processors (x), 8 GB"}
    more = {"move_kb": 23.8, "burst_30_p95": 380.0, "burst_100_p95": 1372.0, "burst_300_p95": 4601.0, "held": 300}
    more |= {"held_minutes": 10.0, "soak": 20000, "soak_mb": 193.4, "kill_back": 50, "kill_trials": 50}
    more |= {"loss_back": 49, "loss_trials": 50}
    return {"move": part, "held": part | {"figures": part["figures"] | more}}


def test_in_short_it_says_what_was_measured() -> None:
    assert table.short(all_kept()) == (
        "One process on 2 processors: a move costs 20 ms of processor and 24 KB. When 30 move in the same moment, 95 % "
        "have their answer within 0.4 s; of 100, within 1.4 s; of 300, within 4.7 s. 300 visitors moved for 10 minutes "
        "with no errors or wrong pages. After 20,000 sessions the page held 193 MB. Every value came back after 50 of "
        "50 servers that were killed and 49 of 50 replicas that were lost."
    )
    two = all_kept()["move"] | {"figures": {"burst_300_p95_of_2": 2301.0}}
    assert "4.7 s. Two processes: of 300, within 2.4 s." in table.short(all_kept() | {"processes": two})
    failed = all_kept()["held"] | {"wrong": ["lost"]}
    assert "with 1 errors" in table.short(all_kept() | {"held": failed})
    less = all_kept()["held"]["figures"]
    for name in ("held", "soak", "kill_back", "loss_back"):
        del less[name]
    assert table.short({"move": all_kept()["move"], "bursts": all_kept()["held"] | {"figures": less}}) == (
        "One process on 2 processors: a move costs 20 ms of processor and 24 KB. When 30 move in the same moment, 95 % "
        "have their answer within 0.4 s; of 100, within 1.4 s; of 300, within 4.7 s."
    )
    with pytest.raises(KeyError):
        table.short(kept())


@pytest.mark.parametrize("form", table.FORMS)
def test_what_was_measured_is_put_between_the_comments_and_again(form: str) -> None:
    begin, end = f"<!-- {form} -->", f"<!-- /{form} -->"
    text = f"before\n{begin}\nold\n{end}\nafter\n"
    once = table.put(text, all_kept())
    assert once == f"before\n{begin}\n{table.FORMS[form](all_kept())}\n{end}\nafter\n"
    assert table.put(once, all_kept()) == once
    for bad in ("nothing", text + begin, f"{end}{begin}"):
        with pytest.raises(ValueError, match="once each"):
            table.put(bad, all_kept())


@pytest.mark.parametrize(("path", "form"), [("docs/hosting.md", "measured"), ("README.md", "in short")])
def test_the_files_have_a_place_for_it(path: str, form: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert table.FORMS[form](all_kept()) in table.put(text, all_kept())


def test_a_part_that_breaks_off_is_a_failure_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(sizes: hosting.Sizes) -> Outcome:
        raise RuntimeError(f"{sizes.trials} trials")

    monkeypatch.setitem(hosting.PARTS, "disk", broken_off)
    found = hosting.measured("disk", hosting.Sizes(trials=7))
    assert found["wrong"] == ["disk broke off: RuntimeError: 7 trials"]
    assert found["rows"][0]["met"] is False


def test_parts_are_kept_beside_those_measured_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hosting, "commit", lambda: "abc")
    file, page = tmp_path / "kept.json", tmp_path / "page.md"
    page.write_text("<!-- measured -->\n<!-- /measured -->\n", encoding="utf-8")
    for name, wrong in (("kill", []), ("move", ["seed 3 was asked for"])):
        monkeypatch.setitem(hosting.PARTS, name, lambda sizes, wrong=wrong: Outcome(wrong=list(wrong)))
        argv = ["hosting.py", "--small", "--json", str(file), "--only", name]
        monkeypatch.setattr(sys, "argv", argv)
        assert hosting.main() == len(wrong)
    assert "seed 3 was asked for" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["hosting.py", "--json", str(file), "--only", "--write", str(page)])
    assert hosting.main() == 0
    assert list(json.loads(file.read_text(encoding="utf-8"))) == ["kill", "move"]
    assert "Measured on" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kept_of", "measured_on"), [("def", "abc"), ("abc+", "abc"), ("abc", "abc+"), ("abc", "unknown")]
)
def test_a_table_of_several_commits_or_of_changed_files_is_not_put_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept_of: str, measured_on: str
) -> None:
    file, page, measured = tmp_path / "kept.json", tmp_path / "page.md", []
    file.write_text(json.dumps({"move": kept(commit=kept_of)["move"]}), encoding="utf-8")
    page.write_text("<!-- measured -->\n<!-- /measured -->\n", encoding="utf-8")
    monkeypatch.setattr(hosting, "commit", lambda: measured_on)
    monkeypatch.setitem(hosting.PARTS, "kill", lambda sizes: measured.append(sizes) or Outcome())
    monkeypatch.setattr(
        sys, "argv", ["hosting.py", "--small", "--json", str(file), "--only", "kill", "--write", str(page)]
    )
    with pytest.raises(ValueError, match="commit"):
        hosting.main()
    assert measured == []  # refused before it is measured
    assert page.read_text(encoding="utf-8") == "<!-- measured -->\n<!-- /measured -->\n"


@pytest.mark.slow
def test_a_stranger_asks_for_the_longest_that_is_admitted_and_for_more() -> None:
    def refusal(config: Config) -> str:
        return cost.refusal(MAPS, config, most=cost.most_bytes())

    assert "seconds, and it allows" in refusal(stranger.SOLVED)
    assert not refusal(stranger.LONG)
    assert cost.estimate(MAPS, stranger.LONG).seconds > 0.8 * MOST_SECONDS
    assert not cost.refusal(FORMATS["csv"].need, stranger.WIDE, most=cost.most_bytes())
    assert run_sizes.sizes(stranger.TYPED).working > 0  # the line can be read
    assert run(stranger.TYPED).layers  # and is not beyond the steps that a line may take
    assert not refusal(stranger.TYPED)


def test_a_slow_line_brings_everything_in_order_and_later_and_a_clock_goes_a_day_back(tmp_path: Path) -> None:
    sent = bytes(range(256)) * 1000

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(len(sent)))
        writer.close()
        await writer.wait_closed()

    async def through() -> tuple[bytes, float]:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with server, chaos.delayed(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", 0.1) as url:
            reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
            start = time.perf_counter()
            writer.write(sent)
            heard = await reader.read(-1)
            writer.close()
            await writer.wait_closed()
            return heard, time.perf_counter() - start

    heard, seconds = asyncio.run(asyncio.wait_for(through(), 30))
    assert heard == sent
    assert 0.2 <= seconds < 5
    (tmp_path / "sitecustomize.py").write_text(chaos.CLOCK.format(flag=str(tmp_path / "back")), "utf-8")
    (tmp_path / "back").touch()
    asked = [sys.executable, "-c", "import time; print(time.time())"]
    found = subprocess.run(asked, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert time.time() - 2 * chaos.DAY < float(found.stdout) < time.time() - chaos.DAY + 60


def test_the_small_form_is_smaller_in_everything() -> None:
    whole = hosting.Sizes()
    for name, value in hosting.SMALL.items():
        before = getattr(whole, name)
        both = (value, before) if isinstance(value, tuple) else ((value,), (before,))
        assert json.dumps(value) != json.dumps(before), name
        assert all(small <= large for small, large in zip(*both)), name


def test_the_machine_names_what_figures_depend_on() -> None:
    import streamlit

    report = served.machine()
    assert re.match(r"\d+ processors \(.+\), \d+ GB, ", report)
    for version in (f"Streamlit {streamlit.__version__}", f"NumPy {np.__version__}"):
        assert version in report
    assert served.Server("http://x", 0).lives is False


def test_the_edge_of_memory_is_looked_for_with_the_largest_setting_that_the_page_admits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attnviz.engine.cost import estimate as cost
    from attnviz.ui.session.admission import MAPS

    found = limits.largest()
    assert cost.refusal(MAPS, found, most=cost.most_bytes()) == ""
    assert len(found.sentence.split()) == found.max_tokens
    enough = cost.estimate(MAPS, replace(found, n_layers=2)).n_bytes
    monkeypatch.setattr(cost, "most_bytes", lambda: enough)
    assert limits.largest().n_layers == 2
    monkeypatch.setattr(cost, "most_bytes", lambda: 1.0)
    with pytest.raises(ValueError, match="even with one layer"):
        limits.largest()


def test_a_picture_of_blocks_counts_where_cells_are_too_many_to_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = np.sort(np.random.default_rng(0).random(visitors.MANY))
    monkeypatch.setattr(visitors, "expected", lambda config: wanted)
    blocks = np.sort(wanted.reshape(-1, 64).max(axis=1)).astype("float32")
    assert visitors.shows(blocks, visitors.USUAL)
    assert not visitors.shows(blocks[:-1], visitors.USUAL), "without the largest"
    assert not visitors.shows(blocks * np.float32(0.999), visitors.USUAL)
    assert not visitors.shows(np.array([]), visitors.USUAL)
    assert not visitors.shows(np.append(blocks, np.nan), visitors.USUAL)
    monkeypatch.setattr(visitors, "expected", lambda config: wanted[1:])
    assert not visitors.shows(blocks, visitors.USUAL), "few enough to be drawn"


def test_the_published_table_is_of_one_commit_or_says_what_it_is() -> None:
    text = (ROOT / "docs/hosting.md").read_text(encoding="utf-8").split("<!-- measured -->")[1]
    try:
        table.check_one_commit(re.findall(r"; commit (\S+)\.$", text, re.MULTILINE))
    except ValueError:
        assert "it is not of one commit" in text


def test_no_file_of_the_measuring_is_imported_by_a_name_that_another_package_may_have() -> None:
    files = sorted((ROOT / "benchmarks").glob("*.py"))
    own = {path.stem for path in files}
    for path in (*files, Path(__file__)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert own.isdisjoint(name.partition(".")[0] for name in names), (path.name, names)
