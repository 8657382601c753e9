"""The words that the models in the package know, by what they are."""

from __future__ import annotations

WOMEN = "mary anna lucy emma kate jane sara nina ella rosa alice clara eva ruth lena maya".split()
MEN = "john tom ben max sam paul peter jack leo adam david luke oscar felix hugo noah".split()
NAMES = WOMEN + MEN

SHE = "girl woman queen sister princess aunt mother daughter".split()
HE = "boy man king brother prince uncle father son".split()
PEOPLE = SHE + HE
THINGS = "ball book cup hat key box ring bag pen lamp cake coin drum kite map pear".split()
ANIMALS = "cat dog bird horse cow fox bear duck frog mouse".split()
SPOTS = "table chair bed door window shelf".split()
PLACES = "shop park school garden house river forest kitchen market beach station library hill bridge".split()
COLOURS = "red blue green yellow black white brown pink".split()

ODD_PLURALS = {"woman": "women", "man": "men", "princess": "princesses", "box": "boxes", "fox": "foxes"}
ODD_PLURALS |= {"mouse": "mice", "shelf": "shelves"}
PLURALS = {word: ODD_PLURALS.get(word, word + "s") for word in PEOPLE + THINGS + ANIMALS + SPOTS}


def _pairs(written: str) -> list[tuple[str, str]]:
    return [(left, right) for left, _, right in (pair.partition("/") for pair in written.split())]


OPPOSITES = _pairs(
    "hot/cold big/small happy/sad old/young fast/slow light/dark good/bad high/low rich/poor wet/dry hard/soft "
    "full/empty loud/quiet clean/dirty strong/weak near/far long/short early/late"
)
CAPITALS = _pairs(
    "france/paris italy/rome spain/madrid england/london germany/berlin japan/tokyo egypt/cairo greece/athens "
    "russia/moscow china/beijing cuba/havana kenya/nairobi"
)
PAST = _pairs(
    "walk/walked see/saw run/ran sing/sang sleep/slept give/gave go/went eat/ate drink/drank find/found lose/lost "
    "make/made come/came take/took"
)
ADJECTIVES = [word for pair in OPPOSITES for word in pair if word not in ("near", "far")]

DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = (
    "january february march april may june july august september october november december"
).split()  # fmt: skip
NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
ROWS = {"days": DAYS, "months": MONTHS, "numbers": NUMBERS, "ordinals": ORDINALS}

OTHER = (
    "the a to and of in on at is was are were it he she they his her their you with near under behind who what where "
    "does has have had when after then that said not very went met gave handed passed sent showed lost found dropped "
    "took liked looked saw played together one day once there called little home end thank hello opposite comes smile "
    "smiles run runs sing sings sleep sleeps wait waits lunch"
).split()
SIGNS = [".", ",", "?", ":", '"', "(", ")", "[", "]", "{", "}"]

START, UNKNOWN = "<s>", "[UNK]"
SPARE = [f"[{number}]" for number in range(1, 9)]
"""Words that stand for any word: in some documents each replaces one, so that a word never seen can take its place."""

VOCABULARY = list(
    dict.fromkeys(
        [START, UNKNOWN, *SPARE, *SIGNS, *OTHER, *NAMES, *PLURALS, *PLURALS.values(), *PLACES, *COLOURS]
        + [word for pair in OPPOSITES + CAPITALS + PAST for word in pair]
        + [word for row in ROWS.values() for word in row]
    )
)
NUMBER = {word: number for number, word in enumerate(VOCABULARY)}
REPLACED = {*PLURALS, *PLACES, *COLOURS, *NAMES}
"""The words that a spare one may replace."""

LISTED = [*PLURALS, *COLOURS, *PLACES, *NAMES, *(word for pair in OPPOSITES + CAPITALS + PAST for word in pair)]
"""The words that lists are made of."""
