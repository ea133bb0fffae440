"""Values to prompt text, in a stable order, with data kept apart from instructions.

Names, passages and replies are data: they reach a prompt inside marked blocks, on one line,
with the characters that could open a tag, forge a citation or start a control token made
harmless. The record keeps them as they are.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from reasoner.harmless import harmless, is_plain
from reasoner.op import Graph
from reasoner.plan import PromptPlan, exact
from reasoner.template import Hole, Stray, pieces
from reasoner.values import (
    Answer,
    Chain,
    ChainStatus,
    Conflict,
    Evidence,
    Findings,
    Linked,
    TripleId,
    triple_label,
)  # fmt: skip


@lru_cache(maxsize=256)
def _pieces(text: str) -> tuple[str | Hole | Stray, ...]:
    return tuple(pieces(text))


def fill(prompt: PromptPlan, values: Mapping[str, object], graph: Graph) -> str:
    """Return the text of a prompt with its holes filled; filled text is never read again."""
    out: list[str] = []
    for piece in _pieces(prompt.text):
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, Hole):
            out.append(show(values[piece.name], graph))
    return "".join(out)


def show(value: object, graph: Graph) -> str:
    """Return any value as the text that a model reads."""
    match value:
        case str():
            return _text(value)
        case bool():
            return "yes" if value else "no"
        case Evidence():
            return evidence(value, graph)
        case Findings():
            return findings(value, graph)
        case Chain():
            return _chain(1, value)
        case Answer():
            return answer(value)
        case Linked():
            return harmless(value.entity.name if value.entity else value.mention)
        case list() | tuple():
            return "\n".join(f"{i}. {show(v, graph)}" for i, v in enumerate(value, start=1))
        case None:
            return ""
        case _:
            try:
                return exact(value)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                return harmless(str(value))


def _text(text: str) -> str:
    """Return free text: lines are kept, tags and control tokens are not."""
    if is_plain(text):
        return text
    return "\n".join(harmless(line, None) for line in text.splitlines())


def evidence(found: Evidence, graph: Graph) -> str:
    """Return evidence as a block of numbered sentences."""
    return f"<evidence>\n{sentences(found, graph) or '(none)'}\n</evidence>"


def sentences(found: Evidence, graph: Graph) -> str:
    """Return one line per path, and per triple that is on no path."""
    on_path = {t for path in found.paths for t in path}
    lines = [f"path: {'; '.join(_sentence(t, graph) for t in path)}" for path in found.paths]
    lines += [_sentence(t, graph) for t in found.triples if t not in on_path]
    return "\n".join(lines)


def _sentence(triple: TripleId, graph: Graph) -> str:
    return f"[{triple_label(triple)}] {harmless(graph.sentence(triple))}."


def findings(value: Findings, graph: Graph) -> str:
    """Return chains with their partial answers, the conflicts, and all evidence once."""
    parts = [_chain(i, c) for i, c in enumerate(value.chains, start=1)]
    if value.conflicts:
        lines = [_conflict(c, graph) for c in value.conflicts]
        parts.append("<conflicts>\n" + "\n".join(lines) + "\n</conflicts>")
    parts.append(evidence(value.evidence, graph))
    return "\n".join(parts)


_CHECKED = re.compile("\\[\u200b(T\\d+(?:, T\\d+)*)\\]")


def answer(value: Answer) -> str:
    """Return the text of an answer; its citations, which were checked, stay readable."""
    return _CHECKED.sub(r"[\1]", _text(value.text))


def _chain(number: int, chain: Chain) -> str:
    body = answer(chain.answer) if chain.status is ChainStatus.COMPLETED else "(no answer)"
    return f'<chain number="{number}">\nquestion: {harmless(chain.question)}\n{body}\n</chain>'


def _conflict(conflict: Conflict, graph: Graph) -> str:
    kept, dropped = conflict.kept.triple, conflict.dropped.triple
    return (
        f"{_sentence(kept, graph)} contradicts {_sentence(dropped, graph)} "
        f"Kept {triple_label(kept)} (support {len(conflict.support_kept)} against "
        f"{len(conflict.support_dropped)}, decided by {conflict.decided_by})."
    )


def no_match(missed: Sequence[Linked]) -> str:
    """Return the notice that names linked to no entity."""
    lines = []
    for m in missed:
        near = f" (the nearest name is {harmless(m.nearest)})" if m.nearest else ""
        lines.append(f"no entity matches '{harmless(m.mention)}'{near}; try another name")
    return "\n".join(lines)


def observation(found: Evidence, graph: Graph) -> str:
    """Return what a search found, as a model reads it."""
    lines = [line for line in (sentences(found, graph), no_match(found.missed)) if line]
    if found.truncated:
        lines.append(f"({found.truncated} more not shown)")
    return "\n".join(lines) or "nothing was found"
