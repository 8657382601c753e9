"""The page with a trained model, without a browser: a small random one stands for those that a host offers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, gradients, load, run
from attnviz.analysis import special_tokens, vectors_by_layer
from attnviz.analysis.twins import twin
from attnviz.engine.cost.need import Need
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.exports.formats import FORMATS, export
from attnviz.exports.script import model_parameters
from attnviz.models import hosting
from attnviz.pictures import step_path
from attnviz.settings import url_codec
from attnviz.text.captions import NAMES
from attnviz.text.cell_sentence import percent
from attnviz.text.headline import headline
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers import head_mosaic
from attnviz.ui.session.selection import EXPERIMENT_NAMES, PANEL_NAMES
from tests.support.cases import for_each
from tests.support.events import event
from tests.support.page_figures import figures, numbers
from tests.support.small_models import FOLDER
from tests.ui.pages.test_explore import sent
from tests.ui.test_app import clean, drawn, opened, page_text

WORDS = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def bert() -> Iterator[str]:
    """The small BERT offered; its name in a link."""
    hosting.offer([f"bert={FOLDER / 'bert'}"])
    yield f"bert~{MODELS['bert'].digest}"
    MODELS.clear()


def test_the_page_says_of_how_many_experts_a_block_is_made() -> None:
    hosting.offer([f"mixtral={FOLDER / 'mixtral'}"])
    at = opened(model=f"mixtral~{MODELS['mixtral'].digest}", sentence="the king")
    assert clean(at)
    assert "feed-forward blocks of width 32." in page_text(at)
    assert "Each block is made of 4 experts, of which a token takes 2." in page_text(at)


def test_the_export_page_says_where_the_code_of_a_large_model_has_its_matrices_from(
    bert: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"FOLDER in it names that, and the hash {MODELS['bert'].digest} is checked."
    assert not any(said in each.value for each in opened(page="take", model=bert, sentence="the king").caption)
    monkeypatch.setattr(model_parameters, "MOST", 100)
    at = opened(page="take", model=bert, sentence="the king")
    assert clean(at)
    assert any(said in each.value for each in at.caption)
    script = str(export("py", run(Config(sentence="the king", model=bert))))
    assert "# bert: its name where this was made, which does not hand out its files\n" in script
    assert "# put your copy's folder here\nFOLDER = 'bert'" in script
    hosting.offer([f"small={FOLDER / 'gpt2'}"])
    assert "its name where" in str(export("py", run(Config(sentence="the king", model="small"))))


def test_the_page_says_that_heads_have_sinks() -> None:
    hosting.offer([f"gpt_oss={FOLDER / 'gpt_oss'}"])
    at = opened(model=f"gpt_oss~{MODELS['gpt_oss'].digest}", sentence="the king", head="1", query="2", key="1")
    assert clean(at)
    assert "Each head has a sink: its softmax has one more score" in page_text(at)


def test_explore_draws_the_models_numbers_and_offers_what_is_free(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, layer="2", head="1", query="2", key="3")
    assert clean(at)
    weights = drawn(numbers(figures(at)[1]))
    np.testing.assert_allclose(weights, np.sort(run(Config(sentence=WORDS, model=bert))["weights"].array.ravel()))
    assert at.selectbox(key="model").value == bert
    assert {"sentence", "mask"} <= {each.key for kind in (at.text_input, at.multiselect) for each in kind}
    assert not {"d_model", "n_heads", "seed"} & {each.key for kind in (at.slider, at.select_slider) for each in kind}
    assert "The model decides the rest: 2 layers" in page_text(at)
    assert at.query_params["model"] == bert
    at.multiselect(key="mask").set_value(["causal"]).run()
    assert clean(at)
    assert at.query_params["mask"] == "causal"
    assert "n_layers" not in at.query_params


def test_a_model_is_chosen_and_left(bert: str) -> None:
    at = opened(sentence=WORDS, d_model="24")
    at.selectbox(key="model").set_value(bert).run()
    assert clean(at)
    assert at.query_params["model"] == bert
    at.selectbox(key="model").set_value("").run()
    assert clean(at)
    left = {name: text for name, text in at.query_params.items() if name != "c"}
    assert left == {"v": "2", "sentence": WORDS, "d_model": "24"}


def test_a_model_starts_from_its_own_mask_and_another_is_said_not_to_be_its_own(bert: str) -> None:
    at = opened(sentence=WORDS, mask="no_self.causal")
    at.selectbox(key="model").set_value(bert).run()
    assert clean(at)
    assert "mask" not in at.query_params
    assert at.multiselect(key="mask").value == []
    weights = drawn(numbers(figures(at)[1]))
    np.testing.assert_allclose(
        weights, np.sort(run(Config(sentence=WORDS, model=bert)).layers[0]["weights"].array.ravel())
    )
    assert headline(run(Config(sentence=WORDS, model=bert)))[1].endswith("the matrices in its own file.")
    at.multiselect(key="mask").set_value(["no_self"]).run()
    assert clean(at)
    assert at.query_params["mask"] == "no_self", "chosen for the model, it stays"
    said = headline(run(Config(sentence=WORDS, model=bert, mask="no_self", temperature=2.0)))[1]
    assert said.endswith("Chosen here, and not the model's own: Mask, Temperature.")


def test_a_link_to_a_model_that_is_not_here_is_said_and_kept() -> None:
    at = opened(model="tiny~0123abcd", sentence=WORDS)
    assert clean(at)
    assert "not offered here" in page_text(at)
    assert at.query_params["model"] == "tiny~0123abcd"
    assert at.slider(key="n_heads").value == 4


@for_each("name", ["../../etc/passwd", "%2e%2e%2fetc", "a\x00b", "x" * 5_000])
def test_a_hostile_name_opens_the_page_with_a_sentence(name: str) -> None:
    at = opened(model=name)
    assert clean(at)
    assert "Model was" in page_text(at)


def test_all_heads_of_all_layers_are_one_mosaic_and_a_press_opens_one(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, every="yes")
    assert clean(at)
    assert figures(at) == []
    trace = run(Config(sentence=WORDS, model=bert))
    heads = trace.config.n_heads
    told = json.loads(head_mosaic.packed(trace, None))
    assert [tile["name"] for tile in told["tiles"]] == [f"{i + 1}.{h + 1}" for i in range(2) for h in range(heads)]
    assert sorted(told["sorted"]) == [*range(2 * heads)]
    at.session_state["mosaic"] = event("open", layer=1, head=1)
    at.run()
    assert clean(at)
    assert {name: at.query_params[name] for name in ("layer", "focus")} == {"layer": "2", "focus": "2"}
    assert "every" not in at.query_params
    assert len(figures(at)) == 3


def test_special_tokens_are_left_out_of_the_pictures_and_of_no_number(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, specials="yes")
    assert clean(at)
    trace = run(Config(sentence=WORDS, model=bert))
    A, tokens = trace.layers[0]["weights"].array, trace.query_tokens
    np.testing.assert_allclose(drawn(numbers(figures(at)[1])), np.sort(A[:, 1:-1, 1:-1].ravel()))
    share = 1 - A[:, 1:-1, 1:-1].sum() / A[:, 1:-1].sum()
    assert special_tokens.share(A, tokens, tokens) == pytest.approx(share)
    assert f"Words give [CLS], [SEP] {100 * share:.0f}" in page_text(at).replace("\u202f", " ")


def test_a_cell_that_is_picked_without_special_tokens_is_the_one_it_was(bert: str) -> None:
    from attnviz.ui.panels.window import Seen
    from attnviz.ui.session.selection import Selection

    shown, whole = Seen((1, 2, 3), (1, 2, 3)), Selection(head=0, query=2, key=1)
    inside = shown.inside(whole)
    assert (inside.query, inside.key) == (1, 0)
    assert shown.outside(Selection(), inside) == whole
    assert shown.inside(Selection(query=0, key=1)).query is None


PLACES = [
    *({"panel": name} for name in PANEL_NAMES),
    *({"page": "experiments", "experiment": name} for name in EXPERIMENT_NAMES),
    *({"page": name} for name in ("learn", "compare", "assign", "take", "class")),
    {"page": "compare", "b_mask": "causal"},
    {"page": "compare", "b_model": ""},
    {"page": "class", "step": "w_1"},
    {"shown": "ff_hidden"},
    {"head": "1", "query": "2", "key": "3", "dimension": "2", "layer": "2"},
    {"panel": "what_if", "edits": "weights.1.1.2.3~0.5"},
]
REFUSED = ("axis", "scale", "sharing", "shuffle", "importance", "redeal", "learn")


@pytest.mark.slow
@for_each("query", PLACES)
def test_every_place_works_with_a_model_or_says_why_not(bert: str, query: dict[str, str]) -> None:
    at = opened(model=bert, sentence=WORDS, **query)
    assert clean(at)
    assert ("a trained model has its own" in page_text(at)) == any(
        query.get(name) in REFUSED for name in ("panel", "experiment", "page")
    )


@pytest.mark.slow
def test_the_layers_of_a_model_are_offered_as_programs_and_as_a_workbook(bert: str) -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence="anna gave", page="take")
    assert clean(at)
    [shown] = [each.value for each in at.code if "W_Q = weights[2]" in each.value]
    assert "stored(np.float16, (4, 64, 16),\n    ...\n)" in shown
    assert any("bytes of the model's matrices are left out here" in each.value for each in at.caption)
    at = opened(model=bert, sentence="a", page="take")
    script = str(export("py", run(Config(sentence="a", model=bert))))
    assert script.strip() in [each.value for each in at.code], "a short one is shown whole"
    pytest.importorskip("xlsxwriter")
    at.button(key="make-xlsx").click().run()
    assert clean(at)
    assert "Save .xlsx" in [each.proto.label for each in at.get("download_button")]


def test_a_model_with_more_numbers_than_a_workbook_holds_is_refused_one(
    bert: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMATS, "xlsx", replace(FORMATS["xlsx"], need=Need(most_weights=100, any_length=True)))
    at = opened(model=bert, sentence="a", page="take")
    at.button(key="make-xlsx").click().run()
    assert clean(at)
    assert "and such a file holds up to 100." in page_text(at)


def test_a_model_without_a_seed_is_offered_no_average_over_seeds(bert: str) -> None:
    with_seeds, without = opened(panel="statistics"), opened(model=bert, sentence=WORDS, panel="statistics")
    assert clean(with_seeds)
    assert clean(without)
    assert with_seeds.segmented_control(key="pick-way").options == [
        "This seed",
        "Many sentences",
        "Twin",
        "Other seeds",
    ]
    assert without.segmented_control(key="pick-way").options == ["Statistics", "Many sentences", "Twin"]


def test_a_model_has_temperatures_to_go_through_and_no_seeds(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, layer="2")
    assert [each.key for each in at.button if (each.key or "").startswith("sweep_")] == ["sweep_temperature"]
    at.button(key="sweep_temperature").click().run()
    assert clean(at)
    shown = run(Config(sentence=WORDS, model=bert, temperature=0.1))["weights"].array
    np.testing.assert_allclose(drawn(numbers(figures(at)[1])), np.sort(shown.ravel()), atol=1e-7)


def test_first_comparisons_with_a_model_are_those_that_it_knows(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, page="compare")
    assert {each.key for each in at.button if each.key and each.key.startswith("start-")} == {
        "start-causal",
        "start-temperature",
        "start-meanings",
    }
    at.button(key="start-causal").click().run()
    assert clean(at)
    assert at.query_params["b_mask"] == "causal"


def test_any_number_is_taken_down_to_its_products_and_its_row_in_the_file(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, panel="products", step="keys", head="2", key="3", column="4", layer="2")
    assert clean(at)
    trace = run(Config(sentence=WORDS, model=bert))
    steps, word = trace.layers[1], trace.key_tokens[2]
    width = steps["keys"].shape[-1]
    text = page_text(at)
    assert f"Key vectors, layer 2, head 2, “{word}”, column 4 of {width}" in text
    assert f"encoder.layer.1.attention.self.key.weight[{width + 3}] in model.safetensors" in text
    table = at.dataframe[0].value
    bias = float(steps["b_k"].array[1, 3])
    assert table.iloc[:, 3].sum() + bias == pytest.approx(float(steps["keys"].array[1, 2, 3]), rel=1e-12)
    assert len(table) == steps["w_k"].shape[1]


def test_a_column_that_there_is_not_shows_the_last(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, panel="products", step="output", column="60000")
    assert clean(at)
    width = run(Config(sentence=WORDS, model=bert))["w_o"].shape[-1]
    assert f"column {width} of {width}" in page_text(at)


def test_one_word_is_followed_through_the_layers(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, panel="layers", query="3", key="7")
    assert clean(at)
    trace = run(Config(sentence=WORDS, model=bert))
    X = trace["embedded"].array
    first = float(X[2] @ X[6] / np.linalg.norm(X[2]) / np.linalg.norm(X[6]))
    table = at.dataframe[0].value
    assert table.iloc[:, 1].tolist()[0] == pytest.approx(first)
    assert len(table) == 3
    assert "does not write on" in page_text(at)


def test_a_decoder_shows_its_next_words_after_every_layer() -> None:
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    at = opened(model="gpt2", sentence=WORDS, panel="layers", query="2")
    assert clean(at)
    assert "come next after" in page_text(at)
    assert at.dataframe[1].value.shape == (3, 6)


def test_next_words_are_asked_at_the_end_of_the_sentence() -> None:
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    at = opened(model="gpt2", sentence=WORDS, panel="layers")
    trace = run(Config(sentence=WORDS, model="gpt2"))
    assert f"come next after “{trace.query_tokens[-1]}”" in page_text(at)
    [(word, share), *_] = MODELS["gpt2"].logit_lens(trace)[-1]
    assert at.dataframe[1].value.iloc[-1, 1] == f"{visible_token(word)}  {100 * share:.1f} %"


def test_the_letter_that_stands_for_a_space_is_said(bert: str) -> None:
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    assert "A Ġ in its tokens is a space." in page_text(opened(model="gpt2", sentence=WORDS))
    assert "A Ġ in its tokens" not in page_text(opened(model=bert, sentence=WORDS))


def test_a_normalisers_own_numbers_apply_to_a_model(bert: str) -> None:
    config = Config(sentence=WORDS, model=bert, normaliser="entmax", normaliser_knobs={"entmax.alpha": 1.1})
    at, weights = opened(**url_codec.encode(config)), run(config).layers[0]["weights"].array
    assert clean(at)
    np.testing.assert_allclose(drawn(numbers(figures(at)[1])), np.sort(weights.ravel()), atol=1e-7)


def test_a_head_that_is_set_by_hand_stands_beside_its_twin_and_opens_it(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, panel="twin")
    assert clean(at)
    found = twin(run(Config(sentence=WORDS, model=bert)), "previous")
    assert f"head {found.head + 1} of layer {found.layer + 1} comes nearest" in page_text(at)
    at.button(key="open-twin").click().run()
    assert clean(at)
    assert at.query_params["focus"] == str(found.head + 1)


def test_two_sentences_are_compared_by_one_word_of_each(bert: str) -> None:
    at = opened(model=bert, sentence="the king saw a dog", page="compare", b_sentence="a dog and the king")
    assert clean(at)
    a, b = (run(Config(sentence=text, model=bert)) for text in ("the king saw a dog", "a dog and the king"))
    one, other = vectors_by_layer.shared_word(a.query_tokens, b.query_tokens)
    word = a.query_tokens[one]
    assert word == b.query_tokens[other]
    table = at.dataframe[-1].value
    x, y = a["embedded"].array[one], b["embedded"].array[other]
    assert table.iloc[0, 1] == pytest.approx(float(x @ y / np.linalg.norm(x) / np.linalg.norm(y)))
    assert f"“{word}” and “{word}”" in page_text(at)


def test_backward_shows_the_slopes_of_a_model(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, panel="backward", layer="1", head="2", query="3", key="2")
    assert clean(at)
    trace = run(Config(sentence=WORDS, model=bert))
    G = np.zeros(trace["output"].shape)
    G[2] = 1.0
    slopes = gradients(trace, {(None, "output"): G}).layers[0]
    sizes = next(table.value for table in at.dataframe if "Largest slope" in table.value)
    largest = dict(zip(sizes["Step"], sizes["Largest slope"]))
    assert largest[NAMES["scores"]] == pytest.approx(abs(slopes["scores"].array).max())
    assert largest[NAMES["g_1"]] == pytest.approx(abs(slopes["g_1"].array).max())
    assert "back to its score" in page_text(at)


def test_no_matrix_of_a_model_is_said_to_be_made_by_hand(bert: str) -> None:
    query = {"sentence": WORDS, "initialiser": "by_hand", "panel": "what_if", "edits": "weights.1.1.2.3~0.5"}
    assert "made by hand stay" in page_text(opened(**query))
    at = opened(model=bert, **query)
    assert clean(at)
    assert "made by hand stay" not in page_text(at)


def test_a_decoder_says_that_its_own_mask_applies(bert: str) -> None:
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    assert "its own causal mask applies" in page_text(opened(model="gpt2", sentence=WORDS))
    assert "causal mask applies" not in page_text(opened(model=bert, sentence=WORDS))


TWO_NAMES = "When Mary and John went to the shop, John gave a book to"


def test_one_press_leads_to_the_model_without_the_penalty_and_back() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence=TWO_NAMES, layer="3", focus="4")
    for name, label in (("plain", "The same, trained without"), ("small", "The same, trained with")):
        assert at.button(key="other-training").label.startswith(label)
        at.button(key="other-training").click().run()
        assert clean(at)
        assert at.query_params["model"] == f"{name}~{MODELS[name].digest}"
        kept = {"sentence": TWO_NAMES, "layer": "3", "focus": "4"}
        assert {field: at.query_params[field] for field in kept} == kept
    at = opened(model="full", sentence=TWO_NAMES)
    assert "other-training" not in [button.key for button in at.button]


def test_heads_of_a_model_of_the_package_are_named_by_test() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence=TWO_NAMES, layer="3")
    weights = figures(at)[1]["stage"]
    assert weights.roles[3] == "name mover 0.63"
    assert weights.tested[3].startswith("By test on other sentences: induction: what came after it before: 0.96")
    assert weights.roles[0] == "here: first token"
    assert weights.tested[0] == ""
    at = opened(model="small", sentence=TWO_NAMES, every="yes")
    data = sent(at, "head_mosaic")
    assert [data["tiles"][n]["role"] for n in data["by_test"]][:4] == [
        "duplicate token 0.98", "induction 0.94", "name mover 0.63", "inhibition 1.00",
    ]  # fmt: skip
    assert sorted(data["by_test"]) == list(range(12))


def test_heads_of_a_hosts_model_are_tested_when_that_is_asked_for(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, every="yes")
    assert sent(at, "head_mosaic")["by_test"] is None
    at.button(key="test-heads").click().run()
    assert clean(at)
    assert sorted(sent(at, "head_mosaic")["by_test"]) == list(range(8))


def test_the_path_of_the_last_layer_ends_in_the_logits_which_lead_to_the_next_word() -> None:
    hosting.offer_those_in_the_package()
    trace = run(Config(model="small", sentence=TWO_NAMES))
    *before, last = step_path.way(trace, 2, 0)
    assert (last.name, last.shape) == ("logits", "374")
    assert {"logits"}.isdisjoint(node.name for way in (before, step_path.way(trace, 1, 0)) for node in way)
    logits, wide = load("small").scores(trace)[-1], -(-374 // last.picture.shape[1])
    at_most = int(logits.argmax()) // wide
    assert last.picture[0, at_most] == last.picture.max(), "the likeliest word is the darkest"
    at = opened(model="small", sentence=TWO_NAMES, layer="3")
    at.session_state["way"] = event("show", stage="logits")
    at.run()
    assert clean(at)
    assert at.query_params["panel"] == "next_word"
    assert "shown" not in at.query_params


def test_all_heads_are_sorted_by_what_a_pair_of_words_has_here_and_in_another_wording(bert: str) -> None:
    hosting.offer_those_in_the_package()
    other = "When Mary and John went to the shop, Mary gave a book to"
    at = opened(model="small", sentence=TWO_NAMES, every="yes")
    assert sent(at, "head_mosaic")["by_pair"] is None
    assert "wording" not in [field.key for field in at.text_input]
    at.session_state["mosaic"] = event("pair", row=14, column=2)
    at.run()
    assert clean(at)
    assert (at.query_params["query"], at.query_params["key"]) == ("15", "3")
    here, there = (
        np.concatenate([layer["weights"].array for layer in load("small")(text).layers])[:, 14, 2]
        for text in (TWO_NAMES, other)
    )
    data = sent(at, "head_mosaic")
    assert data["pair"] == [14, 2]
    assert data["by_pair"] == np.argsort(-here, kind="stable").tolist()
    assert data["tiles"][11]["amount"] == percent(here[11])
    at.text_input(key="wording").set_value(other).run()
    assert clean(at)
    assert sent(at, "head_mosaic")["tiles"][11]["amount"] == f"{percent(here[11])} · {percent(there[11])}"
    assert at.query_params["wording"] == other
    at.session_state["mosaic"] = event("pair", row=2, column=14)
    at.run()
    assert {tile["amount"] for tile in sent(at, "head_mosaic")["tiles"]} == {"masked · masked"}
    at.text_input(key="wording").set_value(" ".join("qwrtypsdfghjk")).run()  # more words than it has spare ones
    assert clean(at)
    assert sent(at, "head_mosaic")["pair"] == [2, 14], "the maps stand, whatever is wrong with the other wording"
    at.text_input(key="wording").set_value("When they met, Mary gave a book to").run()
    assert "no token in the place of" in page_text(at)
    at.session_state["mosaic"] = event("pair", row=None, column=None)
    at.run()
    assert clean(at)
    assert {"query", "key"}.isdisjoint(at.query_params)


def test_a_pair_is_that_of_the_tokens_shown_and_a_browser_can_say_anything(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, every="yes", specials="yes")
    for row, column in ((0, 99), ("a", 1), (True, 1), (0.5, 1), (-1, 1)):
        at.session_state["mosaic"] = event("pair", row=row, column=column)
        at.run()
        assert clean(at)
        assert "query" not in at.query_params
    at.session_state["mosaic"] = event("pair", row=0, column=5)
    at.run()
    assert (at.query_params["query"], at.query_params["key"]) == ("2", "7")  # [CLS] is not shown
    assert sent(at, "head_mosaic")["pair"] == [0, 5]
    at.session_state["mosaic"] = event("open", layer=1, head=1)
    at.run()
    assert clean(at)
    kept = {"layer": "2", "focus": "2", "head": "2", "query": "2", "key": "7"}
    assert {name: at.query_params[name] for name in kept} == kept


def test_a_head_set_by_hand_stands_beside_one_of_the_models_in_the_package() -> None:
    hosting.offer_those_in_the_package()
    at = opened(model="small", sentence=TWO_NAMES, panel="twin")
    assert clean(at)
    assert any(button.key == "open-twin" for button in at.button)
