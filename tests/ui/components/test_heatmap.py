"""The pictures as Streamlit is told of them, and what is taken from a browser that may say anything."""

from __future__ import annotations

import ast
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz import Config
from attnviz.pictures.stage_bytes import unpacked
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import set_language
from attnviz.ui.components.pickers import film_strip
from attnviz.ui.components.stage import heatmap, plotly_bundle
from attnviz.ui.components.stage.picking import Picked, located
from attnviz.ui.session.browser.stage_events import Event
from attnviz.ui.session.selection import Selection
from tests.support.cases import for_each
from tests.support.events import event

UI = Path(heatmap.__file__).parents[2]
HOSTILE = ("<b>", "constructor", "$x$", "the", "the")


def script() -> None:
    import numpy as np
    import streamlit as st

    from attnviz.pictures.stage_record import Stage
    from attnviz.ui.components.stage import heatmap
    from attnviz.ui.components.stage.picking import Picked

    words = ("<b>", "constructor", "$x$", "the", "the")
    times = st.session_state.get("times", 1.0)
    numbers = times * np.arange(2 * 5 * 5, dtype=float).reshape(2, 5, 5) / 7
    masked = np.triu(np.ones((5, 5), bool), 1 if times > 0 else 2)
    alt = "Scores." if times > 0 else "Other scores."
    stages = [
        Stage("scores", "QKᵀ", numbers, "signed", words, words, masked=masked, alt=alt),
        Stage("heads", "outputs", numbers[:, :, :3], "signed", words, None, ("query", "dimension"), alt="Outputs."),
    ]
    chosen = heatmap.show(stages, key="pictures", picked=Picked("scores", 1, 2, 0))
    st.text(f"chosen {chosen}")


def run(**answers: Any) -> AppTest:
    page = AppTest.from_function(script, default_timeout=60)
    for name, value in answers.items():
        page.session_state[name.replace("_", "-")] = value
    page.run()
    assert not page.exception
    return page


def sent(page: AppTest) -> Any:
    """What the maps are sent."""
    return next(each.proto for each in page.get("bidi_component") if each.proto.component_name == "attnviz_heatmap")


def test_the_page_holds_the_numbers_the_words_and_an_alternative_text() -> None:
    page = run()
    header, arrays = unpacked(sent(page).bytes)
    scores, outputs = header["stages"]
    assert arrays["scores"][1, 4, 2] == (1 * 25 + 4 * 5 + 2) / 7
    assert arrays["scores"].dtype == np.float64
    assert arrays[scores["masked"]].shape == (1, 5, 5), "one mask of all heads"
    assert arrays[scores["masked"]][0, 2, 4] == 1
    assert scores["rows"] == scores["columns"] == list(HOSTILE)
    assert (outputs["columns"], outputs["masked"]) == (None, None)
    assert [scores["alt"], outputs["alt"]] == ["Scores.", "Outputs."]
    assert header["picked"] == {"stage": "scores", "head": 1, "row": 2, "column": 0}
    assert header["plotly"] == plotly_bundle.address()


def test_the_maps_are_told_how_the_language_writes_a_number() -> None:
    try:
        for code, sign in (("de", ","), ("en", ".")):
            set_language(code)
            assert heatmap._words(heatmap.Lettering())["decimal"] == sign
    finally:
        set_language("en")


def test_no_maps_go_by_the_name_of_a_field() -> None:
    """What they report would be read as the value of its widget."""
    found: set[str] = set()
    for path in UI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("heatmap.show", "pictures.draw"):
                keys = [each.value for each in node.keywords if each.arg == "key"]
                found.update(str(key.value) for key in keys if isinstance(key, ast.Constant))
    assert {"redeal", "task-maps"} <= found
    assert found & {field.name for record in (Config, Selection) for field in fields(record)} == set()


def test_no_token_enters_html() -> None:
    written = " ".join(html.proto.body for html in run().get("html"))
    for token in HOSTILE[:3]:
        assert token not in written


def test_the_same_is_sent_in_the_same_bytes_so_that_it_need_not_be_sent_again() -> None:
    page = run()
    first = sent(page).SerializeToString()
    page.run()
    assert first == sent(page).SerializeToString()


def test_maps_that_are_masked_alike_have_one_mask_and_others_their_own() -> None:
    numbers, mask = np.zeros((2, 3, 3)), np.triu(np.ones((3, 3), bool), 1)
    one, two, three = (Stage(name, name, numbers, "signed", "abc", "abc", masked=mask) for name in "STU")
    other = replace(three, masked=np.stack([mask, mask.T]))
    header, arrays = unpacked(heatmap.message([one, two, other], {}))
    assert [each["masked"] for each in header["stages"]] == ["forbidden", "forbidden", "U.forbidden"]
    assert [arrays[name].shape[0] for name in ("forbidden", "U.forbidden")] == [1, 2]
    for name, masked in (("S", mask), ("T", mask), ("U", other.masked)):
        hidden = np.broadcast_to(masked, numbers.shape)
        np.testing.assert_array_equal(np.isnan(arrays[name]), hidden, "what is masked may be asked for: it is not sent")


def test_a_choice_made_in_the_browser_is_returned() -> None:
    page = run(pictures=event("pick", stage="heads", head=1, row=4, column=2))
    assert page.text[-1].value == "chosen Picked(stage='heads', head=1, row=4, column=2)"
    assert run().text[-1].value == "chosen None"


def stages() -> list[Stage]:
    numbers = np.zeros((2, 3, 4))
    return [
        Stage("scores", "S", numbers, "signed", "abc", "abcd"),
        Stage("heads", "Z", numbers, "signed", "abc", None, widths=(4, 1)),
    ]


def pick(stage: str = "scores", head: int | None = 0, row: int | None = 0, column: int | None = 0) -> Event:
    return Event("pick", stage=stage, head=head, row=row, column=column)


@for_each(
    "clicked, picked",
    [
        (pick(), Picked("scores", 0, 0, 0)),
        (pick(head=1, row=2, column=3), Picked("scores", 1, 2, 3)),
        (pick(head=None, column=None, row=1), Picked("scores", None, 1, None)),
        (pick(head=None, row=None, column=3), Picked("scores", None, None, 3)),
        (pick("heads", head=0, column=3), Picked("heads", 0, 0, 3)),
        *((clicked, None) for clicked in (None, pick("nowhere"), pick(head=2), pick(row=3), pick(column=4))),
        *((clicked, None) for clicked in (pick(row=None, column=None), pick("heads", head=1, column=1))),
    ],
)
def test_a_pick_is_that_of_a_cell_which_is_there(clicked: Event | None, picked: Picked | None) -> None:
    assert located(clicked, stages()) == picked


def test_a_film_strip_below_the_pictures_is_as_high_as_is_kept_for_it() -> None:
    style = Path(film_strip.__file__).with_suffix(".css").read_text("utf-8")
    level = style.split(".film.level {")[1].split("}")[0]
    (kept,) = re.findall(r"FILM = (\d+)", Path(heatmap.__file__).with_name("room.js").read_text("utf-8"))
    assert f"min-height: {kept}px" in level, "or half a line of what follows is seen under it"
