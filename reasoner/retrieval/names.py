"""Names in a form in which spellings of one name are equal."""

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+", re.UNICODE)


@lru_cache(maxsize=200_000)
def normalize(name: str) -> str:
    """Return a name folded: NFKC, case, accents kept, punctuation and underscores as blanks.

    Examples
    --------
    >>> normalize("  Crohn's_Disease (acute)")
    'crohn s disease acute'
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    words = _WORD.findall(folded)
    return " ".join(words) if words else folded.strip()


def words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text, folded, with where each stands.

    Examples
    --------
    >>> words("Neck pain?")
    [('neck', 0, 4), ('pain', 5, 9)]
    """
    return [(m.group().casefold(), m.start(), m.end()) for m in _WORD.finditer(text)]


def stem(word: str) -> str:
    """Return an English word without its plural ending; other words stay what they are.

    Examples
    --------
    >>> stem("attacks"), stem("allergies"), stem("diagnosis"), stem("glass")
    ('attack', 'allergy', 'diagnosis', 'glass')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
