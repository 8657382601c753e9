"""The names of the same operation in NumPy and in PyTorch, and those of a script's own variables."""

from __future__ import annotations

from dataclasses import dataclass
from keyword import kwlist

from attnviz.formula.names import FUNCTIONS


@dataclass(frozen=True)
class Words:
    """The words of one library."""

    module: str
    axis: str
    keep: str
    largest: str
    smallest: str
    array: str
    sigmoid: str
    turned: str

    @property
    def over(self) -> str:
        """The words for a reduction along the last axis that keeps it."""
        return f"{self.axis}=-1, {self.keep}=True"


NUMPY = Words("np", "axis", "keepdims", "max", "min", "np.array", "sigmoid", "np.swapaxes({}, 1, 2)")
TORCH = Words("torch", "dim", "keepdim", "amax", "amin", "torch.tensor", "torch.sigmoid", "{}.mT")

HELPERS = {
    "unit": '''
def unit(x):
    """Each row over its length; a row of zeros stays."""
    length = {m}.linalg.norm(x, {over})
    return x / {m}.where(length == 0, 1.0, length)
''',
    "ratio": '''
def ratio(x, y):
    """x / y, and 0 where y is 0."""
    return {m}.where(y == 0, 0.0, x / {m}.where(y == 0, 1.0, y))
''',
    "level": '''
def level(x, p):
    """The number t of each row with sum(max(x - t, 0)**p) = 1, binary digit by digit."""
    t = x.{largest}({over}) - 1
    for digit in range(1, 54):
        higher = t + 2.0**-digit
        t = {m}.where(((x - higher).clip(min=0) ** p).sum({over}) >= 1, higher, t)
    return t
''',
    "sigmoid": '''
def sigmoid(x):
    """1 / (1 + e^-x); the exponential of what is never positive cannot overflow."""
    e = {m}.exp(-abs(x))
    return {m}.where(x >= 0, 1.0, e) / (1 + e)
''',
}
"""Functions that a script carries where it calls them."""

_TAKEN = """
np math torch tokens tokens_kv d_model n_heads n_kv_heads d_k d_q d_v d_z d_a n_layers seed softcap temperature scale
bias slopes pad listed cells i j h d x z e p m wins top total nothing stacked normal uniform bits glorot linear binary
orthogonal rope rope_base sinusoidal layer layer_norm gelu vocabulary spelled token score weights blake2b SEED
steps bucket wide exact starts query keys between print range len list min max sum abs unit ratio level sigmoid n n_key
n_query E P X Q K V S A Z C Y M B F G
"""

RESERVED = frozenset((*_TAKEN.split(), *kwlist, *FUNCTIONS))
"""Names that a script uses: a visitor's line of such a name gets a _ behind it."""


def helpers(code: str, words: Words) -> dict[str, str]:
    """Return the functions that a piece of code calls, by name."""
    called = {name: f"{name}(" in code.replace("torch.sigmoid(", "") for name in HELPERS}
    return {
        name: HELPERS[name].format(m=words.module, over=words.over, largest=words.largest).strip()
        for name in HELPERS
        if called[name]
    }
