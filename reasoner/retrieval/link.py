"""Linking mentions to the names of a graph: exact, then lexical, then by embedding."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA, Levenshtein

from reasoner.op import Similarity
from reasoner.retrieval.names import folded, normalize, stem, words
from reasoner.values import Entity, EntityId, Linked, LinkMethod

#: The least Levenshtein similarity of two normalised names that may be one name misspelt.
LEXICAL = 0.8
#: Shortest word in which one wrong letter is a misspelling: in shorter ones it is another word.
LONG_WORD = 5
#: Most names that are looked at for a misspelling.
SUSPECTS = 8
#: Longest name, in words, that is looked for inside a text.
MAX_WORDS = 10


class Vectors(Protocol):
    """The part of an embedder that linking uses."""

    async def vectors(self, texts: Sequence[str]) -> Any:
        """Return one unit vector per text: float32, shape ``(len(texts), dim)``."""
        ...


class NameLinker:
    """Links to the entities of one graph.

    Parameters
    ----------
    names
        The name of each entity, by id.
    aliases
        Further names, with the id of the entity that each stands for.
    embedder
        Embeds mentions.
    matrix
        Gives the vectors of ``names``: float32, shape ``(n, dim)``, rows of unit length.
    """

    def __init__(
        self,
        names: Sequence[str],
        aliases: Sequence[tuple[str, int]],
        embedder: Vectors,
        matrix: Callable[[], Awaitable[Any]],
    ) -> None:
        self._names, self._aliases = names, aliases
        self._embedder, self._matrix = embedder, matrix

    @cached_property
    def _exact(self) -> Mapping[str, int]:
        """Normalised name -> id; an entity's own name wins over an alias, the lower id over both."""
        table: dict[str, int] = {}
        for index, name in enumerate(self._names):
            table.setdefault(normalize(name), index)
        for alias, index in self._aliases:
            table.setdefault(normalize(alias), index)
        return table

    @cached_property
    def _verbatim(self) -> Mapping[str, int]:
        """Names as they stand, but for case and blanks -> id: "C" and "C++" are two names."""
        table: dict[str, int] = {}
        for index, name in enumerate(self._names):
            table.setdefault(folded(name) or name, index)
        return table

    @cached_property
    def _stems(self) -> Mapping[tuple[str, ...], int]:
        """Names as stemmed words -> id, for looking inside a text."""
        table: dict[tuple[str, ...], int] = {}
        for name, index in self._exact.items():
            key = tuple(stem(w) for w in name.split())
            if 0 < len(key) <= MAX_WORDS:
                table.setdefault(key, index)
        return table

    async def link(self, mentions: Sequence[str], *, tau: float, sim: Similarity) -> list[Linked]:
        """Link each mention, in order; those without a literal match are embedded together."""
        found: dict[str, Linked] = {}
        for mention in dict.fromkeys(mentions):
            if (hit := self._literal(mention)) is not None:
                found[mention] = hit
        left = [m for m in dict.fromkeys(mentions) if m not in found]
        if left and self._names:
            matrix = await self._matrix()
            scores = (await self._embedder.vectors(left)) @ matrix.T
            for mention, row in zip(left, scores, strict=True):
                found[mention] = self._nearest_of(mention, row, tau, sim)
        return [found.get(m) or Linked(m, None, 0.0, LinkMethod.NONE) for m in mentions]

    async def names_in(self, text: str) -> list[Linked]:
        """Return the entities named in a text, longest names first where they overlap."""
        tokens = words(text)
        stems = [stem(w) for w, _, _ in tokens]
        found: list[Linked] = []
        at = 0
        while at < len(tokens):
            for length in range(min(MAX_WORDS, len(tokens) - at), 0, -1):
                index = self._stems.get(tuple(stems[at : at + length]))
                if index is not None:
                    mention = text[tokens[at][1] : tokens[at + length - 1][2]]
                    found.append(Linked(mention, self._entity(index), 1.0, LinkMethod.EXACT))
                    at += length
                    break
            else:
                at += 1
        return found

    async def nearest(self, text: str, limit: int) -> list[Linked]:
        """Return the entities with the most similar names, by cosine and then by id."""
        if not self._names:
            return []
        row = (await self._embedder.vectors([text]))[0] @ (await self._matrix()).T
        scores = np.round(row, 6)
        best = np.lexsort((np.arange(len(scores)), -scores))[:limit]
        return [
            Linked(text, self._entity(int(i)), float(scores[i]), LinkMethod.EMBEDDING) for i in best
        ]

    def _literal(self, mention: str) -> Linked | None:
        key = normalize(mention)
        index = self._verbatim.get(folded(mention) or mention, self._exact.get(key))
        if index is not None:
            return Linked(mention, self._entity(index), 1.0, LinkMethod.EXACT)
        if not key:
            return None
        suspects = process.extract(
            key,
            self._exact.keys(),
            scorer=Levenshtein.normalized_similarity,
            score_cutoff=LEXICAL,
            limit=SUSPECTS,
        )
        for name, score, _ in suspects:
            if misspelt(key, name):
                entity = self._entity(self._exact[name])
                near = round(float(score), 6)
                return Linked(mention, entity, near, LinkMethod.LEXICAL, entity.name)
        return None

    def _nearest_of(self, mention: str, row: Any, tau: float, sim: Similarity) -> Linked:
        index = int(np.argmax(np.round(row, 6)))
        cosine = round(float(row[index]), 6)
        score = cosine if sim == "cosine" else (1 + cosine) / 2
        entity = self._entity(index)
        if score < tau:
            return Linked(mention, None, score, LinkMethod.NONE, entity.name)
        return Linked(mention, entity, score, LinkMethod.EMBEDDING, entity.name)

    def _entity(self, index: int) -> Entity:
        return Entity(EntityId(index), self._names[index])


def misspelt(one: str, other: str) -> bool:
    """Say whether two normalised names are one name with a slip in one of its longer words.

    Word for word they are equal up to the plural, but for at most one word of five letters or more
    in which one letter is wrong, missing, added or two are swapped, and not the first. So
    "type 1" and "type 2", "hepatitis B" and "hepatitis D", "symptomatic" and "asymptomatic" stay
    apart; what differs by more is for the embedder to say.
    """
    mine, theirs = one.split(), other.split()
    if len(mine) != len(theirs):
        return False
    pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if stem(a) != stem(b)]
    if len(pairs) > 1:
        return False
    return all(
        max(len(a), len(b)) >= LONG_WORD
        and a[0] == b[0]
        and not any(c.isdigit() for c in a + b)
        and OSA.distance(a, b) <= 1
        for a, b in pairs
    )
