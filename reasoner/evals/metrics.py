"""Scores of one answer against its gold, each in [0, 1], and their intervals."""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence

from reasoner.errors import UsageError, did_you_mean
from reasoner.evals.dataset import Row
from reasoner.record import AuditRecord

#: None means that the metric does not apply to the row.
Metric = Callable[[Row, AuditRecord], float | None]

_HIT = re.compile(r"hit@(\d+)")


def folded(text: str) -> str:
    """Return a text for comparison: NFKC, lower case, words only, one blank between them."""
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def hit_at(k: int) -> Metric:
    """Return the metric: 1 if one of the first ``k`` candidates is an accepted answer."""

    def metric(row: Row, record: AuditRecord) -> float | None:
        accepted = {folded(g) for g in row.gold}
        names = [folded(c.name) for c in record.candidates[:k]]
        return float(any(n in accepted for n in names)) if accepted else None

    return metric


def named(row: Row, record: AuditRecord) -> float | None:
    """Return the share of the row's ``facts`` (a list of names) that the answer's text names."""
    facts = row.fields.get("facts")
    if not isinstance(facts, list) or not facts:
        return None
    text = f" {folded(record.answer)} "
    return sum(f" {folded(str(f))} " in text for f in facts) / len(facts)


def answered(row: Row, record: AuditRecord) -> float | None:
    """Return 1 if the run ended with an answer, whole or partial."""
    del row
    return float(record.outcome != "failed")


def metric(name: str) -> Metric:
    """Return a metric by name.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if (found := _HIT.fullmatch(name)) and 1 <= int(found.group(1)) <= 1000:
        return hit_at(int(found.group(1)))
    known: dict[str, Metric] = {"named": named, "answered": answered}
    if name not in known:
        names = ["hit@1", "hit@5", *known]
        hint = did_you_mean(name, names) or f"there are: hit@K, {', '.join(known)}"
        raise UsageError(f"no metric {name!r}; {hint}")
    return known[name]


def wilson(successes: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95% Wilson interval of a share.

    Examples
    --------
    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.49, 0.943]
    """
    if n == 0:
        return (0.0, 1.0)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return ((centre - half) / scale, (centre + half) / scale)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; 0 for no values."""
    return math.fsum(values) / len(values) if values else 0.0
