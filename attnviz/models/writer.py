"""The questions to a model that writes on: its next words, after every layer too, and a text written on."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.pretrained.model_plans import norm_of
from attnviz.engine.records.trace import Trace
from attnviz.models import next_words, sampling
from attnviz.models.sampling import Sampling, softmax
from attnviz.models.shapes.shape import Shape
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

if TYPE_CHECKING:
    from attnviz.engine.pretrained.pretrained_config import PretrainedConfig

FAULTS = Words(
    {
        "no_next": "this model does not write on: it has no matrix that turns a vector into the next word",
        "text": "the text is {given}; give what the model is to write on, as in next_words('the cat')",
        "empty": "the text has no token; give what the model is to write on, as in generate('the cat', 5)",
        "number": "the word number {given} is not in the vocabulary; its numbers are 0 to {last}",
        "word": "{given} is no single word of this model, it is made of {pieces}; choose one of these",
        "count": "n is {given}; give a whole number from 1 on",
        "unknown": "{given} is no word of this model; choose one of its likeliest next words",
        "n": "n is {given}; give a whole number from 0 on",
        "room": "the text has {n:,} tokens, and this model has room for {room:,}: ask for at most {most:,} more",
    }
)


class Writer(ABC):
    """The part of a trained model that turns vectors into words."""

    shape: Shape
    tokenise: Any
    facts: ModelFacts
    _final: dict[str, Array]
    folder: Path | None = None
    logits_bias: Array | None = None  # what is added to the logits of next words
    _head: Array | None
    _tables: dict[str, Array]
    _ends: frozenset[int] = frozenset()

    @property
    @abstractmethod
    def most_tokens(self) -> int: ...

    @abstractmethod
    def __call__(self, text: str) -> Trace: ...

    @abstractmethod
    def _last_state(self, config: PretrainedConfig, ids: Sequence[int]) -> Array: ...

    @abstractmethod
    def _for_text(self, text: str) -> PretrainedConfig: ...

    @property
    def writes_on(self) -> bool:
        """True if the model has a matrix that turns a vector into the next word."""
        return self._head is not None

    @property
    def words_table(self) -> Array:
        """The output matrix (words, d_model): a row a word. Raises ConfigError for a model that does not write on."""
        if self._head is None:
            raise ConfigError(FAULTS["no_next"])
        return self._head

    @property
    def is_tied(self) -> bool:
        """True if the output matrix is the table of the tokens' vectors once more."""
        return self._head is not None and np.array_equal(self._head, self._tables["tokens"])

    def next_words(self, text: str | Trace, n: int = 10, target: str | None = None) -> list[tuple[str, float]]:
        """Return the n likeliest next words after a text, or after a run of this model, each with its share.

        target  of T5 and BART what the decoder has written so far; `text` is then what the encoder reads

        Words whose shares are equal but for rounding stand in the order of the vocabulary.

        Raises ConfigError for a model that does not write on: one without a causal mask or without an output matrix;
        and for what is neither a text nor a run of this model.
        """
        if not hasattr(n, "__index__") or operator.index(n) < 1:
            raise ConfigError(FAULTS["count"].format(given=shorten(n)))
        writer, text = self._answering(text, target)
        if writer is not self:
            return writer.next_words(text, n)
        _, trace = self.words_table, self._run_of(text)
        last = next_words.states(trace, -1)[-1:]
        [scores] = self._logits(self._read_off(last))
        lent = self.lent(trace)
        likely = next_words.most_likely(softmax(scores), n)
        return [(lent.get(number, self.piece(number)), share) for number, share in likely]

    def _answering(self, text: str | Trace, target: str | None) -> tuple[Writer, str | Trace]:
        """Return the one that writes on, and what it goes on with: of a model with an encoder its decoder."""
        return self, text

    def logit_lens(self, trace: Trace, row: int = -1, most: int = 5) -> list[list[tuple[str, float]]]:
        """Return the likeliest next words after a token of a run as they would be read off after every layer.

        row  of the token, from 0, and from the end where below 0

        The first list is what would be read off before any layer, then one a layer; the last is what the model itself
        computes. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".

        Raises ConfigError as `next_words`, and for a row that the run does not have.
        """
        likely = [next_words.most_likely(shares, most) for shares in softmax(self.scores(trace, row))]
        lent = self.lent(trace)
        return [[(lent.get(number, self.piece(number)), share) for number, share in words] for words in likely]

    def ranks(self, trace: Trace, word: str | int, row: int = -1) -> list[tuple[int, float]]:
        """Return the place of a word among the next words after a token of a run, 1 for the likeliest, and its share.

        The first pair is what would be read off before any layer, then one a layer, as in `logit_lens`.

        Raises ConfigError as `logit_lens`, and for a word that is none of this model, see `word_number`.
        """
        number = self.word_number(word, trace)
        return [(next_words.rank(shares, number), float(shares[number])) for shares in softmax(self.scores(trace, row))]

    def scores(self, trace: Trace, row: int = -1) -> Array:
        """Return the logits of all words after a token of a run, before the first layer and after each.

        Shape (layers + 1, words). Raises ConfigError as `logit_lens`.
        """
        _ = self.words_table
        next_words.check(trace, row, self.facts, self.shape.d_model)
        return self._logits(self._read_off(next_words.states(trace, row)))

    def piece(self, number: int) -> str:
        """Return the word of a number as it stands among tokens."""
        written: str = getattr(self.tokenise, "piece", "#{}".format)(number)
        return written

    def kind_of(self, number: int) -> str:
        """Return what a word is that is none of a language: spare, end (it ends a text), unknown; empty for others."""
        piece = self.piece(number)
        if number in self._ends:
            return "end"
        if piece in getattr(self.tokenise, "spare", ()):
            return "spare"
        return "unknown" if piece == getattr(self.tokenise, "unknown", None) else ""

    def lent(self, trace: Trace) -> Mapping[int, str]:
        """Return the words of a run that stand in spare vectors, by the numbers of these: such a word is what is said.

        Empty for a model without spare words, and for a sentence that needs none.
        """
        return self._lent(trace.token_ids, trace.query_tokens)

    def _lent(self, ids: Sequence[int], tokens: Sequence[str]) -> Mapping[int, str]:
        spare = {self._numbers.get(word) for word in getattr(self.tokenise, "spare", ())}
        return {n: token for n, token in zip(ids, tokens) if spare and n in spare and token not in self._numbers}

    def word_number(self, word: str | int, trace: Trace | None = None) -> int:
        """Return the number of a word in the vocabulary; a number is its own.

        With a run, a word that stands in a spare vector there is known by it. Where words are told apart by the space
        before them, Mary is the word after a space if there is one. A token as `next_words` lists it, such as ##ing, is
        found too.

        Raises ConfigError for a text that is not one word of this model; the message says which words it is made of.
        """
        n = len(self.words_table)
        if hasattr(word, "__index__"):
            number = operator.index(word)
            if not 0 <= number < n:
                raise ConfigError(FAULTS["number"].format(given=number, last=n - 1))
            return number
        if not isinstance(word, str) or not word.strip("Ġ \n"):
            raise ConfigError(FAULTS["unknown"].format(given=shorten(word)))
        if word in self._numbers and self._numbers[word] < n and word.startswith(("Ġ", "##", "▁")):
            return self._numbers[word]
        plain = word.lstrip("Ġ ")
        spare = getattr(self.tokenise, "spare", ())
        for number, said in self.lent(trace).items() if trace is not None else ():
            if plain.strip().lower() == said.lower():
                return number
        for written in (f" {plain}",) if plain != word else (f" {word}", word):
            ids, pieces = self._unframed(written)
            is_known = len(ids) == 1 and pieces[0] != getattr(self.tokenise, "unknown", None)
            if is_known and ids[0] < n and (not spare or pieces[0] in self._numbers):  # no spare vector was lent to it
                return ids[0]
        known = self._numbers.get(word)
        if known is not None and known < n:
            return known
        if len(pieces) > 1:
            raise ConfigError(FAULTS["word"].format(given=shorten(word), pieces=", ".join(map(shorten, pieces[:8]))))
        raise ConfigError(FAULTS["unknown"].format(given=shorten(word)))

    def generate(
        self,
        text: str,
        n: int,
        seed: int = 0,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        target: str | None = None,
    ) -> str:
        """Return a text written on by n tokens, or up to where the model ends it; of T5 and BART the decoder's.

        seed         another writes other words; the word at a place depends on the seed, the place and what stands
                     before it: writing 3 words and then 4 is writing 7
        temperature  divides the logits;  `top_k` draws among so many of the likeliest words only
        top_p        draws among the likeliest words that together have this share
        target       of T5 and BART how the decoder's text begins; `text` is then what the encoder reads

        The words are the same on every machine: shares agree to 1e-12 between machines, and a word would differ only
        where the uniform number of its place falls that near to the border between two. Shares that are equal but for
        rounding (1e-9) are ordered by the number of the word. Every word is a run of its own, of which nothing is kept.

        Raises ConfigError for a model that does not write on, for a text with no token or too long to write on so far,
        and for an argument outside its range.
        """
        writer, begun = self._answering(text, target)
        if writer is not self:
            if isinstance(begun, Trace):
                raise ConfigError(FAULTS["text"].format(given=shorten(begun)))
            return writer.generate(begun, n, seed, temperature, top_k, top_p)
        _ = self.words_table
        how = Sampling(temperature, top_k, top_p)
        if isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < 0:
            raise ConfigError(FAULTS["n"].format(given=shorten(n)))
        return self._written_on(text, operator.index(n), seed, how)

    def _written_on(self, text: str, n: int, seed: int, how: Sampling) -> str:
        """Return a text written on by n tokens, as `generate` does."""
        config = self._for_text(text)
        ids, tokens = self.tokenise(text)
        ids, first = list(ids), len(ids)
        if not first:
            raise ConfigError(FAULTS["empty"])
        if first + n - 1 > self.most_tokens:
            most = max(self.most_tokens + 1 - first, 0)
            raise ConfigError(FAULTS["room"].format(n=first, room=self.most_tokens, most=most))
        for _ in range(n):
            scores = self._scores_of(self._last_state(config, ids))
            ids.append(sampling.drawn(how.shares(scores), seed, len(ids)))
            if ids[-1] in self._ends:
                ids.pop()
                break
        return text + self.written(ids[:first], ids[first:], self._lent(ids, tokens))

    def drawn(self, trace: Trace, seed: int, how: Sampling) -> str | None:
        """Return what is written behind a run by one more word, the one that `generate` would write; None at an end."""
        number = sampling.drawn(how.shares(self.scores(trace)[-1]), seed, len(trace.query_tokens))
        return None if number in self._ends else self.written(trace.token_ids, [number], self.lent(trace))

    def written(self, before: Sequence[int], ids: Sequence[int], lent: Mapping[int, str] | None = None) -> str:
        """Return what tokens say behind others, with the space that separates them; `lent` as `lent` returns it."""
        if lent:
            said_so: str = self.tokenise.written(list(before), list(ids), lent)
            return said_so
        write = getattr(self.tokenise, "written", None)
        if write is None:
            return "".join(f" {self.piece(number)}" for number in ids)
        said: str = write(list(before), list(ids))
        return said

    def _scores_of(self, state: Array) -> Array:
        """Return the logits that follow from the last layer's result of one token."""
        [scores] = self._logits(state[None])
        return scores

    def _logits(self, H: Array) -> Array:
        """Return the logits of all words, (rows, words), from vectors behind the last norm."""
        shape = self.shape
        found = next_words.logits(H * shape.logits_factor, self.words_table, shape.logits_softcap)
        return found if self.logits_bias is None else found + self.logits_bias

    def _read_off(self, H: Array) -> Array:
        """Return vectors (rows, d_model) after the last norm, where the model has one."""
        if "g_f" not in self._final:
            return H
        return norm_of(self.facts).fn(H) * self._final["g_f"] + self._final.get("c_f", 0.0)

    def _run_of(self, text: str | Trace) -> Trace:
        trace = self(text) if isinstance(text, str) else text
        if not isinstance(trace, Trace):
            raise ConfigError(FAULTS["text"].format(given=shorten(text)))
        next_words.check(trace, -1, self.facts, self.shape.d_model)
        return trace

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """The number of each word, by how it stands among tokens; of two that are written alike, the first."""
        return {self.piece(number): number for number in reversed(range(len(self.words_table)))}

    def _unframed(self, text: str) -> tuple[list[int], list[str]]:
        """Return the ids and pieces of a text without what stands around every sentence."""
        ids, pieces = self.tokenise(text)
        frame = self.tokenise("")[0]
        at = next((i for i, (one, other) in enumerate(zip(frame, ids)) if one != other), min(len(frame), len(ids)))
        end = len(ids) - (len(frame) - at)
        return list(ids[at:end]), list(pieces[at:end])
