"""Citations: ``[T12]`` in a text to checked links between its sentences and the evidence.

An id that was not retrieved in this run is never a citation: it is taken out of the text and
reported.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reasoner.values import Answer, Candidate, Citation

_GROUP = re.compile(r"(?<![ \t])[ \t]*\[\s*([A-Z]\d+(?:\s*[,;]\s*[A-Z]?\d+)*)\s*\]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
MAX_ANSWER = 100_000


@dataclass(frozen=True, slots=True)
class Cited:
    """A text with its citations, and the ids that were cited without having been retrieved."""

    text: str
    citations: tuple[Citation, ...]
    forged: tuple[str, ...]


def check(text: str, retrieved: AbstractSet[str]) -> Cited:
    """Return a text with every citation checked against the ids that were retrieved.

    A citation covers the sentence in which it stands. Markers of forged ids are removed.
    """
    forged: dict[str, None] = {}
    marks: list[tuple[int, int, tuple[str, ...]]] = []
    out: list[str] = []
    at = length = 0
    for found in _GROUP.finditer(text[:MAX_ANSWER]):
        ids = [i.strip() for i in re.split(r"[,;]", found.group(1))]
        ids = [i if i[0].isalpha() else ids[0][0] + i for i in ids]
        good = tuple(dict.fromkeys(i for i in ids if i in retrieved))
        forged.update(dict.fromkeys(i for i in ids if i not in retrieved))
        before = text[at : found.start()]
        out.append(before)
        length += len(before)
        at = found.end()
        if not good and before.rfind("[") > before.rfind("]"):
            out.append("?")  # inside brackets: what is around it must not close to another mark
            length += 1
        if good:
            mark = f" [{', '.join(good)}]"
            out.append(mark)
            marks.append((length, length + len(mark), good))
            length += len(mark)
    out.append(text[at:MAX_ANSWER])
    clean = "".join(out)
    return Cited(clean, _by_sentence(clean, marks), tuple(forged))


def _by_sentence(text: str, marks: list[tuple[int, int, tuple[str, ...]]]) -> tuple[Citation, ...]:
    """Return one citation per sentence that holds marks, or directly precedes them."""
    bounds = [0, *(m.end() for m in _SENTENCE.finditer(text)), len(text)]
    found: dict[tuple[int, int], dict[str, None]] = {}
    for start, _, ids in marks:
        index = max(i for i, b in enumerate(bounds[:-1]) if b <= start)
        own = index
        while index and not text[bounds[index] : min(start, bounds[index + 1])].strip():
            index -= 1  # the mark stands behind the full stop of the sentence before
        if not text[bounds[index] : min(start, bounds[index + 1])].strip():
            index = own
        key = (bounds[index], bounds[index + 1])
        found.setdefault(key, {}).update(dict.fromkeys(ids))
    return tuple(
        Citation(start, start + len(text[start:end].rstrip()), tuple(ids))
        for (start, end), ids in sorted(found.items())
    )


def answer(
    text: str, retrieved: AbstractSet[str], candidates: tuple[Candidate, ...] = ()
) -> Answer:
    """Return an answer with checked citations."""
    cited = check(text.strip(), retrieved)
    return Answer(cited.text, cited.citations, candidates, rejected=cited.forged)
