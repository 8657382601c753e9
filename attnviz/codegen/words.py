"""The names of the same operation in NumPy and in PyTorch, and those of a script's own variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from keyword import kwlist
from string import Template

from attnviz.formula.names import FUNCTIONS


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one library; a brace is where an array stands.

    np       the module;  axis, keep  the arguments of a reduction;  largest, smallest  the reductions themselves
    swapped  a stack of matrices, each transposed;  transposed  the same for arrays of heads
    falling  z in falling order;  places  the place of each x in it, of equal ones the earlier first
    number   a plain number with the arithmetic of arrays, in which 1 / 0 is inf;  as_array  the same for a number that
             may have it already
    softmax  along an axis, where the library has it;  stable  the argument that sorts equal numbers as they stand
    """

    np: str
    axis: str
    keep: str
    largest: str
    smallest: str
    array: str
    number: str
    as_array: str
    boolean: str
    copy: str
    repeat: str
    join: str
    along: str
    falling: str
    places: str
    swapped: str
    transposed: str
    sigmoid: str
    layer_norm: str
    rms_norm: str
    gelu: str
    gelu_tanh: str
    silu: str
    relu: str = "({}).clip(min=0)"
    clamped_silu: str = "clamped_silu({})"
    softmax: str = ""
    stable: str = 'kind="stable"'

    @property
    def over(self) -> str:
        """The arguments that reduce along the last axis and keep it."""
        return self.along_axis(-1)

    def along_axis(self, axis: int) -> str:
        """Return the arguments that reduce along an axis and keep it."""
        return f"{self.axis}={axis}, {self.keep}=True"

    @property
    def terms(self) -> dict[str, str]:
        """The words by their names, as templates of code name them."""
        return vars(self) | {"over": self.over}


NUMPY = Words(
    np="np",
    axis="axis",
    keep="keepdims",
    largest="max",
    smallest="min",
    array="np.array",
    number="np.float64({})",
    as_array="np.asarray",
    boolean="bool",
    copy="copy",
    repeat="np.repeat",
    join="np.concatenate",
    along="np.take_along_axis",
    falling="-np.sort(-z, axis=-1)",
    places='(-x).argsort(axis=-1, kind="stable").argsort(axis=-1)',
    swapped="np.swapaxes({}, -1, -2)",
    transposed="np.swapaxes({}, 1, 2)",
    sigmoid="sigmoid",
    layer_norm="layer_norm({})",
    rms_norm="rms_norm({})",
    gelu="gelu({})",
    gelu_tanh="gelu_tanh({})",
    silu="silu({})",
)
TORCH = Words(
    np="torch",
    axis="dim",
    keep="keepdim",
    largest="amax",
    smallest="amin",
    array="torch.tensor",
    number="torch.as_tensor({}, dtype=torch.float64)",
    as_array="torch.as_tensor",
    boolean="torch.bool",
    copy="clone",
    repeat="torch.repeat_interleave",
    join="torch.cat",
    along="torch.take_along_dim",
    falling="z.sort(dim=-1, descending=True).values",
    places="(-x).argsort(dim=-1, stable=True).argsort(dim=-1)",
    swapped="{}.mT",
    transposed="{}.mT",
    sigmoid="torch.sigmoid",
    layer_norm="torch.nn.functional.layer_norm({0}, {0}.shape[-1:]{unusual})",
    rms_norm="torch.nn.functional.rms_norm({0}, {0}.shape[-1:], eps={epsilon})",
    gelu="torch.nn.functional.gelu({})",
    gelu_tanh="torch.nn.functional.gelu({}, approximate='tanh')",
    silu="torch.nn.functional.silu({})",
    softmax="torch.softmax({}, dim={axis})",
    stable="stable=True",
)

HELPERS = {
    "unit": '''
def unit(x):
    """Each row over its length; a row of zeros stays."""
    length = $np.linalg.norm(x, $over)
    return x / $np.where(length == 0, 1.0, length)
''',
    "ratio": '''
def ratio(x, y):
    """x / y, and 0 where y is 0."""
    return $np.where(y == 0, 0.0, x / $np.where(y == 0, 1.0, y))
''',
    "level": '''
def level(x, p):
    """The number t of each row with sum(max(x - t, 0)**p) = 1, binary digit by digit."""
    t = x.$largest($over) - 1
    for digit in range(1, 54):
        higher = t + 2.0**-digit
        t = $np.where(((x - higher).clip(min=0) ** p).sum($over) >= 1, higher, t)
    return t
''',
    "is_top": '''
def is_top(x, n):
    """Whether each is one of the n largest of its row; of equal ones the earlier is the larger."""
    return ($places < n) & (x == x)  # NaN is none of them
''',
    "sigmoid": '''
def sigmoid(x):
    """1 / (1 + e^-x); the exponential of what is never positive cannot overflow."""
    e = $np.exp(-abs(x))
    return $np.where(x >= 0, 1.0, e) / (1 + e)
''',
}
"""Functions that a script carries where it calls them."""

_NAMES = """
np math torch tokens tokens_kv d_model n_heads n_kv_heads d_k d_q d_v d_z d_a n_layers seed softcap temperature scale
bias slopes pad listed cells i j h d x nothing stacked normal uniform bits glorot linear binary
orthogonal rope rope_base sinusoidal layer layer_norm gelu vocabulary spelled token score weights blake2b SEED
steps bucket wide exact starts query keys between print range len list min max sum abs unit ratio level is_top sigmoid n
n_key n_query E P X Q K V S A Z C Y M B F G
"""

RESERVED = frozenset((*_NAMES.split(), *kwlist, *FUNCTIONS))
"""Names that a script uses: a visitor's line of such a name gets a _ behind it."""


def calls(name: str, code: str) -> bool:
    """Return whether the code calls a function of its own by this name.

    >>> calls("normal", "E = normal(1)"), calls("normal", "abnormal(1)"), calls("gelu", "torch.nn.functional.gelu(x)")
    (True, False, False)
    """
    return re.search(rf"(?<![\w.]){name}\(", code) is not None


def helpers(code: str, words: Words) -> dict[str, str]:
    """Return the functions that a piece of code calls, by name."""
    return {name: Template(text).substitute(words.terms).strip() for name, text in HELPERS.items() if calls(name, code)}
