"""Hypothesis strategies for graphs: names that are hard to read, triples of every shape.

Not imported by `reasoner.testing` itself, since Hypothesis is needed for development only.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from reasoner.kg.graph import KnowledgeGraph
from reasoner.kg.manifest import Manifest
from reasoner.kg.store import open_store

Triple = tuple[str, str, str]

#: What a table of triples turns into one blank inside the name of an entity.
_BLANKS = re.compile("[_\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_LONGEST = 300

#: Texts that have a meaning somewhere between a file, a prompt, a model and a terminal.
TRAPS = (
    # control tokens, delimiters and citations
    "<search>", "</search>", "<|im_end|>", "</s>", "[INST]", "<think>", "[T1]", "T0", "[T0] [T1]",
    # slots, joints and separators
    "{h}", "{t}", "{h} {t}", "{{h}}", "{question}", "->", "a -> b", "a and b", "a, b and c", " and ",
    "|", "||", "#", '"', "'x", 'say "x"', "a\\tb", "$(x)", "%s", "../x", "NaN", "null", "0", "head",
    # blanks that a table cannot hold as they are
    "a\tb", "a\nb", "a\r\nb", "a_b", "  a  b ", "a\u2028b", "a\xa0b",
    # scripts, look-alikes, and characters that are not seen
    "\u982d\u75db", "\u7247\u982d\u75db", "\u0635\u062f\u0627\u0639", "\u05db\u05d0\u05d1",
    "\u0939\u093f\u0928\u094d\u0926\u0940", "caf\xe9", "cafe\u0301", "Stra\xdfe", "STRASSE",
    "\u0391spirin", "\u0430spirin", "Aspirin", "aspirin", "\uff21\uff22", "\ufb01brosis", "\u0130x",
    "\u202eabc", "a\u200bb", "a\u00adb", "\ufeffa", "\x1b[2J", "a\x00b", "\x07",
    "\U0001f48a", "\U0001f469\u200d\u2695\ufe0f", "\u2460", "x\xb2", "\xbd",
)  # fmt: skip


def clean(name: str) -> str:
    """Return a name as a table of triples holds it: underscores and line ends are blanks.

    Examples
    --------
    >>> clean(" neck__pain ")
    'neck pain'
    """
    return _BLANKS.sub(" ", name).strip(" ")


@st.composite
def names(draw: st.DrawFn) -> str:
    """Return names of entities, from plain to hostile, as a table holds them.

    They are not empty, `clean` leaves them as they are, and they shrink to ``a``.
    """
    return draw(_NAMES)


_PLAIN = st.text("abc -", min_size=1, max_size=6)
_TRAP = st.sampled_from(TRAPS)
_NAMES = (
    st.one_of(
        _PLAIN,
        _TRAP,
        st.builds("{}{}{}".format, _PLAIN, _TRAP, _PLAIN),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
        st.sampled_from(["ab " * (_LONGEST // 3), "\u75db" * _LONGEST, "x" * _LONGEST]),
    )
    .map(clean)
    .filter(bool)
)


@st.composite
def triples(
    draw: st.DrawFn,
    *,
    nodes: st.SearchStrategy[str] | None = None,
    relations: Sequence[str] = ("r", "s", "t"),
    min_size: int = 1,
    max_size: int = 24,
) -> list[Triple]:
    """Return lists of (head, relation, tail) in shapes that graphs take.

    Edges between the same two nodes, loops and repeated rows occur in every shape that has room
    for them: any graph, one between two nodes, a hub, two layers, two parts without a bridge.

    Parameters
    ----------
    nodes
        Names of entities, by default the letters ``a`` to ``h``; at most eight are drawn.
    relations
        The relations that occur.
    min_size, max_size
        How many rows; a graph's file holds at least one, so 0 is for operators on nothing.
    """
    letters = st.sampled_from("abcdefgh")
    held = draw(st.lists(letters if nodes is None else nodes, min_size=2, max_size=8, unique=True))
    half = len(held) // 2
    every, left, right = (st.sampled_from(part) for part in (held, held[:half], held[half:]))
    hub, relation = st.just(held[0]), st.sampled_from(relations)
    shapes: dict[str, st.SearchStrategy[Triple]] = {
        "any": st.tuples(every, relation, every),
        "pair": st.tuples(st.sampled_from(held[:2]), relation, st.sampled_from(held[:2])),
        "hub": st.tuples(hub, relation, every) | st.tuples(every, relation, hub),
        "layers": st.tuples(left, relation, right),
        "parts": st.tuples(left, relation, left) | st.tuples(right, relation, right),
    }
    edge = shapes[draw(st.sampled_from(list(shapes)))]
    # Lists are short by themselves; every other graph is one in which much is connected.
    least = draw(st.sampled_from([min_size, max(min_size, max_size // 2)]))
    return draw(st.lists(edge, min_size=least, max_size=max_size))


def graph_of(
    rows: Sequence[Triple],
    folder: Path,
    manifest: Manifest | None = None,
    *,
    weights: Sequence[float] | None = None,
    strengths: Sequence[float] | None = None,
) -> KnowledgeGraph:
    """Write triples to a file, compile it, and return the graph.

    Parameters
    ----------
    rows
        At least one triple, with names that `clean` leaves as they are.
    folder
        Where ``triples.tsv`` is written and ``cache`` is kept; it may be used again and again.
    manifest
        What ``kg.yaml`` would say.
    weights, strengths
        One number for each row, as further columns of the file.
    """
    columns: list[tuple[str, Sequence[object]]] = [
        (name, [row[i] for row in rows]) for i, name in enumerate(("head", "relation", "tail"))
    ]
    columns += [
        (name, values)
        for name, values in (("weight", weights), ("strength", strengths))
        if values is not None
    ]
    lines = ["\t".join(name for name, _ in columns)]
    lines += [
        "\t".join(str(cell) for cell in cells)
        for cells in zip(*(values for _, values in columns), strict=True)
    ]
    file = folder / "triples.tsv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return KnowledgeGraph(open_store("test", file, None, manifest or Manifest(), folder / "cache"))
