"""The tokeniser of a model's folder: tokenizer.json, or the older vocab.txt or vocab.json with merges.txt.

WordPiece, byte pairs and unigrams are read here, as the base install has no package that does; whatever else there is
takes the package `tokenizers`, which a host may add.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attnviz.models.tokenisers import file_parts, unigram, unknown_words
from attnviz.models.tokenisers.byte_pairs import GPT_2, WORDS, BytePairs, readable, text_of
from attnviz.models.tokenisers.wordpiece import WordPiece, words_of
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

MAX_FILE_BYTES = 100_000_000
"""Bytes of a tokeniser's file; those of models with a quarter of a million tokens have 35 million."""

MOST_IDS = 2**24
"""The most pieces of a vocabulary; the largest known has a quarter of a million."""

FAULTS = Words(
    {
        "none": "{folder} holds no tokeniser; save it there with tokenizer.save_pretrained",
        "read": "{file} cannot be read: {why}",
        "broken": "{file} is broken, or is something else ({why}); save it again",
        "kind": "the tokeniser is of a kind that is not read here ({kind}); pip install --no-deps tokenizers brings "
        "what reads it",
        "id": "{file} gives {piece} the number {number}; numbers go from 0 on, one for each piece; save it again",
        "piece": "the tokeniser makes {piece}, which its vocabulary does not have; save it again",
    }
)


@dataclass(frozen=True)
class Tokeniser:
    """A text as ids and pieces.

    pieces      cuts a text in which no special token stands
    special     the special tokens, each with whether spaces before and after it belong to it
    start, end  what stands before and after every sentence
    shown       writes a piece as it is to be read;  `joined` writes several as the text that they are
    spare       tokens without a meaning of their own, which words that the vocabulary does not have take, in order
    """

    vocabulary: Mapping[str, int]
    pieces: Callable[[str], Iterable[str]]
    special: Mapping[str, tuple[bool, bool]]
    start: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    unknown: str | None = None
    shown: Callable[[str], str] = str
    joined: Callable[[Sequence[str]], str] = " ".join
    spare: tuple[str, ...] = ()

    def __call__(self, text: str) -> tuple[list[int], list[str]]:
        """Return the ids of a text's pieces, and the pieces."""
        pieces = [*self.start, *(piece for part in self._parts(text) for piece in part), *self.end]
        lent = self.lent(pieces)
        ids = [self._id(lent.get(piece, piece)) for piece in pieces]
        known = [piece in lent or piece in self.vocabulary for piece in pieces]
        return ids, [self.shown(piece if is_known else self.unknown or piece) for piece, is_known in zip(pieces, known)]

    def lent(self, pieces: Iterable[str]) -> dict[str, str]:
        """Return the spare words that unknown ones take: the first of those that do not stand there themselves."""
        there = dict.fromkeys(pieces)
        free = (word for word in self.spare if word not in there)
        return dict(zip((piece for piece in there if piece not in self.vocabulary), free))

    def piece(self, number: int) -> str:
        """Return the piece of an id; one that there is not stands as its number."""
        return self.shown(self._pieces.get(number, f"#{number}"))

    def written(self, before: Sequence[int], ids: Sequence[int], lent: Mapping[int, str] | None = None) -> str:
        """Return what ids say behind others, with the space that separates them; `lent` are words in spare ones."""
        return self.joined([(lent or {}).get(number) or self._pieces.get(number, f"#{number}") for number in ids])

    @cached_property
    def _pieces(self) -> Mapping[int, str]:
        return {number: piece for piece, number in self.vocabulary.items()}

    def _parts(self, text: str) -> Iterable[Iterable[str]]:
        """Return the pieces of each stretch of text between special tokens, and each of these by itself."""
        if not self.special:
            yield self.pieces(text)
            return
        pattern = re.compile("|".join(map(re.escape, sorted(self.special, key=len, reverse=True))))
        at = 0
        while match := pattern.search(text, at):
            before, after = self.special[match[0]]
            part, at = text[at : match.start()], match.end()
            yield self.pieces(part.rstrip() if before else part)
            yield [match[0]]
            while after and text[at : at + 1].isspace():
                at += 1
        yield self.pieces(text[at:])

    def _id(self, piece: str) -> int:
        known = self.vocabulary.get(piece)
        if known is None and self.unknown is not None:
            known = self.vocabulary.get(self.unknown)
        if known is None:
            raise ConfigError(FAULTS["piece"].format(piece=shorten(piece)))
        return known


def read(folder: Path) -> Callable[[str], tuple[list[int], list[str]]]:
    """Return the tokeniser of a folder.

    Raises ConfigError where there is none, where its files are broken, and for a kind that is not read here.
    """
    whole, pieces, letters = (folder / name for name in ("tokenizer.json", "vocab.txt", "vocab.json"))
    if whole.is_file():
        try:
            return _whole(json_file(whole), whole, unknown_words.spare(folder, json_file))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise _broken(error, whole) from None
    if pieces.is_file():
        return _of_lines(folder, _text(pieces).split("\n"))
    if letters.is_file() and (folder / "merges.txt").is_file():
        return _of_merges(folder)
    raise ConfigError(FAULTS["none"].format(folder=folder))


def _broken(error: Exception, file: Path) -> ConfigError:
    return error if isinstance(error, ConfigError) else fault("broken", file, why=type(error).__name__)


def _whole(
    spec: Mapping[str, Any], path: Path, spare: tuple[str, ...] = ()
) -> Callable[[str], tuple[list[int], list[str]]]:
    """Return the tokeniser that tokenizer.json describes."""
    model = spec["model"]
    kind = model.get("type") or ("BPE" if "merges" in model else "WordPiece")
    added = [each for each in spec["added_tokens"] if each["content"]]
    special = {str(each["content"]): (bool(each.get("lstrip")), bool(each.get("rstrip"))) for each in added}
    listed = [each for each, _ in model["vocab"]] if kind == "Unigram" else []
    numbered = {piece: number for number, piece in enumerate(listed)} if kind == "Unigram" else model["vocab"]
    vocabulary = {str(piece): int(number) for piece, number in numbered.items()}
    vocabulary |= {str(each["content"]): int(each["id"]) for each in added}
    start, end = file_parts.framing(spec.get("post_processor"))
    spare = tuple(word for word in spare if word in vocabulary) if kind == "WordPiece" else ()
    readers: dict[str, Callable[..., Callable[[str], Iterable[str]] | None]]
    readers = {"WordPiece": partial(_wordpiece, keeps_unknown=bool(spare)), "BPE": _byte_pairs}
    cut = unigram.of_file(spec) if kind == "Unigram" else readers[kind](spec, vocabulary) if kind in readers else None
    if cut is None:
        return _of_library(path, kind, readable if file_parts.is_byte_level(spec) else str)
    joined: Callable[[Sequence[str]], str] = text_of if kind == "BPE" else unigram.written
    if kind == "WordPiece":
        joined = partial(words_of, prefix=str(model["continuing_subword_prefix"]))
    unknown = unigram.unknown(model) if kind == "Unigram" else model.get("unk_token")
    shown = readable if kind == "BPE" else str
    _check(vocabulary, (*start, *end, *([str(model["unk_token"])] if kind == "WordPiece" else [])), path)
    return Tokeniser(vocabulary, cut, special, start, end, unknown, shown, joined, spare)


def _check(vocabulary: Mapping[str, int], needed: Iterable[str], path: Path) -> None:
    """Raise ConfigError for an id that cannot be, and for a piece that every sentence, or an unknown word, needs."""
    for piece, number in vocabulary.items():
        if not 0 <= number < MOST_IDS:
            raise fault("id", path, piece=shorten(piece), number=str(number)[:24])
    for piece in needed:
        if piece not in vocabulary:
            raise ConfigError(FAULTS["piece"].format(piece=shorten(piece)))


def _wordpiece(
    spec: Mapping[str, Any], vocabulary: Mapping[str, int], *, keeps_unknown: bool
) -> Callable[[str], Iterable[str]] | None:
    normal, model = spec.get("normalizer") or {}, spec["model"]
    if normal.get("type") != "BertNormalizer" or (spec.get("pre_tokenizer") or {}).get("type") != "BertPreTokenizer":
        return None
    lowercase, accents = bool(normal["lowercase"]), normal.get("strip_accents")
    return WordPiece(
        vocabulary,
        lowercase,
        lowercase if accents is None else bool(accents),
        bool(normal["handle_chinese_chars"]),
        str(model["unk_token"]),
        str(model["continuing_subword_prefix"]),
        keeps_unknown,
    ).pieces


ODD = ("dropout", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix")
"""The parts of a tokeniser that a byte-level one does without."""


def _byte_pairs(spec: Mapping[str, Any], vocabulary: Mapping[str, int]) -> Callable[[str], Iterable[str]] | None:
    """Return the pieces of a byte-level tokeniser; None for one that does anything that is not known here."""
    model, steps = spec["model"], file_parts.flat(spec.get("pre_tokenizer"), "pretokenizers")
    normal = [step["type"] for step in file_parts.flat(spec.get("normalizer"), "normalizers")]
    if not steps or steps[-1]["type"] != "ByteLevel" or len(steps) > 2 or normal not in ([], ["NFC"]):
        return None
    pattern = GPT_2 if steps[-1].get("use_regex", True) else None
    if len(steps) == 2:
        is_split = steps[0]["type"] == "Split" and steps[0]["behavior"] == "Isolated" and not steps[0]["invert"]
        pattern = steps[0]["pattern"].get("Regex") if is_split and pattern is None else None
    if pattern not in WORDS or any(model.get(name) for name in ODD):
        return None
    merges = (tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"])
    ranks = {(str(left), str(right)): rank for rank, (left, right) in enumerate(merges)}
    begins, whole = bool(steps[-1].get("add_prefix_space")), bool(model.get("ignore_merges"))
    pieces = BytePairs(vocabulary, ranks, pattern, begins, whole).pieces
    return (lambda text: pieces(unicodedata.normalize("NFC", text))) if normal else pieces


def _of_library(path: Path, kind: str, shown: Callable[[str], str]) -> Callable[[str], tuple[list[int], list[str]]]:
    """Return the same by the package `tokenizers`, where it is installed."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise ConfigError(FAULTS["kind"].format(kind=shorten(str(kind)))) from None
    try:
        tokeniser = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing more special
        raise _broken(error, path) from None
    tokeniser.no_padding()
    tokeniser.no_truncation()

    return _Library(tokeniser, shown)


@dataclass(frozen=True)
class _Library:
    """A tokeniser of the package, as the others are called."""

    made: Any
    shown: Callable[[str], str]

    def __call__(self, text: str) -> tuple[list[int], list[str]]:
        encoding = self.made.encode(text)
        return encoding.ids, [self.shown(token) for token in encoding.tokens]

    def piece(self, number: int) -> str:
        return self.shown(str(self.made.id_to_token(number) or f"#{number}"))

    def written(self, before: Sequence[int], ids: Sequence[int]) -> str:
        """Return what ids say behind others, with the space that separates them."""
        whole = self.made.decode([*before, *ids], skip_special_tokens=False)
        return str(whole)[len(self.made.decode([*before], skip_special_tokens=False)) :]


def _of_lines(folder: Path, lines: list[str]) -> Tokeniser:
    """Read BERT's older form: a piece a line."""
    config = folder / "tokenizer_config.json"
    lowercase = bool(json_file(config).get("do_lower_case", True)) if config.is_file() else True
    vocabulary = {line.rstrip("\r"): number for number, line in enumerate(lines) if line.strip("\r")}
    special: dict[str, tuple[bool, bool]]
    special = {name: (False, False) for name in ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]") if name in vocabulary}
    pieces = WordPiece(vocabulary, lowercase, lowercase).pieces
    _check(vocabulary, ("[CLS]", "[SEP]", "[UNK]"), folder / "vocab.txt")
    return Tokeniser(vocabulary, pieces, special, ("[CLS]",), ("[SEP]",), "[UNK]", joined=words_of)


def _of_merges(folder: Path) -> Tokeniser:
    """Read GPT-2's older form, and RoBERTa's, whose vocabulary begins with <s>."""
    vocabulary = {str(piece): int(number) for piece, number in json_file(folder / "vocab.json").items()}
    lines = [line for line in _text(folder / "merges.txt").split("\n") if line and not line.startswith("#version")]
    ranks = {(left, right): rank for rank, (left, _, right) in enumerate(line.partition(" ") for line in lines)}
    is_roberta = "<s>" in vocabulary and "</s>" in vocabulary
    special: dict[str, tuple[bool, bool]]
    special = {name: (False, False) for name in ("<s>", "</s>", "<|endoftext|>") if name in vocabulary}
    start, end = (("<s>",), ("</s>",)) if is_roberta else ((), ())
    _check(vocabulary, (*start, *end), folder / "vocab.json")
    return Tokeniser(vocabulary, BytePairs(vocabulary, ranks).pieces, special, start, end, None, readable, text_of)


def json_file(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises ConfigError for anything else."""
    try:
        spec = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise _broken(error, path) from None
    if not isinstance(spec, dict):
        raise fault("broken", path, why="no object")
    return spec


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise fault("broken", path, why=f"over {MAX_FILE_BYTES} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise fault("read", path, why=(error.strerror or str(error)).lower()) from None


def fault(which: str, path: Path, **facts: object) -> ConfigError:
    """Return a sentence about one file."""
    return ConfigError(FAULTS[which].format(file=path.name, **facts))
