"""The tables of a graph, and reading them from files. Frames are checked when they enter."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reasoner.errors import GraphError

#: ``head``, ``tail`` are rows of the entities table, ``relation`` a row of the relations table;
#: the row of a triple is its id.
TRIPLES: dict[str, Any] = {
    "head": pl.Int32,
    "relation": pl.Int32,
    "tail": pl.Int32,
    "weight": pl.Float64,
    "strength": pl.Float64,
}
ENTITIES: dict[str, Any] = {"name": pl.String, "kind": pl.String, "aliases": pl.List(pl.String)}

_HEADERS = ({"head", "relation", "tail"}, {"subject", "predicate", "object"})
_COLUMNS = {"subject": "head", "predicate": "relation", "object": "tail"}
MAX_NAME = 2_000


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many rows of a source were left out, and why."""

    empty_cell: int = 0
    duplicate: int = 0


def read_triples(path: Path) -> tuple[pl.DataFrame, Dropped]:
    """Read a TSV of head, relation, tail (and optional ``weight``, ``strength`` columns).

    A first line that names the columns is a header. Cells are stripped, underscores of entity
    names become blanks, rows with an empty cell and repeated triples are dropped and counted.

    Returns
    -------
    polars.DataFrame
        Columns ``head: str, relation: str, tail: str, weight: f64, strength: f64 | null`` in
        the order of the file.

    Raises
    ------
    GraphError
        If the file cannot be read, or has fewer than three columns.
    """
    first = _first_line(path).split("\t")
    names = [c.strip().lower() for c in first]
    header = any(wanted <= set(names) for wanted in _HEADERS)
    if not header and len(first) < 3:
        raise GraphError(
            f"{path}: expected three columns separated by tabs (head, relation, tail), "
            f"found {len(first)} in the first line"
        )
    frame = _read(path, header=header)
    if header:
        frame = _renamed(path, frame)
    else:
        frame = frame.select(frame.columns[:3]).rename(
            dict(zip(frame.columns[:3], ("head", "relation", "tail"), strict=True))
        )
    frame = frame.select(
        _name("head"),
        pl.col("relation").str.strip_chars(),
        _name("tail"),
        _number(frame, "weight").fill_null(1.0),
        _number(frame, "strength"),
    )
    keys = ["head", "relation", "tail"]
    full = frame.drop_nulls(keys).filter(pl.all_horizontal(pl.col(keys).str.len_chars() > 0))
    unique = full.unique(keys, keep="first", maintain_order=True)
    if unique.is_empty():
        raise GraphError(f"{path}: the file holds no triple (head, relation, tail)")
    return unique, Dropped(frame.height - full.height, full.height - unique.height)


def read_entities(path: Path) -> pl.DataFrame:
    """Read a TSV with a header ``name`` and optional ``kind`` and ``aliases`` (``a|b``).

    Returns
    -------
    polars.DataFrame
        Columns of `ENTITIES`, one row per name, in the order of the file.
    """
    frame = _read(path, header=True)
    frame = _renamed(path, frame)
    if "name" not in frame.columns:
        raise GraphError(f"{path}: the first line must name the columns: name, kind, aliases")
    for column in ("kind", "aliases"):
        if column not in frame.columns:
            frame = frame.with_columns(pl.lit("").alias(column))
    aliases = pl.col("aliases").fill_null("").str.split("|")
    return (
        frame.select(
            _name("name"),
            pl.col("kind").fill_null("").str.strip_chars(),
            aliases.list.eval(pl.element().str.strip_chars()).list.eval(
                pl.element().filter(pl.element() != "")
            ),
        )
        .filter(pl.col("name").str.len_chars() > 0)
        .unique("name", keep="first", maintain_order=True)
    )


def _renamed(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with its columns by their usual names; a name that occurs twice is refused."""
    names = [c.strip().lower() for c in frame.columns]
    names = [_COLUMNS.get(n, n) for n in names]
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise GraphError(f"{path}: two columns are named {twice!r}")
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _name(column: str) -> pl.Expr:
    clean = pl.col(column).str.replace_all("_", " ").str.replace_all(r"\s+", " ")
    return clean.str.strip_chars().str.slice(0, MAX_NAME).str.strip_chars().alias(column)


def _number(frame: pl.DataFrame, column: str) -> pl.Expr:
    if column not in frame.columns:
        return pl.lit(None, dtype=pl.Float64).alias(column)
    return (
        pl.col(column).str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None).alias(column)
    )


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for line in lines:
                if line.strip():
                    return line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "the file is not UTF-8 text"
        raise GraphError(f"{path}: {reason}") from error
    raise GraphError(f"{path}: the file is empty")


def _blank_lines(path: Path) -> int:
    """Return how many lines stand before the first one that says something."""
    with path.open("rb") as lines:
        return next((i for i, line in enumerate(lines) if line.strip(b"\xef\xbb\xbf \t\r\n")), 0)


def _read(path: Path, *, header: bool) -> pl.DataFrame:
    try:
        return pl.read_csv(
            path,
            separator="\t",
            has_header=header,
            quote_char=None,
            infer_schema=False,
            truncate_ragged_lines=True,
            skip_lines=_blank_lines(path),
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GraphError(f"{path}: {str(error).splitlines()[0]}") from error
