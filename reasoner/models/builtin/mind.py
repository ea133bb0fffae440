"""What the builtin engine perceives: the phrases of a question and the names that they may mean."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reasoner.op import Embedder, Graph, Linker

#: Temperature of a clause's distribution over names, on the scale of a cosine.
TEMPERATURE = 0.06
#: The least likeness of a name to a question, or to one of its clauses, for the graph to have
#: anything to say: unrelated texts lie below it.
UNLIKE = 0.4
#: Names that are considered for each clause.
READINGS = 30
#: Most characters of a question that are read, and most clauses.
MAX_TEXT = 4_000
MAX_CLAUSES = 24

_BREAK = re.compile(
    r"[.!?;:,()\n]+|\b(?:and|but|or|also|along with|as well as|because|plus|while|when|since"
    r"|especially|like|with|additionally|on top of that|that)\b",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"[.!?;,\n]+")
_ASKS = frozenset(("what", "which", "who", "whom", "whose", "where", "when", "how", "name", "list"))
_FUNCTION_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been being but by can could
    d did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its just ll m may me might more most my no nor not now of off on
    once only or other our out over own re s same she should so some such t than that the their them
    then there these they this those through to too under until up ve very was we were what when
    where which while who whom why will with would you your yours""".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"[^\W_]+", text.lower())


def phrase(text: str) -> str:
    """Return the words of a text with one blank around each."""
    return f" {' '.join(words(text))} "


def clauses(text: str) -> list[str]:
    """Return the parts of a text between punctuation and joining words that say something."""
    parts = (part.strip() for part in _BREAK.split(text[:MAX_TEXT]))
    telling = [p for p in parts if not _FUNCTION_WORDS.issuperset(words(p))]
    return list(dict.fromkeys(telling))[:MAX_CLAUSES]


def without(text: str, mentions: Iterable[str]) -> str:
    """Return the words of a text that belong to none of the mentions."""
    left = phrase(text)
    for mention in mentions:
        left = left.replace(phrase(mention), " ")
    return left.strip()


_PART = re.compile(r'About "([^"]{1,400})": (.+)', re.DOTALL)


def part(clause: str, question: str) -> str:
    """Return the sub-question about one clause of a question; it can be understood alone."""
    return f'About "{clause.replace(chr(34), chr(39))}": {question}'


def split_part(question: str) -> tuple[str, str]:
    """Return what a question is about, and the whole question that it is part of.

    Examples
    --------
    >>> split_part('About "gout": I have gout. What helps?')
    ('gout', 'I have gout. What helps?')
    >>> split_part("What helps?")
    ('What helps?', 'What helps?')
    """
    found = _PART.fullmatch(question.strip())
    return (found.group(1), found.group(2)) if found else (question, question)


@dataclass(frozen=True, slots=True)
class Mind:
    """The senses of the engine: names of the graph, and likeness of texts."""

    graph: Graph
    linker: Linker
    embedder: Embedder

    async def cosine(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the likeness of a text to each of the others."""
        return await self.embedder.similarity(text, others)

    async def near(self, text: str) -> list[str]:
        """Return the names that are most like a text, best first."""
        return [n.entity.name for n in await self.linker.nearest(text, READINGS) if n.entity]

    async def named(self, text: str) -> dict[str, str]:
        """Return the names that a text says word for word, each with its wording, in order."""
        found = await self.linker.names_in(text[:MAX_TEXT])
        return {n.entity.name: n.mention for n in found if n.entity}

    async def units(self, text: str) -> list[str]:
        """Return the clauses of a text; one that names several entities falls apart into them."""
        found: list[str] = []
        for clause in clauses(text):
            named = await self.named(clause)
            if len(named) < 2:
                found.append(clause)
            else:
                found += [*named, *clauses(without(clause, named.values()))]
        return list(dict.fromkeys(found))[:MAX_CLAUSES]

    async def speaks_to(self, question: str) -> bool:
        """Say whether the graph has any name that is like something in the question."""
        for text in dict.fromkeys([question[:MAX_TEXT], *await self.units(question)]):
            nearest = await self.linker.nearest(text, 1)
            if nearest and nearest[0].score >= UNLIKE:
                return True
        return False

    async def readings(
        self, question: str, extra: Sequence[str]
    ) -> Mapping[str, Mapping[str, float]]:
        """Return, for each clause, the probability of each name that it may mean.

        ``p(n | c) = exp(cos(c, n) / TEMPERATURE) / sum over names``, over the nearest names of
        the whole graph and those in ``extra``.
        """
        found: dict[str, dict[str, float]] = {}
        for clause in await self.units(question):
            pool = list(dict.fromkeys([*extra, *await self.near(clause)]))
            likeness = await self.cosine(clause, pool)
            top = max(likeness, default=0.0)
            raised = [math.exp((value - top) / TEMPERATURE) for value in likeness]
            total = math.fsum(raised)
            found[clause] = {n: v / total for n, v in zip(pool, raised, strict=True)}
        return found

    async def telling(self, question: str) -> list[tuple[str, str]]:
        """Return the clauses that the graph has a name for, with that name, best match first.

        A clause whose best name is less than half as like it as the best clause's is small talk.
        """
        found: list[tuple[float, str, str]] = []
        for clause in await self.units(question):
            nearest = await self.linker.nearest(clause, 1)
            if nearest and nearest[0].entity:
                found.append((nearest[0].score, clause, nearest[0].entity.name))
        found.sort(key=lambda item: -item[0])
        return [(clause, name) for score, clause, name in found if 2 * score >= found[0][0]]

    async def given(self, question: str) -> dict[str, str]:
        """Return the entities that a look-up names, with their wordings.

        Each of them stands between the same marks as a word that asks. There are none if one
        stands in a statement, for then the question describes something.
        """
        named = await self.named(question)
        for part in _STATEMENT.split(question[:MAX_TEXT]):
            said = phrase(part)
            if _ASKS.isdisjoint(words(part)) and any(phrase(m) in said for m in named.values()):
                return {}
        return named
