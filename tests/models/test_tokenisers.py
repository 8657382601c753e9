"""Tokenisers: worked by hand, and against Hugging Face's own where that is installed."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnviz import ConfigError, load
from attnviz.models.tokenisers import tokeniser
from attnviz.models.tokenisers.byte_pairs import GPT_2, LETTERS, LLAMA_3, QWEN, BytePairs, cut
from attnviz.models.tokenisers.unigram import Unigram
from attnviz.models.tokenisers.wordpiece import WordPiece
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

TEXTS = (
    "", " ", "\n", "a", " a", "a ", "  a  b ", "It's 2 o'clock; they'll've GONE", "I'M sure 'tis 12345 x 6.78\n\n\tok",
    "Crème brûlée à la carte", "naïve İstanbul ǅ ß ﬁ", "中文 text 日本 かな", "😀👍🏽 \u200b\u00ad\x00\x07 end",
    "a\u0301e\u0308 é",
    "tab\tand\r\nlines\u2028and\u3000spaces\u00a0here", "½ ² Ⅷ ٣ 一二三", "__under_score__ $5.00 #tag @me a=b",
    "'s 's'S it'S",
    "[CLS] a [MASK] [SEP]", "<s>a</s> <|endoftext|>x<|begin_of_text|>", "supercalifragilistic" * 8, "x" * 101,
    "the king and the queen saw a dog",
)  # fmt: skip


def texts() -> list[str]:
    """Those above, and many that are put together at random from what is odd about letters."""
    dice = random.Random(0)  # noqa: S311
    parts = [
        "a",
        "B",
        "'s",
        "'LL",
        " ",
        "  ",
        "\n",
        "\t",
        "1",
        "22",
        "²",
        "é",
        "e\u0301",
        "中",
        "!",
        "?!",
        "_",
        "😀",
        "ß",
        "\u00a0",
    ]
    return [*TEXTS, *("".join(dice.choices(parts, k=dice.randint(1, 14))) for _ in range(400))]


@for_each("name", NAMES)
def test_texts_are_cut_as_the_library_cuts_them(name: str, tokenizers: Any) -> None:
    theirs, ours = tokenizers.Tokenizer.from_file(str(FOLDER / name / "tokenizer.json")), tokeniser.read(FOLDER / name)
    assert isinstance(ours, tokeniser.Tokeniser)  # not the library's own
    for text in texts():
        found = theirs.encode(text)
        names = [ours.shown(token) if token in ours.vocabulary else ours.unknown for token in found.tokens]
        assert ours(text) == (found.ids, names), text


def test_bytes_are_read_as_the_characters_that_they_are(tmp_path: Path) -> None:
    """A vocabulary of single bytes, and of one character that was learned whole."""
    whole = "".join(LETTERS[byte] for byte in "к".encode())
    pieces = [*LETTERS, whole]
    (tmp_path / "vocab.json").write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}))
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{whole[0]} {whole[1]}\n", encoding="utf-8")
    read = tokeniser.read(tmp_path)
    assert read(" кé\n") == ([LETTERS.index("Ġ"), 256, 0xC3, 0xA9, 10], ["Ġ", "к", "<0xC3>", "<0xA9>", "Ċ"])


@pytest.mark.parametrize("pattern", [GPT_2, LLAMA_3, QWEN], ids=["gpt2", "llama3", "qwen"])
def test_nothing_is_lost_where_words_are_cut(pattern: str) -> None:
    for text in texts():
        assert "".join(cut(text, pattern)) == text


def test_words_by_hand() -> None:
    assert list(cut("it's 1234  cats!\n", GPT_2)) == ["it", "'s", " 1234", " ", " cats", "!", "\n"]
    assert list(cut("it'S 1234  cats!\n", LLAMA_3)) == ["it", "'S", " ", "123", "4", " ", " cats", "!\n"]
    assert list(cut("a 12", QWEN)) == ["a", " ", "1", "2"]


def test_pairs_are_joined_in_the_order_in_which_they_were_learned() -> None:
    ranks = {("b", "c"): 0, ("a", "b"): 1, ("a", "bc"): 2}
    assert list(BytePairs({}, ranks).pieces("abc")) == ["abc"]
    assert list(BytePairs({}, ranks).pieces("abab")) == ["ab", "ab"]
    assert list(BytePairs({}, {("a", "a"): 0}).pieces("aaaaa")) == ["aa", "aa", "a"]
    assert list(BytePairs({}, {}).pieces("é ")) == ["Ã", "©", "Ġ"]
    assert list(BytePairs({"abc": 0}, {}, whole_words_first=True).pieces("abc")) == ["abc"]
    assert list(BytePairs({}, {}, begins_with_space=True).pieces("a")) == ["Ġ", "a"]


class Counted(dict[tuple[str, str], int]):
    """Ranks that count how often they are asked."""

    asked = 0

    def get(self, *key: Any) -> Any:
        self.asked += 1
        return super().get(*key)

    def __contains__(self, key: object) -> bool:
        self.asked += 1
        return super().__contains__(key)


def test_a_long_word_takes_no_longer_than_many_short_ones() -> None:
    """However many pairs in it were learned one after another, and with what the joining one by one comes to."""
    chance = random.Random(1)  # noqa: S311 - no secret
    pieces, ranks = [*"abcdefgh"], Counted()
    while len(ranks) < 400:
        pair = chance.choice(pieces[:100]), chance.choice(pieces[:100])
        if pair not in ranks:
            ranks[pair] = len(ranks)
            pieces.append("".join(pair))
    word = "".join(chance.choices("abcdefgh", k=2_000))
    ranks.asked = 0
    joined = BytePairs({}, ranks)._joined(word)
    assert ranks.asked < 4 * len(word)
    parts = [*word]
    for left, right in sorted(ranks, key=lambda pair: ranks[pair]):
        kept: list[str] = []
        for part in parts:
            if kept and (kept[-1], part) == (left, right):
                kept[-1] += part
            else:
                kept.append(part)
        parts = kept
    assert joined == parts


def test_pieces_of_words_by_hand() -> None:
    made = WordPiece({"un": 0, "##able": 1, "able": 2, "##a": 3, "e": 4, "!": 5})
    assert list(made.pieces("Unable able! ÉE")) == ["un", "##able", "able", "!", "[UNK]"]
    assert list(made.pieces("é")) == ["e"]
    assert list(made.pieces("un" + "x" * 200)) == ["[UNK]"]


def test_the_older_files_say_the_same(tmp_path: Path) -> None:
    for name, folder in (("bert", tmp_path / "bert"), ("gpt2", tmp_path / "gpt2"), ("roberta", tmp_path / "roberta")):
        folder.mkdir()
        tokenizer = json.loads((FOLDER / name / "tokenizer.json").read_text(encoding="utf-8"))
        vocabulary = tokenizer["model"]["vocab"]
        if name == "bert":
            lines = "\n".join(sorted(vocabulary, key=vocabulary.__getitem__))
            (folder / "vocab.txt").write_text(lines + "\n", encoding="utf-8")
        else:
            (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
            merges = "\n".join(" ".join(pair) for pair in tokenizer["model"]["merges"])
            (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", encoding="utf-8")
        older, newer = tokeniser.read(folder), tokeniser.read(FOLDER / name)
        for text in ("the king's 2 dogs, and a cat", "Crème", "a [MASK] b</s> c<|endoftext|> d <s> e"):
            before = " " if name == "roberta" else ""  # only the newer file says that a space is to stand first
            assert older(before + text) == newer(text)
        ids = older(" ".join(older.special))[0]
        assert {older.vocabulary[piece] for piece in older.special} <= {*ids}, "a special token stays one token"
        assert older.special


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": None}, "is broken, or is something else"),
        ({"model": {"type": "BPE", "vocab": [], "merges": []}}, "is broken, or is something else"),
        ({"added_tokens": [{}]}, "is broken, or is something else"),
        ({"added_tokens": 3}, "is broken, or is something else"),
        ({"post_processor": {"type": "TemplateProcessing", "single": []}}, "is broken, or is something else"),
    ],
    ids=str,
)
def test_a_broken_file_is_said_in_a_sentence(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    whole = json.loads((FOLDER / "gpt2" / "tokenizer.json").read_text(encoding="utf-8"))
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole | changes), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        tokeniser.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("bert", lambda spec: spec["model"]["vocab"].update(the=-1), "gives 'the' the number -1"),
        (
            "gpt2",
            lambda spec: spec["model"]["vocab"].update(the=2**70),
            "gives 'the' the number 1180591620717411303424",
        ),
        ("bert", lambda spec: spec["model"].update(unk_token="nope"), "makes 'nope', which its vocabulary does not"),
        ("bert", lambda spec: spec["added_tokens"][2].update(content="[C]"), r"makes '\[CLS\]', which its vocabulary"),
    ],
)
def test_what_would_fail_at_some_sentences_fails_at_the_start(
    name: str, change: Callable[[Any], Any], message: str, tmp_path: Path
) -> None:
    spec = json.loads((FOLDER / name / "tokenizer.json").read_text(encoding="utf-8"))
    if name == "bert":
        del spec["model"]["vocab"]["[CLS]"]  # which stands among the added ones as well
    change(spec)
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        tokeniser.read(tmp_path)


def test_an_added_token_without_letters_is_none(tmp_path: Path) -> None:
    spec = json.loads((FOLDER / "bert" / "tokenizer.json").read_text(encoding="utf-8"))
    spec["added_tokens"].append({"id": 5, "content": "", "lstrip": True, "rstrip": True})
    (tmp_path / "tokenizer.json").write_text(json.dumps(spec), encoding="utf-8")
    assert tokeniser.read(tmp_path)("the cat") == tokeniser.read(FOLDER / "bert")("the cat")


@pytest.mark.parametrize("text", ["", "[", "null", "[]", "[" * 100_000, "\udcff"])
def test_what_is_no_json_is_said_in_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=r"tokenizer\.json is broken, or is something else"):
        tokeniser.read(tmp_path)


SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def test_the_most_probable_pieces_by_hand() -> None:
    """hug: h ug is -8.5, hu g is -9.0, and the three letters are -14.0; equal ways keep the one that came first."""
    scores = {"▁": -4.0, "h": -5.0, "u": -4.5, "g": -4.5, "ug": -3.5, "hu": -4.5, "aa": -1.0, "a": -0.5}
    cut = Unigram(scores).pieces
    assert list(cut("hug")) == ["▁", "h", "ug"]
    assert list(cut("hug  huxxg")) == ["▁", "h", "ug", "▁", "hu", "xx", "g"]
    assert list(cut("a a")) == ["▁", "a", "▁", "a"]
    assert list(cut("aa")) == ["▁", "aa"]
    assert list(Unigram(scores, splits=False, begins=False).pieces("a  a")) == ["a", "▁", "▁", "a"]
    assert list(cut(" \x85")) == []


def unigram_file(folder: Path, **changes: Any) -> None:
    spec = json.loads((FOLDER / "xlm-roberta" / "tokenizer.json").read_text(encoding="utf-8"))
    spec |= {name: spec["model"] | value if name == "model" else value for name, value in changes.items()}
    (folder / "tokenizer.json").write_text(json.dumps(spec), encoding="utf-8")


FORMS = (
    {"normalizer": None, "pre_tokenizer": SPACES},
    {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}, "pre_tokenizer": SPACES},
    {"normalizer": {"type": "NFKC"}, "pre_tokenizer": SPACES | {"prepend_scheme": "never"}},
    {"normalizer": {"type": "Strip", "strip_left": False, "strip_right": True}, "pre_tokenizer": SPACES},
    {"pre_tokenizer": SPACES | {"split": False}},
)


@for_each("changes", FORMS)
def test_other_forms_of_unigrams_are_cut_as_the_library_cuts_them(
    changes: dict[str, Any], tmp_path: Path, tokenizers: Any
) -> None:
    unigram_file(tmp_path, **changes)
    theirs, ours = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")), tokeniser.read(tmp_path)
    assert isinstance(ours, tokeniser.Tokeniser)
    for text in (*texts(), "ﬁ ½ Ａß \u200b", "\r\n\x1c\x85 king \u3000", "e\u0301\u0301 \u0600e a\u0301\u200d"):
        assert ours(text)[0] == theirs.encode(text).ids, text


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"vocab": []}}, {"model": {"vocab": [["a" * 129, -1.0]]}}, {"model": {"vocab": [["a", "b"]]}},
        {"model": {"vocab": [["a", float("nan")]]}}, {"model": {"unk_id": -1}}, {"model": {"unk_id": 10**6}},
        {"model": {"vocab": {"a": 1}}}, {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAQAAA=="}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "%"}}, {"pre_tokenizer": {"type": "Metaspace"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_damaged_unigram_file_is_said_to_be_broken(changes: dict[str, Any], tmp_path: Path) -> None:
    unigram_file(tmp_path, **changes)
    with pytest.raises(ConfigError, match=r"tokenizer\.json is broken, or is something else \(|which its vocabulary"):
        tokeniser.read(tmp_path)


def test_unigrams_are_written_as_the_text_that_they_are() -> None:
    tokenise = model("xlm-roberta").tokenise
    ids, pieces = tokenise("the king saw ﬁve <mask> 犬")
    assert (pieces[0], pieces[-1], pieces[-2], pieces[-4]) == ("<s>", "</s>", "<unk>", "<mask>")
    assert tokenise.written([], ids[1:4]).startswith(" the king")  # type: ignore[attr-defined]
    assert model("xlm-roberta")("the 犬").notes == (
        "1 of the tokens stand as <unk>: the model's vocabulary does not have them.",
    )


def test_another_kind_asks_for_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    whole = json.loads((FOLDER / "gpt2" / "tokenizer.json").read_text(encoding="utf-8"))
    for changes in (
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}},
        {"normalizer": {"type": "Lowercase"}},
        {"model": whole["model"] | {"byte_fallback": True}},
        {"model": {"type": "Unigram", "vocab": [["a", -1.0]]}},
        {"model": {"type": "Unigram", "vocab": [["a", -1.0]], "byte_fallback": True}, "pre_tokenizer": SPACES},
        {"model": {"type": "WordLevel", "vocab": {"a": 0}}},
    ):
        (tmp_path / "tokenizer.json").write_text(json.dumps(whole | changes), encoding="utf-8")
        with pytest.raises(ConfigError, match=r"of a kind that is not read here .*pip install --no-deps tokenizers"):
            tokeniser.read(tmp_path)


@pytest.mark.usefixtures("tokenizers")
def test_what_the_library_reads_is_shown_as_the_characters_that_it_stands_for(tmp_path: Path) -> None:
    spec = json.loads((FOLDER / "gpt2" / "tokenizer.json").read_text(encoding="utf-8"))
    for changes, shown in (({}, ["<0xC3>", "<0xA9>"]), ({"decoder": None, "pre_tokenizer": None}, ["é"])):
        model = spec["model"] | {"unk_token": "é", "vocab": spec["model"]["vocab"] | {"é": 500}}
        file = json.dumps(spec | {"normalizer": {"type": "Lowercase"}, "model": model} | changes)
        (tmp_path / "tokenizer.json").write_text(file, encoding="utf-8")
        made = tokeniser.read(tmp_path)
        assert not isinstance(made, tokeniser.Tokeniser)
        assert made("É")[1] == shown


def test_a_folder_without_a_tokeniser(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no tokeniser; save it there with tokenizer\.save_pretrained"):
        tokeniser.read(tmp_path)


def test_tokens_that_a_vocabulary_does_not_have_are_counted() -> None:
    trace = model("bert")("the 猫 sat 犬")
    assert trace.query_tokens.count("[UNK]") == 2
    assert trace.notes == ("2 of the tokens stand as [UNK]: the model's vocabulary does not have them.",)
    assert model("bert")("the cat [MASK]").notes == ()


def test_spare_words_stand_for_what_a_vocabulary_does_not_have(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER / "bert", tmp_path / "bert")
    (folder / "tokenizer_config.json").write_text('{"spare_tokens": ["[PAD]", "[MASK]", "nowhere"]}', encoding="utf-8")
    spared = load(folder)
    numbers = spared.tokenise.vocabulary
    trace = spared("The 猫 the 犬 the 猫 [CLS]")
    assert trace.query_tokens == ("[CLS]", "the", "猫", "the", "犬", "the", "猫", "[CLS]", "[SEP]")
    assert [trace.token_ids[at] for at in (2, 4, 6)] == [numbers[name] for name in ("[PAD]", "[MASK]", "[PAD]")]
    assert trace.notes[0].startswith("Not in the vocabulary: 猫, 犬.")
    several = spared("猫 犬 [PAD] 牛")  # one that is typed is taken, and one word is left over
    assert several.query_tokens[1:-1] == ("猫", "[UNK]", "[PAD]", "[UNK]")
    assert several.token_ids[1] == numbers["[MASK]"]
    assert [note.split(":")[0] for note in several.notes] == ["2 of the tokens stand as [UNK]", "Not in the vocabulary"]


BROKEN = {
    "pad_token_id": ("roberta", "config.json", ["pad_token_id"], "x"),
    "softcap": ("gemma2", "config.json", ["final_logit_softcapping"], [1]),
    "framing": ("roberta", "tokenizer.json", ["post_processor", "sep"], []),
    "library": ("qwen3", "tokenizer.json", ["model", "dropout"], -1),
}


@pytest.mark.parametrize(("name", "file", "path", "value"), BROKEN.values(), ids=BROKEN)
def test_a_value_that_cannot_be_ends_in_a_sentence_at_the_start(
    name: str, file: str, path: list[str], value: object, tmp_path: Path
) -> None:
    folder = shutil.copytree(FOLDER / name, tmp_path / name)
    spec = json.loads((folder / file).read_text(encoding="utf-8"))
    inside = spec
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    (folder / file).write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(ConfigError):
        load(folder)


def test_a_norm_without_what_it_adds_is_refused_at_the_start(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER / "bert", tmp_path / "bert")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    assert b"embeddings.LayerNorm.bias" in whole
    weights.write_bytes(whole.replace(b"embeddings.LayerNorm.bias", b"embeddings.LayerNorm.biaz", 1))
    with pytest.raises(ConfigError, match=r"no array .embeddings\.LayerNorm\.bias"):
        load(folder)
