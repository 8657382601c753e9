"""Every head over many sentences, on the page: the numbers of `study`, and a sentence for what cannot be measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, Trace, run, study
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError
from attnviz.ui.panels.depth import many_sentences
from tests.support.page_figures import figures, numbers
from tests.ui.test_app import opened, page_text

TEXTS = ("the cat sat on the mat", "a dog ran", "one two three one two three")


def linked(config: Config, *texts: str, **query: str) -> dict[str, str]:
    return url_codec.encode(config) | {"panel": "many", "texts": "\n".join(texts)} | query


def test_the_map_and_the_table_are_those_of_study() -> None:
    for config in (Config(n_heads=3, n_layers=2, seed=4), Config(model="small", sentence="a dog")):
        found = study(lambda text, config=config: run(replace(config, sentence=text)), TEXTS)  # type: ignore[misc]
        for measure in ("effective_keys", "induction", "copying"):
            at = opened(**linked(config, *TEXTS, measure=measure))
            assert not at.exception
            drawn = numbers(figures(at)[-1])
            np.testing.assert_allclose(np.nan_to_num(drawn), np.nan_to_num(found[measure].array), atol=1e-6)
        assert f"Over 3 sentences of {found.n_rows} tokens together." in page_text(at)
        table = at.dataframe[-1].value
        assert table["head"].iloc[-1] == "{}.{}".format(*found.kinds.shape)
        np.testing.assert_array_equal(table["Entropy (nats)"], found["entropy"].array.ravel())


def test_sentences_are_offered_and_what_cannot_be_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(panel="many")
    assert "Over" not in page_text(at)
    at.button(key="many-take").click().run()
    assert f"Over {many_sentences.TAKEN} sentences" in page_text(at)
    at = opened(panel="many", texts="\n".join(["a b"] * 65))
    assert "65 sentences are more than the 64" in page_text(at)
    cut = opened(panel="many", texts="the cat\n" + "the cat " * 40)
    assert "Sentence 2: The sentence has 80 tokens; the first 64 are used." in page_text(cut)
    one, other = Config(), ("a b c d e f", "one two one two")
    kinds = study(lambda text: run(replace(one, sentence=text)), other)
    told = opened(**linked(one, *other)).dataframe[-1].value
    varies = kinds["kind_share"].array.ravel() <= 0.5
    assert varies.any()
    assert (told["does most often"] == "varies from sentence to sentence").tolist() == varies.tolist()
    edited = opened(**linked(Config(edits=((0, "weights", (1, 5, 0), 0.5),)), *TEXTS))
    assert "Numbers that were changed by hand" in page_text(edited)
    assert "Over 3 sentences" in page_text(edited)

    def refusing(config: Config) -> Trace:
        if config.sentence == "what is this":
            raise ConfigError("no run of it")
        return run(config)

    monkeypatch.setattr(many_sentences, "run", refusing)
    at = opened(**linked(Config(), "a b c", "what is this"))
    assert "Sentence 2: no run of it" in page_text(at)
    monkeypatch.undo()
    at = opened(panel="many", measure="induction", texts="a dog ran", max_tokens="64")
    assert "Grey: not defined" in page_text(at)
    wide = "w" * 200  # one token, but many characters; the others have 40
    longest = many_sentences._longest(Config(), (wide, " ".join("a" * 40), "b c"))
    assert longest.sentence == " ".join("a" * 40)
    large = Config(d_model=512, n_heads=16, n_layers=6, d_k=64)
    at = opened(**linked(large, *["one two three four five six seven eight"] * 64))
    assert "seconds" in page_text(at)
    assert not at.exception
