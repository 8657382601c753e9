"""The types of the JavaScript: they hold, also for what Python sends, and what is wrong does not pass."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.arithmetic.cell import derive
from attnviz.engine.external.traces import of_weights
from attnviz.exports import interactive_html
from attnviz.exports.interactive_layers import layers, movable
from attnviz.exports.interactive_live import live
from attnviz.exports.interactive_part import Part, everything
from attnviz.live import program
from attnviz.live.program import program_of
from attnviz.pictures import stages
from attnviz.pictures.answer import browser_facts
from attnviz.pictures.answer.explanation import explanation
from attnviz.pictures.stage_bytes import unpacked
from attnviz.pictures.step_path import way
from attnviz.text.query_sentences import query_weights
from attnviz.ui.components import mask_painter, paste_guard, svg_to_png
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.pickers import film_strip, head_cards, head_mosaic, next_word_link, step_path
from attnviz.ui.components.sentence import attention_lines, opening_sentence
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.classroom import share_code
from attnviz.ui.session import interrupted

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UI = ROOT / "attnviz" / "ui"
TYPES = {
    name: path.with_name("types")
    for path in (*UI.rglob("types.d.ts"), *(ROOT / "attnviz" / "pictures").rglob("types.d.ts"))
    for name in re.findall(r"^export (?:interface|type) (\w+)", path.read_text("utf-8"), re.MULTILINE)
}
"""The file that describes a type, by its name."""
INTERACTIVE = Path(interactive_html.__file__).parent / "interactive" / "types"
LIVE = Path(program.__file__).parent / "types"


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., str]:
    """What `tsc` says of files with these texts, by the rules of the repository; nothing where all is well."""
    tsc = shutil.which("tsc")
    if tsc is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no tsc: npm install -g typescript")

    def compiler_output(**texts: str) -> str:
        rules = {"extends": str(ROOT / "tsconfig.json"), "include": ["*"], "exclude": []}
        (tmp_path / "tsconfig.json").write_text(json.dumps(rules), encoding="utf-8")
        for name, text in texts.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        done = subprocess.run([str(tsc), "-p", str(tmp_path)], capture_output=True, text=True)
        assert (done.returncode == 0) == (done.stdout == ""), done.stderr
        return done.stdout

    return compiler_output


def sent(module: Any, show: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a component is given by Python, as the browser reads it."""
    given: list[Any] = []
    monkeypatch.setattr(module, "_component", lambda **settings: given.append(settings["data"]))
    show()
    [data] = given
    return json.loads(data) if isinstance(data, bytes) else data


def header(data: bytes) -> Any:
    """What stands before the numbers."""
    return json.loads(data.partition(b"\0")[0])


def declared(types: Path, name: str, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f'import type {{ {name} }} from "{types.as_posix()}";\nexport const value: {name} = {text};\n'


def test_python_sends_the_interactive_file_what_its_script_reads(check: Callable[..., str]) -> None:
    traces = [
        run(Config(sentence="a b c", n_layers=2, score="additive", bias="alibi", mask="causal", softcap=2.0)),
        run(Config(sentence="a b", second_sentence="x y", n_kv_heads=1), edits=[(0, "scaled", (0, 1, 0), 7.0)]),
        of_weights([[0.5, 0.5], [0.1, 0.9]], ["a", "b"], ["x", "y"]),
    ]
    parts = [*map(everything, traces[:2]), Part((), (0,))]  # the last with numbers of three digits
    moved = [live(trace, part) for trace, part in zip(traces, parts)]
    assert [each is None for each in moved] == [False, False, True]
    texts = [
        interactive_html.described(trace) | {"live": each and movable(each), "layers": list(layers(trace, part))}
        for trace, part, each in zip(traces, parts, moved)
    ]
    assert check(**{f"run{at}_ts": declared(INTERACTIVE, "Run", text) for at, text in enumerate(texts)}) == ""
    texts[0]["setting"]["group"] = "1"
    texts[1]["words"].pop("masked")
    texts[2]["layers"][0]["stages"][0]["unheard"] = 1
    output = check(**{f"run{at}_ts": declared(INTERACTIVE, "Run", text) for at, text in enumerate(texts)})
    assert {name for name in ("run0.ts", "run1.ts", "run2.ts") if name in output} == {"run0.ts", "run1.ts", "run2.ts"}


def test_python_sends_each_component_what_it_reads(check: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    mask, trace = np.tril(np.ones((2, 2), dtype=bool)), run(Config(sentence="a b"))
    monkeypatch.setattr(heatmap, "_component", lambda **given: shown.update(StageData=unpacked(given["data"])[0]))
    shown: dict[str, Any] = {}
    heatmap.show([stages.stage(trace, trace["weights"], "Weights")], key="key")
    data = {
        **shown,
        "WaysData": header(next_word_link.packed("mary", "99 %")),
        "FilmData": header(film_strip.packed(film_strip.Strip(trace["weights"].array, 0))),
        "CardsData": header(head_cards.packed(trace, 0, None)),
        "MosaicData": header(head_mosaic.packed(trace, None, {}, head_mosaic.WordPair(1, 0))),
        "PathData": header(step_path.packed(way(trace, 0, 0), 2, ["weights"])),
        "OpeningData": header(opening_sentence.packed(trace, 0, opening_sentence.Opening(0, 1, ()))),
        "LinesData": attention_lines.payload(query_weights(trace, 0, None), None),
        "PaintData": header(mask_painter.packed(mask, ["a", "b"], ["a", "b"])),
        "AnswerData": header(drawer.packed(explanation(trace, derive(trace, 0, 0, 1, 0), key=True))),
        "AnswerFacts": browser_facts.facts(trace, 0),
        "PasteData": sent(paste_guard, lambda: paste_guard.guard({"field": 100}), monkeypatch),
        "SnapshotData": sent(svg_to_png, lambda: svg_to_png.button("<svg/>", key="key"), monkeypatch),
        "ShareData": sent(share_code, lambda: share_code.draw("6333", title="t"), monkeypatch),
        "UnfinishedData": sent(interrupted, lambda: interrupted._note("abc"), monkeypatch),
    }
    assert check(**{f"{name}_ts": declared(TYPES[name], name, value) for name, value in data.items()}) == ""
    for value in data.values():
        value["unheard"] = 1
    output = check(**{f"{name}_ts": declared(TYPES[name], name, value) for name, value in data.items()})
    assert [name for name in data if f"{name}.ts" not in output] == []


def test_python_sends_the_browser_the_program_that_it_carries_out(check: Callable[..., str]) -> None:
    configs = [
        Config(sentence="a b c", n_layers=2, tied=True, n_kv_heads=2, position="rope", softcap=2.0, mask="window"),
        Config(sentence="a b", residual=True, norm="rms", feed_forward="swiglu", bias="linear", normaliser="hardmax"),
        Config(sentence="a b", second_sentence="x y z", edits=[(0, "scores", (1, 1, 1), 2.0)], score="additive"),
    ]
    programs = [json.loads(json.dumps(program_of(run(config)))) for config in configs]
    assert check(**{f"p{at}_ts": declared(LIVE, "Program", each) for at, each in enumerate(programs)}) == ""
    del programs[0]["settings"], programs[2]["steps"][-1]["made"]["args"]
    programs[1]["steps"][-1]["made"]["op"] = "unheard"
    output = check(**{f"p{at}_ts": declared(LIVE, "Program", each) for at, each in enumerate(programs)})
    assert [at for at in range(3) if f"p{at}.ts" not in output] == []


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("export const shade = (x) => x + 1;", "implicitly has an 'any' type"),
        ("/** @param {number} x */ export const shade = (x) => x.low;", "Property 'low' does not exist"),
        ('export const pen = document.createElement("canvas").getContext("2d").fill();', "is possibly 'null'"),
        (
            f'/** @import {{ Component }} from "{TYPES["Component"].as_posix()}" */\n'
            "/** @param {Component<Uint8Array, { cells: string }>} component */\n"
            'export default ({ setTriggerValue }) => setTriggerValue("cell", "1");',
            "is not assignable to parameter of type '\"cells\"'",
        ),
    ],
)
def test_what_is_wrong_does_not_pass(check: Callable[..., str], code: str, complaint: str) -> None:
    assert complaint in check(wrong_js=code)
