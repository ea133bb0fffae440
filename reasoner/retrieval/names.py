"""Names in a form in which spellings of one name are equal."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4096)
def _in_word(char: str) -> bool:
    """Say whether a character belongs to a word: letters, digits, and the marks that go on them."""
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def folded(text: str) -> str:
    """Return a text in compatibility form, without case, with single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=200_000)
def normalize(name: str) -> str:
    """Return a name folded: compatibility form, no case, marks kept, punctuation as blanks.

    Examples
    --------
    >>> normalize("  Crohn's_Disease (acute)")
    'crohn s disease acute'
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    words_only = "".join(c if _in_word(c) else " " for c in text)
    return " ".join(words_only.split()) or text.strip()


def words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text, folded, with where each stands.

    Examples
    --------
    >>> words("Neck pain?")
    [('neck', 0, 4), ('pain', 5, 9)]
    """
    found: list[tuple[str, int, int]] = []
    start = -1
    for index, char in enumerate(f"{text} "):
        if _in_word(char) and index < len(text):
            start = index if start < 0 else start
        elif start >= 0:
            found += [(word, start, index) for word in normalize(text[start:index]).split()]
            start = -1
    return found


def stem(word: str) -> str:
    """Return an English word without its plural ending; singular and plural give one form.

    The form need not be a word: ``headache`` and ``headaches`` both give ``headach``.

    Examples
    --------
    >>> stem("attacks"), stem("allergies"), stem("diagnosis"), stem("rashes"), stem("glass")
    ('attack', 'allergy', 'diagnosis', 'rash', 'glass')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "sses", "zzes", "uses")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 4 and word.endswith("ie"):
        return word[:-2] + "y"
    return word[:-1] if len(word) > 4 and word.endswith("e") else word
