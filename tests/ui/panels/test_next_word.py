"""The panels of a model that writes on, without a browser: next words, a text written on, whom a word is owed to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, attribute, knock_out, load, run
from attnviz.analysis.circuits import key_value_cache, maps
from attnviz.analysis.circuits.behaviours import behaviours, by_card
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.text.captions import NAMES
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import short
from attnviz.ui.panels.depth import head_roles, owed_to
from attnviz.ui.session.browser.stage_events import Event
from tests.support.events import event
from tests.support.page_figures import figures, numbers
from tests.support.small_models import FOLDER, model
from tests.ui.pages.test_explore import sent
from tests.ui.test_app import clean, drawn, opened, page_text

TEXT, OTHER = "q w q w a", "q w q w w"


@pytest.fixture(autouse=True)
def gpt2() -> Iterator[str]:
    """The small GPT-2 offered; its name in a link."""
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    yield f"gpt2~{MODELS['gpt2'].digest}"
    MODELS.clear()


def shown(panel: str, **query: str) -> AppTest:
    at = opened(model="gpt2", sentence=TEXT, panel=panel, **query)
    assert clean(at)
    return at


def test_the_next_words_of_the_page_are_the_model_s_and_one_is_written_on() -> None:
    at = shown("next_word", draw_seed="74", draw_top_k="5", next_word="the")
    frame = at.dataframe[0].value
    likely = model("gpt2").next_words(TEXT, 5)
    assert frame.shape == (5, 3)
    total = sum(share for _, share in likely)
    np.testing.assert_allclose(frame.iloc[:, 2], [share / total for _, share in likely])
    assert frame.iloc[:, 1].tolist() == [percent(share / total) for _, share in likely]
    rank, share = model("gpt2").ranks(model("gpt2")(TEXT), "the")[-1]
    assert f"“the” has rank {rank} of 288" in page_text(at)
    assert share < 0.5
    assert at.dataframe[1].value.shape == (3, 5)
    for n in (1, 2):
        at.button(key="write-on").click().run()
        assert clean(at)
        assert at.query_params["sentence"] == model("gpt2").generate(TEXT, n, seed=74, top_k=5)


def test_a_word_that_is_none_and_a_text_that_is_full_are_said() -> None:
    at = shown("next_word", next_word="river", max_tokens="4")
    assert "is no single word of this model, it is made of" in page_text(at)
    assert "This model reads 4 tokens here" in page_text(at)
    assert at.button(key="write-on").disabled


def test_only_a_model_that_writes_on_is_offered_next_words() -> None:
    ways = shown("layers").segmented_control(key="pick-way").options
    assert ways == ["This word", "Through the layers", "Next word", "Whom is it owed to?"]
    without = opened(panel="layers")
    assert without.segmented_control(key="pick-way").options == ways[:2]
    for panel in ("next_word", "owed_to"):
        assert "Only a model that writes on has next words" in page_text(opened(panel=panel))


def test_the_maps_of_the_page_are_those_of_python_and_a_press_opens_a_head() -> None:
    at = shown("owed_to", next_word="q", instead_of="w", head_off="mean", other_text=OTHER)
    trace, other = run(Config(sentence=TEXT, model="gpt2")), run(Config(sentence=OTHER, model="gpt2"))
    found = attribute(trace, "q", "w")
    patched = maps.with_each_part(trace, other, "q", "w")
    off = maps.without_each_part(trace, "q", "w", "mean")
    assert off.difference.shape == (2, 5)  # with the feed-forward block of each layer
    by_word = found.positions.sum(axis=1)
    expected = [off.difference, off.share, found.parts, by_word, patched.stream, patched.heads]
    maps_of_page = [figure for figure in figures(at) if figure["data"][0]["type"] != "scatter"]
    for figure, array in zip(maps_of_page[-6:], expected, strict=True):
        np.testing.assert_allclose(drawn(numbers(figure)), np.sort(array.ravel()), atol=1e-6)
    arcs = next(figure for figure in figures(at) if figure["data"][0]["type"] == "scatter")
    drawn_arcs = [trace["customdata"][0] for trace in arcs["data"]]
    kept = found.positions[abs(found.positions) >= 0.01 * abs(found.positions).max()]
    np.testing.assert_allclose(np.sort(drawn_arcs), np.sort(kept))
    assert f"{found.heads.sum():.2g}"[:3] in page_text(at).replace("−", "-")
    at.session_state["owed"] = event("pick", stage="off", head=0, row=1, column=2)
    at.run()
    assert clean(at)
    assert (at.query_params["layer"], at.query_params["focus"]) == ("2", "3")
    assert at.query_params["query"] == str(len(trace.query_tokens))
    at.session_state["owed"] = event("pick", stage="direct", head=0, row=1, column=4)
    at.run()
    assert clean(at)
    assert "focus" not in at.query_params
    assert (at.query_params["layer"], at.query_params["shown"]) == ("2", "ff_output")


def test_a_press_that_there_cannot_be_opens_nothing() -> None:
    assert owed_to.BLOCK == "FF"
    off = Event("pick", stage="off", row=1, column=0)
    for pick, head in (
        (off, (1, 0)),
        (replace(off, column=4), (1, None)),
        (replace(off, column=5), None),
        (replace(off, row=9), None),
        (replace(off, row=None), None),
        (replace(off, stage="positions"), None),
    ):
        assert owed_to.opened(pick, model("gpt2")(TEXT)) == head


def test_a_sentence_of_another_length_and_a_word_that_is_none_are_said() -> None:
    n = len(model("gpt2")(TEXT).query_tokens)
    assert f"The other sentence has 2 tokens and this one {n}" in page_text(shown("owed_to", other_text="q w"))
    assert "is no single word of this model, it is made of" in page_text(shown("owed_to", instead_of="river"))
    at = shown("owed_to", next_word="q", instead_of="q")
    assert "Both words are “q”, so there is no difference to explain" in page_text(at)
    assert "it is owed most" not in page_text(at)


def test_where_attention_and_knock_out_disagree_is_said_with_the_head_as_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = model("gpt2")(TEXT)
    last = np.stack([layer["weights"].array[:, -1] for layer in trace.layers])[..., 1:]
    monkeypatch.setattr(owed_to, "LITTLE", 1e9)  # whatever a head does, it is little
    monkeypatch.setattr(owed_to, "LARGE", 0.0)
    layer, head, at = np.unravel_index(int(last.argmax()), last.shape)
    said = page_text(shown("owed_to", lang="de"))
    assert f"Kopf {layer + 1}.{head + 1} gibt am Ende" in said
    assert f"„{trace.query_tokens[at + 1]}“" in said
    assert re.search(r"Ihre Logits liegen −?\d+,\d+ auseinander", said)


def test_each_cell_of_a_map_is_a_run_without_that_head() -> None:
    trace = model("gpt2")(TEXT)
    before = attribute(trace, 5, 77).logit
    for how in ("zero", "mean"):
        by_hand = [
            [attribute(knock_out(trace, [(i, h)], how), 5, 77).logit - before for h in range(4)] for i in range(2)
        ]
        np.testing.assert_allclose(maps.without_each_head(trace, 5, 77, how), by_hand, atol=1e-12)


def test_behaviours_are_the_weights_that_go_one_way() -> None:
    made = model("gpt2")
    traces = [made(text) for text in (TEXT, OTHER)]
    found = behaviours(traces, [("q", "w"), ("w", "q")])
    rows: dict[str, list[float]] = {"previous": [], "duplicate": [], "induction": []}
    for trace in traces:
        A, ids = trace.layers[1]["weights"].array[2], trace.token_ids
        for i in range(1, len(ids)):
            same = [j for j in range(i) if ids[j] == ids[i]]
            rows["previous"].append(A[i, i - 1])
            rows["duplicate"] += [sum(A[i, j] for j in same)] if same else []
            after = [j + 1 for j in same if j + 1 < i]
            rows["induction"] += [sum(A[i, j] for j in after)] if after else []
    for kind, each in rows.items():
        assert found[kind].n == len(each) > 3
        assert found[kind].weight[1, 2] == pytest.approx(np.mean(each))
        assert found[kind].share[1, 2] == pytest.approx(np.mean(np.array(each) > 0.5))
    moved = [
        sum(
            trace.layers[1]["weights"].array[2, -1, j]
            for j, n in enumerate(trace.token_ids)
            if n == made.word_number(w)
        )
        for trace, w in zip(traces, ("q", "w"))
    ]
    assert found["name_mover"].weight[1, 2] == pytest.approx(np.mean(moved))


def test_the_head_that_it_is_owed_to_is_named_with_what_it_does_by_test() -> None:
    hosting.offer_those_in_the_package()
    sentence = "When Mary and John went to the shop, John gave a book to"
    at = opened(model="small", sentence=sentence, panel="owed_to", head_off="corpus")
    assert clean(at)
    trace = run(Config(sentence=sentence, model="small"))
    off = maps.without_each_head(trace, "mary", "john", "corpus")
    logit, measured = attribute(trace, "mary", "john").logit, by_card(load("small"))
    assert measured is not None
    layer, head = np.unravel_index(int(off.argmin()), off.shape)
    name = f"{layer + 1}.{head + 1}"
    text = page_text(at).replace("−", "-")
    assert (
        f"By the difference it is owed most to head {name}: without it the difference goes from {logit:.3g}"[:-1]
        in text
    )
    kind = measured["inhibition"]
    line = f"{kind.weight[layer, head]:.2f} of weight in {100 * kind.share[layer, head]:.0f} % of 100 prompts"
    assert line in text
    table = at.dataframe[-1].value.set_index("Part")
    cell = f"looks at who gives {kind.weight[layer, head]:.2f} in {100 * kind.share[layer, head]:.0f} %"
    assert cell in table.loc[name, "By test over 200 prompts"]
    assert "copies the other name" in table.loc["3.4", "By test over 200 prompts"]
    at.session_state["owed-open"] = event("open", layer=int(layer), head=int(head))
    at.run()
    assert clean(at)
    assert (at.query_params["layer"], at.query_params["focus"]) == (str(layer + 1), str(head + 1))


def test_a_model_that_takes_long_is_tested_on_a_press(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_roles, "AT_ONCE", 0.0)
    monkeypatch.setattr(head_roles, "is_measured", lambda model: False)
    at = shown("owed_to")
    assert "prompts, none of these heads" not in page_text(at)
    at.button(key="test-heads").click().run()
    assert clean(at)
    assert "Tested on 200 prompts, none of these heads does any of these in half of the cases" in page_text(at)


def test_the_next_word_above_the_maps_leads_to_what_it_is_owed_to() -> None:
    at = shown("cell", every="true")
    data = sent(at, "next_word_link")
    [(word, _)] = model("gpt2").next_words(TEXT, 1)
    assert word.strip("Ġ") in data["ways"][0]["text"]
    assert [each["event"]["panel"] for each in data["ways"]] == ["next_word", "owed_to"]
    for said, panel in (("owed_to", "owed_to"), ("next_word", "next_word"), ("mask", "next_word"), (7, "next_word")):
        at.session_state["next-word-link"] = event("panel", panel=said)
        at.run()
        assert clean(at)
        assert at.query_params["panel"] == panel
        assert "every" not in at.query_params
    with pytest.raises(KeyError, match="next_word_link"):
        sent(opened(), "next_word_link")


def test_a_cache_keeps_keys_and_values_and_nothing_else_of_the_words_before() -> None:
    at = shown("next_word")
    assert "need not be there any more" not in page_text(at)
    at.session_state["next-cache"] = True
    at.run()
    assert clean(at)
    trace, shorter = model("gpt2")(TEXT), model("gpt2")(TEXT, max_tokens=len(model("gpt2")(TEXT).query_tokens) - 1)
    n = len(shorter.query_tokens)
    kept = sum(layer[name].array.size for layer in shorter.layers for name in ("keys", "values"))
    assert f"it reads {kept} keys and values of the {n} tokens before it" in page_text(at)
    for layer, before in zip(trace.layers, shorter.layers):
        np.testing.assert_allclose(layer["keys"].array[:, :-1], before["keys"].array, rtol=0, atol=1e-12)
    table = at.dataframe[1].value.set_index("step, in all layers")
    assert table["kept in the cache"].sum() == kept
    assert table.iloc[0].tolist() == [2 * 4 * 4, 2 * 4 * 4 * n, 0]  # layers, heads, numbers of a key
    weights = trace.layers[0]["weights"].array
    assert table.loc[NAMES["weights"]].tolist() == [2 * weights[:, -1].size, 0, 2 * weights[:, :-1].size]
    changed = key_value_cache.largest_change(trace, model("gpt2"))
    assert changed < 1e-12
    assert key_value_cache.largest_change(knock_out(trace, [(0, 0)]), model("gpt2")) > 1e-3


def test_what_is_behind_is_owed_to_nobody_and_what_is_said_instead_is_told() -> None:
    hosting.offer_those_in_the_package()
    query = {
        "model": "small",
        "sentence": "When Mary and John went to the shop, John gave a book to",
        "panel": "owed_to",
    }
    at = opened(**query, next_word="john", instead_of="mary")
    assert clean(at)
    assert "not ahead, so no head is owed a lead" in page_text(at)
    at = opened(**query, next_word="mary", instead_of="john")
    without = knock_out(load("small")(query["sentence"]), [(1, 1)])
    [(word, share)] = load("small").next_words(without, 1)
    assert f"Then the likeliest next word is “{word}” ({percent(share)})." in page_text(at)


MARY = "When Mary and John went to the shop, John gave a book to"


def test_the_share_and_what_is_said_instead_stand_beside_the_difference() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence=MARY, panel="owed_to")
    assert clean(at)
    made, trace = load("small"), load("small")(MARY)
    off, logit = maps.without_each_part(trace, "mary", "john"), attribute(trace, "mary", "john").logit
    text, table = unescape(page_text(at)).replace("−", "-"), at.dataframe[-2].value.set_index("Part")
    for i, j in np.ndindex(off.difference.shape):
        row, without = table.loc[f"{i + 1}.{j + 1}"], knock_out(trace, [(i, j)])
        [(said, share)] = made.next_words(without, 1)
        assert row["Then said"] == f"{said} {percent(share)}"
        assert row["Share of “mary” without it"] == percent(made.ranks(without, "mary")[-1][1])
    assert "By the difference it is owed most to head 2.2" in text
    at_share = np.unravel_index(int(off.share.argmin()), off.share.shape)
    assert at_share == (2, 3)
    [(said, share)] = made.next_words(knock_out(trace, [(2, 3)]), 1)
    assert said not in ("mary", "john")
    falls = f"falls from > 99 % to {percent(off.share[2, 3])}, rank {off.rank[2, 3]}, and “{said}” ({percent(share)})"
    assert f"By its share “mary” is owed most to head 3.4: without it the share {falls} is said." in text
    left = short(float(logit + off.difference[2, 3]))
    assert f"without head 3.4 it is still {left}, as “john” has {percent(off.other_share[2, 3])} then" in text
    assert "The model's card counts as the share does" in text
    at.session_state["owed-open-share"] = {"event": sent(at, "next_word_link")["ways"][0]["event"]}
    at.run()
    assert clean(at)
    assert (at.query_params["layer"], at.query_params["focus"]) == ("3", "4")


def test_where_both_measures_name_one_head_that_is_said_once() -> None:
    hosting.offer_those_in_the_package()
    text = page_text(opened(model="small", sentence="the books near the table", instead_of="is", panel="owed_to"))
    assert "By its share it is the same one: without it “are” falls from" in text
    assert "Both are right" not in text


def test_the_parts_of_a_model_with_blocks_add_up_on_the_page() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="full", sentence=MARY, panel="owed_to")
    assert clean(at)
    found = attribute(load("full")(MARY), "mary", "john")
    assert found.parts.sum() + found.embedded + found.bias == pytest.approx(found.logit, abs=1e-12)
    assert f"all of “Its own part” adds up to {short(found.logit)}" in page_text(at)
    table = at.dataframe[-2].value.set_index("Part")
    assert table.loc["feed-forward 3", "Its own part"] == found.feed_forward[2]
    assert table.loc["feed-forward 3", "Looks most at"] == ""


def test_what_is_no_word_of_a_language_is_explained_where_it_stands_among_the_next_words() -> None:
    hosting.offer_those_in_the_package()
    sentence = "When Zelda and John went to the shop, John gave a book to"
    at = opened(model="small", sentence=sentence, panel="next_word")
    assert clean(at)
    listed = at.dataframe[0].value["word"].tolist()
    spare = [word for word in listed if re.fullmatch(r"\[\d\]", word)]
    assert spare
    assert "zelda" in listed  # which stands in a spare word itself, and is explained no further
    said = ", ".join(f"“{word}”" for word in spare)
    assert f"A spare word such as {said} stands for any word that the model does not know" in page_text(at)
    assert at.dataframe[0].value["share"].tolist()[-1] == "< 1 %"
    at = opened(model="plain", sentence=MARY, panel="owed_to")
    assert any(said.startswith("<s> ") for said in at.dataframe[-2].value["Then said"])
    assert "“<s>” is the mark between two texts; where it is drawn, the text ends." in unescape(page_text(at))
    assert "spare word" not in page_text(opened(model="full", sentence="after june comes", panel="next_word"))


def test_the_field_of_the_mask_says_that_of_the_model() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence=MARY)
    assert at.multiselect(key="mask").proto.placeholder == "Causal, the model's own"
    assert opened().multiselect(key="mask").proto.placeholder == "No mask"


def test_the_three_faces_stand_above_the_maps_too() -> None:
    hosting.offer_those_in_the_package()
    at = opened()
    at.segmented_control(key="face-above-random").set_value("trained").run()
    assert clean(at)
    assert at.query_params["model"] == f"small~{load('small').digest}"
    assert at.segmented_control(key="face").value == "trained"


def test_a_part_of_the_sum_is_taken_down_to_its_products() -> None:
    hosting.offer_those_in_the_package()
    trace = load("full")(MARY)
    found = attribute(trace, "mary", "john")
    about = {"model": "full", "sentence": MARY, "panel": "owed_to", "next_word": "mary", "instead_of": "john"}
    for query, total, n in (
        ({"layer": "2", "focus": "3"}, found.heads[1, 2], trace.config.value_widths()[0]),
        ({"layer": "3", "shown": "ff_output"}, found.feed_forward[2], trace.layers[2]["w_2"].array.shape[0]),
    ):
        at = opened(**about, **query)
        assert clean(at)
        [box] = [each for each in at.expander if "comes to" in each.label]
        assert box.label.endswith(f"comes to {short(total)}: {n} products")
        table = box.dataframe[0].value
        numbers_of, worth, products = (table[name] for name in ("the number", "what 1 of it adds", "product"))
        np.testing.assert_array_equal(numbers_of * worth, products)
        assert products.sum() == pytest.approx(total, abs=1e-12)
        assert f"The products add up to {short(total)}." in page_text(at)


def test_what_is_brought_from_a_word_is_taken_down_to_weights_times_values() -> None:
    hosting.offer_those_in_the_package()
    trace = load("small")(MARY)
    by_head = attribute(trace, "mary", "john").positions
    at = opened(model="small", sentence=MARY, panel="owed_to", next_word="mary", instead_of="john")
    assert clean(at)
    layer, key = np.unravel_index(int(abs(by_head.sum(axis=1)).argmax()), by_head[:, 0].shape)
    for picked in (None, (1, 3)):
        if picked is not None:
            layer, key = picked
            at.session_state["owed-words"] = event("pick", stage="positions", head=0, row=layer, column=key)
            at.run()
            assert clean(at)
        [box] = [each for each in at.expander if "brings" in each.label]
        total = by_head[layer, :, key].sum()
        assert box.label == f"How layer {layer + 1} brings {short(total)} from “{trace.key_tokens[key]}”: 4 heads"
        assert box.proto.expanded == (picked is not None)
        table = box.dataframe[0].value
        assert table["head"].tolist() == [f"{layer + 1}.{head + 1}" for head in range(4)]
        np.testing.assert_array_equal(table["weight"], trace.layers[layer]["weights"].array[:, -1, key])
        np.testing.assert_allclose(table["weight"] * table["what 1 of it adds"], by_head[layer, :, key], atol=1e-12)


def test_the_path_of_the_answer_is_named_word_by_word() -> None:
    hosting.offer_those_in_the_package()
    other = MARY.replace("John gave", "Mary gave")
    patched = maps.with_each_part(load("small")(MARY), load("small")(other), "mary", "john")
    at = opened(model="small", sentence=MARY, panel="owed_to", next_word="mary", instead_of="john", other_text=other)
    assert clean(at)
    words, said = load("small")(MARY).query_tokens, page_text(at)
    assert "The path of the answer: after layer 1 " in said
    for n, (row, (key, share)) in enumerate(zip(patched.stream, patched.path), 1):
        assert share == pytest.approx(max(row / patched.whole))
        assert f"after layer {n} “{words[key]}” moves {percent(share)} of it" in said or (
            share <= 0.5 and f"after layer {n} no one word moves half of it" in said
        )
    assert patched.path[-1] == (len(words) - 1, pytest.approx(1))
    assert maps.Patched(patched.stream, patched.heads, 0.0).path == []
