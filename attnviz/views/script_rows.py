"""What each row of each table is in a script: a line or a few of NumPy, written for a reader.

The lines name the variables as the papers do and the settings as `Config` does. A test holds every table of the engine
against its table here.
"""

from __future__ import annotations

from dataclasses import dataclass

VARIABLES = {
    "token_embeddings": "E",
    "positions": "P",
    "embedded": "X",
    "token_embeddings_kv": "E_kv",
    "positions_kv": "P_kv",
    "embedded_kv": "X_kv",
    "normed": "X_normed",
    "w_q": "W_Q",
    "b_q": "b_Q",
    "w_k": "W_K",
    "b_k": "b_K",
    "w_v": "W_V",
    "b_v": "b_V",
    "projected_queries": "Q_unturned",
    "projected_keys": "K_unturned",
    "queries": "Q",
    "keys": "K",
    "values": "V",
    "score_w": "W",
    "score_w_q": "W_q",
    "score_w_k": "W_k",
    "score_v": "v",
    "score_b": "b",
    "scores": "S",
    "scaled": "S_scaled",
    "capped": "S_capped",
    "bias": "B",
    "allowed": "M",
    "masked": "S_masked",
    "weights": "A",
    "heads": "Z",
    "concat": "C",
    "w_o": "W_O",
    "b_o": "b_O",
    "output": "Y",
    "added": "Y_added",
    "added_normed": "Y_normed",
    "ff_normed": "Y_normed",
    "w_1": "W_1",
    "b_1": "b_1",
    "ff_hidden": "F",
    "w_2": "W_2",
    "b_2": "b_2",
    "ff_output": "G",
    "ff_added": "G_added",
    "ff_added_normed": "G_normed",
}
"""What each step is called in a script."""

EMBEDDINGS = {
    "normal": 'np.stack([normal(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "uniform": 'np.stack([uniform(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "binary": 'np.stack([binary(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "one_hot": "np.eye(len(vocabulary), d_model)[[vocabulary.index(token) for token in {tokens}]]",
    "spelling": "np.stack([spelled(token) for token in {tokens}])",
    "own": "{numbers}",
}

POSITIONS = {
    "none": "",
    "sinusoidal": "sinusoidal(len({tokens}))",
    "random": 'normal("position", (len({tokens}), d_model))',
    "rope": "",
}
"""What is added to E; nothing where the row adds nothing."""

SCORES = {
    "scaled_dot": "Q @ np.swapaxes({K}, 1, 2)",
    "dot": "Q @ np.swapaxes({K}, 1, 2)",
    "general": "Q @ W @ np.swapaxes({K}, 1, 2)",
    "additive": "(hidden * v[:, None, None, :]).sum(axis=-1)",
    "cosine": "unit(Q) @ np.swapaxes(unit({K}), 1, 2)",
    "gaussian": "-0.5 * ((Q[:, :, None, :] - {K}[:, None, :, :]) ** 2).sum(axis=-1)",
    "negative_distance": "-np.linalg.norm(Q[:, :, None, :] - {K}[:, None, :, :], axis=-1)",
    "location": "Q @ W",
}

HIDDEN = "hidden = np.tanh({left}[:, :, None, :] + ({K} @ W_k)[:, None, :, :])  # for every pair"
"""What the additive score needs before it."""

MASKS = {
    "none": "(i >= 0) & (j >= 0)",
    "causal": "(j <= i)",
    "padding": "(~pad & (i >= 0))",
    "window": "(abs(i - j) <= reach)",
    "dilated": "(abs(i - j) <= reach * dilation) & ((i - j) % dilation == 0)",
    "block": "(i // block_size == j // block_size)",
    "prefix": "((j <= i) | (j < prefix_length))",
    "global_window": "((abs(i - j) <= reach) | (i < n_global) | (j < n_global))",
    "no_self": "(i != j)",
    "custom": "listed",
}

BIASES: dict[str, tuple[str, ...]] = {
    "none": (),
    "alibi": ("-slopes[:, None, None] * abs(i - j)",),
    "t5": (
        "wide = exact + sum(steps >= start for start in starts)  # and ever wider ranges",
        "bucket = np.where(steps < exact, steps, wide)",
        'normal("t5_bias", (n_heads, t5_n_buckets))[:, bucket]',
    ),
    "linear": ("-bias_slope * abs(i - j) * np.ones((n_heads, 1, 1))",),
}
"""The lines before B and, last, what B is."""


@dataclass(frozen=True)
class Normalise:
    """The lines before A, what A is, and the same in PyTorch's own words where it has some.

    shares  whether a row with nothing allowed would be 0 / 0
    turn    whether it always works along the last axis, so that the scores have to be turned for the other
    """

    before: tuple[str, ...]
    weights: str
    torch: str = ""
    shares: bool = True
    turn: bool = False


NORMALISERS = {
    "softmax": Normalise(
        ("e = np.exp({z})",), "e / e.sum(axis={axis}, keepdims=True)", torch="torch.softmax({x}{T}, dim={axis})"
    ),
    "sparsemax": Normalise((), "sparsemax({x})", turn=True),
    "entmax15": Normalise((), "entmax15({x})", turn=True),
    "sigmoid": Normalise(
        ("e = np.exp(-abs({x}{T}))  # the exponential of what is never positive cannot overflow",),
        "np.where({x} >= 0, 1.0, e) / (1 + e)",
        torch="torch.sigmoid({x}{T})",
        shares=False,
    ),
    "hardmax": Normalise(
        ("wins = {x} == {x}.max(axis={axis}, keepdims=True)",), "wins / wins.sum(axis={axis}, keepdims=True)"
    ),
    "quiet_softmax": Normalise(
        (
            "top = {x}.max(axis={axis}, keepdims=True).clip(min=0)  # the 1 in the denominator is a key with score 0",
            "e = np.exp({quiet})",
        ),
        "e / (np.exp(-top{T}) + e.sum(axis={axis}, keepdims=True))",
        shares=False,
    ),
    "linear": Normalise(
        ("p = {x}.clip(min=0)", "total = p.sum(axis={axis}, keepdims=True)"),
        "p / np.where(total == 0, 1.0, total)",
        shares=False,
    ),
}

FEED_FORWARDS = {
    "none": "",
    "relu": "({hidden}).clip(min=0)",
    "gelu": "gelu({hidden})",
}

INITIALISERS = {
    "glorot": "glorot({address}, {shape}{at})",
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "linear({address}, {shape}{at})",
    "identity": "np.eye({rows}, {columns})",
    "orthogonal": "orthogonal(normal({address}, {shape}{at}))",
    "by_hand": "glorot({address}, {shape}{at})",
}
"""How a matrix is filled, or a stack of them."""

VECTORS = {
    "glorot": "math.sqrt(6 / ({width} + 1)) * (2 * uniform({address}, {shape}) - 1)",
    "normal": "normal({address}, {shape})",
    "uniform": "uniform({address}, {shape})",
    "binary": "binary({address}, {shape})",
    "linear": "(2 * uniform({address}, {shape}) - 1) / math.sqrt({width})",
    "identity": "np.ones({shape})",
    "orthogonal": "orthogonal(normal({address}, {column}))[..., 0]",
    "by_hand": "math.sqrt(6 / ({width} + 1)) * (2 * uniform({address}, {shape}) - 1)",
}
"""How the vector v of the additive score is filled, one a head."""

STARTS = {
    "glorot": "np.zeros({shape})",
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "(2 * uniform({address}, {shape}{at}) - 1) / math.sqrt({d_in})",
    "identity": "np.zeros({shape})",
    "orthogonal": "np.zeros({shape})",
    "by_hand": "np.zeros({shape})",
}
"""How a bias is filled."""
