"""The line above the pictures says what is shown, and never that random numbers mean something."""

from __future__ import annotations

from attnviz import INITIALISERS, Config, run
from attnviz.text.headline import headline
from tests.support.cases import for_each


@for_each(
    "settings, words",
    [
        ({"sentence": "a", "n_heads": 1}, "1 head of self-attention over 1 token."),
        ({"sentence": "a b", "n_layers": 3}, "4 heads of self-attention over 2 tokens, 3 layers deep."),
        (
            {"sentence": "a b", "second_sentence": "c d e", "n_heads": 2},
            "2 heads of cross-attention: 2 tokens attend to 3 tokens.",
        ),
    ],
)
def test_what_is_shown(settings: dict[str, object], words: str) -> None:
    assert headline(run(Config(**settings)))[0] == words  # type: ignore[arg-type]


@for_each("name", [name for name, row in INITIALISERS.items() if row.origin == "random"])
def test_random_numbers_are_called_random(name: str) -> None:
    assert "random" in headline(run(Config(initialiser=name)))[1].lower()


def test_the_identity_is_not_called_random() -> None:
    words = headline(run(Config(initialiser="identity", embedding="one_hot", position="none")))[1]
    assert "by hand" in words
    assert "random" not in words.lower()
