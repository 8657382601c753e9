"""The page of what people bring: it shows what came, and keeps it when something bad follows."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, of_scores, of_vectors, of_weights, run
from attnviz.engine.cost import estimate as cost
from attnviz.exports import archive
from attnviz.ui.pages import panels, your_data
from attnviz.ui.session import admission
from attnviz.ui.session.selection import PANEL_NAMES, Selection
from attnviz.uploads import parse_text, to_trace
from tests.support.page_figures import figures, numbers

PAGE = str(Path(__file__).parents[2] / "browser/scripts/own.py")
A = np.random.default_rng(6).dirichlet(np.ones(7), size=(3, 5))
TOKENS = ["<b>x</b>", "**b**", "$y$", "c", "c"]


def opened(**settings: Any) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=30)
    at.query_params["config"] = json.dumps(settings)
    return settled(at.run())


def settled(at: AppTest) -> AppTest:
    assert not at.exception, at.exception
    return at


def page_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def drawn(at: AppTest) -> list[np.ndarray]:
    """The numbers of each picture in falling order, without gutters and masked cells."""
    return [np.sort(array[~np.isnan(array)])[::-1] for array in map(numbers, figures(at))]


def falling(array: np.ndarray) -> np.ndarray:
    return np.sort(array[np.isfinite(array)].ravel())[::-1]


def upload(at: AppTest, name: str, data: bytes) -> AppTest:
    at.file_uploader(key="own_file").set_value((name, data, "application/octet-stream"))
    return settled(at.run())


def kind(at: AppTest, name: str) -> AppTest:
    at.segmented_control(key="own_kind").set_value(name)
    return settled(at.run())


def test_what_would_follow_from_a_small_file_is_estimated_before_it_is_computed() -> None:
    """All that 16 heads of 1,024 words say of six layers stands in a thousand bytes, and fills three thousand MB."""
    at, file = opened(), io.BytesIO()
    small = np.ones((6, 16, 1024, 1), dtype=np.int8)
    np.savez_compressed(file, q=small, k=small, v=small)
    kind(at, "vectors")
    before = drawn(at)
    tracemalloc.start()
    upload(at, "vectors.npz", file.getvalue())
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 20 * cost.MB
    assert (
        "MB of memory, and the server allows 500 MB for one computation. Use a part of it. The previous data"
        in page_text(at)
    )
    assert all(map(np.array_equal, drawn(at), before))


def npz(**named: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **named)
    return out.getvalue()


def test_the_page_opens_with_an_example_of_each_kind() -> None:
    at = opened()
    expected = parse_text.matrix(your_data.EXAMPLES["weights"][1]["weights"])
    assert np.array_equal(drawn(at)[0], falling(expected))
    assert "1 head of self-attention over 5 tokens" in page_text(at)
    assert "they are not in the link" in page_text(at)
    kind(at, "scores")
    scores = parse_text.matrix(your_data.EXAMPLES["scores"][1]["scores"], minus_infinity=True)
    for picture, step in zip(drawn(at), ("scores", "weights"), strict=True):
        trace = of_scores(scores)
        assert np.array_equal(picture, falling(trace[step].array[~np.isneginf(trace["masked"].array)]))
    kind(at, "vectors")
    q, k, v = (parse_text.matrix(text) for text in your_data.EXAMPLES["vectors"][1].values())
    for picture, step in zip(drawn(at), ("scores", "weights", "heads"), strict=True):
        assert np.allclose(picture, falling(of_vectors(q, k, v)[step].array))


def test_examples_are_shares_and_have_a_token_a_row() -> None:
    for name, (tokens, texts) in your_data.EXAMPLES.items():
        parts = {part: parse_text.from_text(text) for part, text in texts.items()}
        trace = to_trace.trace(name, parts, tokens, "", Config())
        assert trace.notes == ()
        assert trace.query_tokens == tuple(tokens.split())


def test_a_file_is_shown_with_its_tokens_and_a_bad_one_leaves_it_there() -> None:
    at = upload(opened(), "w.npz", npz(weights=A[:, :, :5], tokens=TOKENS))
    assert np.array_equal(drawn(at)[0], falling(A[:, :, :5]))
    assert "3 heads of self-attention over 5 tokens" in page_text(at)
    assert "Head 1, row 1 adds to" in page_text(at)
    assert at.text_input(key="own_tokens").value == ""
    assert at.text_area(key="own_paste_weights").value == ""
    upload(at, "bad.csv", b"1,2\n3")
    assert "Numbers in row 2: 1, in the rows above: 2; give as many in each. The previous data" in page_text(at)
    assert np.array_equal(drawn(at)[0], falling(A[:, :, :5]))
    upload(at, "bad.npy", b"\x80\x04")
    assert "a pickle is never opened" in page_text(at)
    assert np.array_equal(drawn(at)[0], falling(A[:, :, :5]))
    upload(at, "good.csv", b"0.5 0.5\n1 0")
    assert "The previous data are" not in page_text(at)
    assert np.array_equal(drawn(at)[0], [1, 0.5, 0.5, 0])


@pytest.mark.slow
@pytest.mark.parametrize("which", your_data.KINDS)
def test_every_panel_works_on_every_kind(which: str) -> None:
    at = kind(opened(), which) if which != "weights" else opened()
    at.session_state["held"] = Selection(head=0, query=2, key=0, all_lines=True)
    for panel in reversed(your_data.PANELS):
        at.segmented_control(key="pick-panel").set_value(panel)
        settled(at.run())
        assert at.session_state["held"].panel == panel
        assert "Traceback" not in page_text(at)
    assert any("arithmetic begins here" in each.value or "nothing before it" in each.value for each in at.markdown)


def test_a_panel_that_is_none_of_this_page_is_charged_as_the_one_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    at, asked, admitted = opened(), [], admission.admitted
    monkeypatch.setattr(admission, "admitted", lambda need, *of: asked.append(need) or admitted(need, *of))
    at.session_state["held"] = Selection(panel="backward")
    settled(at.run())
    assert asked == [your_data.NEED, panels.PANELS["cell"].need]


def test_a_link_with_any_panel_shows_the_numbers() -> None:
    at = opened()
    for panel in PANEL_NAMES:
        at.session_state["held"] = Selection(panel=panel)
        settled(at.run())
        assert "cannot be shown" not in page_text(at), panel
        assert drawn(at), panel


def test_pasted_numbers_and_typed_tokens_are_taken_and_never_reach_markdown() -> None:
    at = opened()
    at.text_area(key="own_paste_weights").set_value(json.dumps(A[:2, :2, :2].tolist()))
    settled(at.run())
    assert np.array_equal(drawn(at)[0], falling(A[:2, :2, :2]))
    at.text_input(key="own_tokens").set_value(" ".join(TOKENS[:2]))
    settled(at.run())
    assert "The previous data are" not in page_text(at)
    held = at.session_state["own_held"]
    assert held.tokens == " ".join(TOKENS[:2])
    for element in (*at.markdown, *at.caption):
        assert not any(token in element.value for token in TOKENS[:2])
    assert "<b>x</b>" not in page_text(at)
    at.text_input(key="own_tokens").set_value("a b c")
    settled(at.run())
    assert "There are 3 query tokens; give 2, one for each query" in page_text(at)
    assert len(drawn(at)) == 1


def test_queries_keys_and_values_out_of_one_file_take_the_setting_of_the_run() -> None:
    q, k, v = A[:, :, :3], A[:1, :4, :3], A[:1, :4, 3:5]
    config = Config(mask="causal", softcap=2.0, score="additive")
    at = opened(mask="causal", softcap=2.0, score="additive")
    kind(at, "vectors")
    upload(at, "qkv.npz", npz(Q=q, K=k, V=v))
    trace = of_vectors(q, k, v, config=Config(mask="causal", softcap=2.0))
    for picture, step in zip(drawn(at), ("scores", "weights", "heads"), strict=True):
        shown = trace[step].array
        if step != "heads":
            shown = shown[~np.isneginf(trace["masked"].array)]
        assert np.allclose(picture, falling(shown), rtol=1e-6, atol=1e-9)
    assert "so the scaled dot product is used here" in page_text(at)
    assert config.score == "additive"


def test_another_kind_sees_the_same_file_anew_or_says_what_is_missing() -> None:
    at = upload(opened(), "s.npy", _npy(A[0] * 3))
    kind(at, "scores")
    trace = of_scores(A[0] * 3)
    assert np.array_equal(drawn(at)[1], falling(trace["weights"].array))
    kind(at, "vectors")
    assert "The file holds one array without a name; give q, k, v as the names of the arrays" in page_text(at)
    assert np.array_equal(drawn(at)[1], falling(trace["weights"].array))


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


@pytest.mark.parametrize("form", ["npz", "json"])
def test_a_saved_run_is_opened_as_it_was(form: str) -> None:
    trace = run(Config(sentence="a b c", n_heads=2, mask="causal"))
    data = archive.npz(trace) if form == "npz" else archive.to_json(trace).encode()
    at = upload(opened(), f"run.{form}", data)
    for picture, step in zip(drawn(at), ("scores", "weights", "heads"), strict=True):
        shown = trace[step].array
        if step != "heads":
            shown = shown[~np.isneginf(trace["masked"].array)]
        assert np.array_equal(picture, falling(shown))


def test_what_the_page_has_no_room_for_is_said() -> None:
    at = upload(opened(), "w.npy", _npy(np.full((1, 1200), 1 / 1200)))
    assert "There are 1200 keys; up to 1024 can be shown on the page" in page_text(at)
    assert np.array_equal(drawn(at)[0], falling(parse_text.matrix(your_data.EXAMPLES["weights"][1]["weights"])))


def test_layers_are_chosen() -> None:
    layers = np.stack([A, A[::-1] ** 2])
    at = upload(opened(), "w.npy", _npy(layers))
    assert at.segmented_control(key="pick-layer").options == ["1", "2"]
    at.segmented_control(key="pick-layer").set_value(1)
    settled(at.run())
    assert np.array_equal(drawn(at)[0], falling(layers[1]))


def test_the_example_comes_back_with_one_press() -> None:
    at = upload(opened(), "w.npy", _npy(A))
    at.button(key="own_example").click()
    settled(at.run())
    assert "1 head of self-attention over 5 tokens" in page_text(at)
    assert at.text_area(key="own_paste_weights").value == your_data.EXAMPLES["weights"][1]["weights"]


def test_names_in_a_file_are_understood_in_any_case() -> None:
    for names in (("q", "k", "v"), ("Query", "KEY", "value"), ("queries", "keys", "values")):
        held = parse_text.Upload(dict(zip(names, (A[0, :, :3], A[1, :, :3], A[2]), strict=True)))
        trace = to_trace.trace("vectors", {"": held}, "", "", Config())
        assert np.array_equal(trace["values"].array[0], A[2])
    several = parse_text.Upload({"x": A[0], "Attention": A[1]})
    assert np.array_equal(to_trace.trace("weights", {"": several}, "", "", Config())["weights"].array[0], A[1])
    assert of_weights(A[1]).notes == ()
