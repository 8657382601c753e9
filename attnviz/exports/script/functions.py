"""The functions that a script may begin with: the draws, and what takes more than two lines.

A script carries only those that it calls, in this order.
"""

from __future__ import annotations

from string import Template

from attnviz.codegen.words import HELPERS, TORCH, Words, calls
from attnviz.engine.tables.blocks import EPSILON
from attnviz.engine.tables.normalisers import NORMALISERS

DRAWS = {
    "bits": '''
def bits(name, shape, at=()):
    """64 random bits for every index of the shape: a hash of seed and name, mixed with each index by SplitMix64."""
    digest = blake2b(f"{SEED}/{name}".encode("utf-8", "replace"), digest_size=8).digest()
    state = np.array(int.from_bytes(digest, "little"), dtype=np.uint64)
    for index in [np.array([place]) for place in at] + [np.arange(size) for size in shape]:
        z = state[..., None] + (index.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = z ^ (z >> np.uint64(31))
    return state.reshape(shape)
''',
    "uniform": '''
def uniform(name, shape, at=()):
    """Uniform on [0, 1)."""
    return (bits(name, shape, at) >> np.uint64(11)) * 2.0**-53
''',
    "normal": '''
def normal(name, shape, at=()):
    """Standard normal, by Box and Muller; snapped to a grid, as processors differ in the last bit of log and cos."""
    u, v = 1.0 - uniform(f"{name}/radius", shape, at), uniform(f"{name}/angle", shape, at)
    return np.round(np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v) * 2.0**32) * 2.0**-32
''',
}
"""Every number is a function of seed, name and index, so it can be drawn again anywhere."""

TORCH_DRAWS = {
    "uniform": '''
def uniform(name, shape, at=()):
    """Uniform on [0, 1)."""
    return torch.from_numpy((bits(name, shape, at) >> np.uint64(11)) * 2.0**-53)
''',
    "normal": '''
def normal(name, shape, at=()):
    """Standard normal, by Box and Muller; snapped to a grid, as processors differ in the last bit of log and cos."""
    u, v = 1.0 - uniform(f"{name}/radius", shape, at).numpy(), uniform(f"{name}/angle", shape, at).numpy()
    return torch.from_numpy(np.round(np.sqrt(-2.0 * np.log(u)) * np.cos(2.0 * np.pi * v) * 2.0**32) * 2.0**-32)
''',
}
"""The same for PyTorch, which has no arithmetic of this kind: NumPy draws."""

FUNCTIONS = {
    "binary": '''
def binary(name, shape, at=()):
    """Zeros and ones, equally likely."""
    return $np.floor(2.0 * uniform(name, shape, at))
''',
    "glorot": '''
def glorot(name, shape, at=()):
    """Uniform on [-a, a) with a = sqrt(6 / (d_in + d_out))."""
    d_in, d_out = shape[-2:]
    return math.sqrt(6 / (d_in + d_out)) * (2 * uniform(name, shape, at) - 1)
''',
    "linear": '''
def linear(name, shape, at=()):
    """Uniform on [-a, a) with a = 1 / sqrt(d_in): what torch.nn.Linear starts with."""
    return (2 * uniform(name, shape, at) - 1) / math.sqrt(shape[-2])
''',
    "orthogonal": '''
def orthogonal(G):
    """The columns of G (its rows, if they are fewer) made orthonormal."""
    tall = G.shape[-2] >= G.shape[-1]
    Q, R = $np.linalg.qr(G if tall else $swapped_G)
    Q = Q * $np.where($signs < 0, -1.0, 1.0)[..., None, :]  # QR leaves the signs open
    return Q if tall else $swapped_Q
''',
    "learned": '''
def learned(shape, *lines):
    """Numbers from their bytes, in base64."""
    return $np.frombuffer(bytearray(b64decode("".join(lines))), dtype=$np.float64).reshape(shape)
''',
    "stored": '''
def stored(kind, shape, *lines):
    """Numbers of a kind from their bytes, in base64."""
    numbers = $np.frombuffer(bytearray(b64decode("".join(lines))), dtype=kind)
    return $as_array(numbers, dtype=$np.float64).reshape(shape)
''',
    "stacked": '''
def stacked(heads):
    """Heads of different width in one array, filled up with zeros, which change no product and no sum."""
    widest = [max(sizes) for sizes in zip(*(head.shape for head in heads))]
    stack = $np.zeros((len(heads), *widest))
    for h, head in enumerate(heads):
        stack[(h, *(slice(size) for size in head.shape))] = head
    return stack
''',
    "spelled": '''
def spelled(token):
    """The vectors of the token's groups of one to three letters, between boundary marks, added up."""
    marked = f"<{token}>"
    groups = [marked[i : i + n] for n in (1, 2, 3) for i in range(len(marked) - n + 1)]
    groups = [group for group in groups if group not in "<>"]
    return $np.stack([normal(f"ngram/{group}", (d_model,)) for group in groups]).sum($axis=0) / math.sqrt(len(groups))
''',
    "sinusoidal": '''
def sinusoidal(n):
    """Sine and cosine of the position, side by side, at ever longer wavelengths."""
    angle = $np.arange(n)[:, None] / 1e4 ** (2 * $np.arange((d_model + 1) // 2) / d_model)
    P = $np.zeros((n, d_model))
    P[:, 0::2], P[:, 1::2] = $np.sin(angle), $np.cos(angle)[:, : d_model // 2]
    return P
''',
    "rope": '''
def rope(x):
    """Columns 2i and 2i + 1 of row p, rotated by the angle p * base^(-2i / d)."""
    n, d = x.shape[-2:]
    angle = $np.arange(n)[:, None] * rope_base ** (-2 * $np.arange(d // 2) / d)
    sin, cos = $np.sin(angle), $np.cos(angle)
    first, second = x[..., 0 : d - 1 : 2], x[..., 1::2]
    y = x.$copy()
    y[..., 0 : d - 1 : 2], y[..., 1::2] = first * cos - second * sin, first * sin + second * cos
    return y
''',
    "rotated": '''
def rotated(x, frequencies):
    """Columns i and i + half of row p, rotated by the angle p * frequencies[i]; those behind them stay."""
    half = len(frequencies)
    angle = $np.arange(x.shape[-2])[:, None] * frequencies
    sin, cos = $np.sin(angle), $np.cos(angle)
    first, second = x[..., :half], x[..., half : 2 * half]
    y = x.$copy()
    y[..., :half], y[..., half : 2 * half] = first * cos - second * sin, second * cos + first * sin
    return y
''',
    "unit": HELPERS["unit"],
    "ratio": HELPERS["ratio"],
    "sigmoid": HELPERS["sigmoid"],
    "level": HELPERS["level"],
    "is_top": HELPERS["is_top"],
    "layer_norm": '''
def layer_norm(x):
    """Each row minus its mean, over its standard deviation."""
    centred = x - x.mean($over)
    return centred / $np.sqrt((centred**2).mean($over) + $epsilon)
''',
    "rms_norm": '''
def rms_norm(x):
    """Each row over the root of its mean square."""
    return x / $np.sqrt((x**2).mean($over) + $epsilon)
''',
    "rms_norm_of_heads": '''
def rms_norm_of_heads(x):
    """The row of each token in all heads over the root of their mean square."""
    return x / $np.sqrt((x**2).mean($axis=(0, 2), $keep=True) + $epsilon)
''',
    "routed": '''
def routed(x, n, adds_up):
    """The softmax of each row, of which the n largest stay, as they are or divided by their sum."""
    e = $np.exp(x - x.$largest($over))
    kept = $np.where(is_top(x, n), e, 0.0)
    return kept / (kept if adds_up else e).sum($over)
''',
    "gelu": '''
def gelu(x):
    """x times the normal distribution function of x."""
    return 0.5 * x * (1 + $np.vectorize(math.erf)(x / math.sqrt(2)))
''',
    "gelu_tanh": '''
def gelu_tanh(x):
    """GELU with a tanh for the normal distribution function."""
    return 0.5 * x * (1 + $np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
''',
    "silu": '''
def silu(x):
    """x times its sigmoid, which is (1 + tanh(x / 2)) / 2."""
    return 0.5 * x * (1 + $np.tanh(x / 2))
''',
    "clamped_silu": '''
def clamped_silu(x):
    """min(x, 7) times the sigmoid of 1.702 times that."""
    x = x.clip(max=7.0)
    return 0.5 * x * (1 + $np.tanh(0.851 * x))
''',
    "clipped": '''
def clipped(x):
    """x within -7 and 7, and 1 more."""
    return x.clip(-7.0, 7.0) + 1
''',
}
"""Each by its name; a function may call those above it."""


def functions_of_rows() -> dict[str, str]:
    """Return FUNCTIONS, and those that the rows of normalisers bring with them."""
    written = [row.written.function for row in NORMALISERS.values() if row.written and row.written.function]
    return {**FUNCTIONS, **{text.partition("def ")[2].partition("(")[0]: text for text in written}}


def needed_functions(code: str) -> list[str]:
    """Return the names of the functions that a script calls, also from within each other, in the order to define them.

    >>> needed_functions("W = glorot(name, shape)")
    ['bits', 'uniform', 'glorot']
    """
    names: list[str] = []
    for name, text in reversed({**DRAWS, **functions_of_rows()}.items()):
        if calls(name, code):
            names.insert(0, name)
            code += text
    return names


def definition(
    names: list[str], code: str, words: Words, *, is_tempered: bool, epsilon: float = EPSILON
) -> tuple[str, str]:
    """Return the draws and the other functions among `names` as text, in the words of a library.

    Where nothing is drawn at a position `at=` of its own, the draws do without it; where there is no temperature, so do
    the normalisers. `epsilon` is what norms add to the mean square.
    """
    draws = "\n\n\n".join(_draw(name, words).strip() for name in names if name in DRAWS)
    z, T = f"x - x.{words.largest}({words.over})", " / temperature" if is_tempered else ""
    terms = words.terms | {f"swapped_{x}": words.swapped.format(x) for x in "GQ"}
    terms["signs"] = f"{words.np}.diagonal(R, {words.axis}1=-2, {words.axis}2=-1)"
    terms |= {"half": f"({z}) / 2{T}", "z": f"({z}){T}" if T else z, "epsilon": short(epsilon)}
    of_rows = functions_of_rows()
    functions = "\n\n\n".join(Template(of_rows[n]).substitute(terms).strip() for n in names if n in of_rows)
    return (draws, functions) if "at=" in code else (_without_positions(draws), _without_positions(functions))


def short(x: float) -> str:
    """Return a number without a zero in front of its exponent.

    >>> short(1e-5), short(1e-12)
    ('1e-5', '1e-12')
    """
    return repr(x).replace("e-0", "e-")


def _draw(name: str, words: Words) -> str:
    return (TORCH_DRAWS if words is TORCH else {}).get(name, DRAWS[name])


def _without_positions(text: str) -> str:
    text = text.replace(", at=()", "").replace(", at)", ")")
    return text.replace(
        "[np.array([place]) for place in at] + [np.arange(size) for size in shape]", "map(np.arange, shape)"
    )
