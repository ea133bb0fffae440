"""Tables of triples in common formats to a graph folder."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reasoner.errors import GraphError, did_you_mean

_WORDS = (
    ("head", "subject", "source", "from", "h", "s"),
    ("relation", "predicate", "label", "edge", "type", "r", "p"),
    ("tail", "object", "target", "to", "t", "o"),
)
_NAMES = ("head", "relation", "tail")


@dataclass(frozen=True, slots=True)
class Report:
    """What an import kept, and what it left out and why."""

    kept: int
    dropped: dict[str, int]


def import_triples(file: Path, out: Path, columns: str | None) -> Report:
    """Write ``triples.tsv`` and a first ``kg.yaml`` to a new folder.

    Parameters
    ----------
    file
        ``.tsv``, ``.csv``, ``.parquet``, ``.jsonl`` or ``.ndjson``.
    out
        A folder that does not hold a graph yet.
    columns
        Three column names or 1-based numbers, with commas; none means to look for usual names.

    Raises
    ------
    GraphError
        If the file cannot be read, a column is not there, or the folder holds a graph already.
    """
    if str(out) in {"", "."}:
        raise GraphError("--out names the folder to make; it must not be this one")
    if (out / "triples.tsv").exists() or (out / "kg.yaml").exists():
        raise GraphError(f"{out} holds a graph already; choose another folder")
    frame = _table(file, columns)
    try:
        clean = frame.select(
            pl.col(c).cast(pl.String).str.replace_all(r"\s+", " ").str.strip_chars() for c in _NAMES
        )
    except pl.exceptions.PolarsError as error:
        raise GraphError(
            f"{file}: a column holds no plain text: {str(error).splitlines()[0]}"
        ) from error
    full = clean.drop_nulls().filter(pl.all_horizontal(pl.all().str.len_chars() > 0))
    unique = full.unique(maintain_order=True)
    if unique.is_empty():
        raise GraphError(f"{file}: no row has a head, a relation and a tail")
    relations = unique["relation"].unique(maintain_order=True).to_list()
    try:
        out.mkdir(parents=True, exist_ok=True)
        unique.write_csv(out / "triples.tsv", separator="\t", quote_style="never")
        (out / "kg.yaml").write_text(_manifest(out.name, relations), encoding="utf-8")
    except OSError as error:
        raise GraphError(f"{out}: {error.strerror}") from error
    return Report(
        unique.height,
        {
            "rows with an empty cell": frame.height - full.height,
            "repeated triples": full.height - unique.height,
        },
    )


def _table(file: Path, columns: str | None) -> pl.DataFrame:
    if not file.is_file():
        raise GraphError(f"{file}: no such file")
    try:
        match file.suffix.lower():
            case ".tsv" | ".txt" | ".csv" as suffix:
                separator = "," if suffix == ".csv" else "\t"
                quote = '"' if suffix == ".csv" else None
                header = _has_header(file, separator, columns)
                frame = pl.read_csv(
                    file, separator=separator, has_header=header, quote_char=quote,
                    infer_schema=False, truncate_ragged_lines=True,
                )  # fmt: skip
            case ".parquet":
                frame = pl.read_parquet(file)
            case ".jsonl" | ".ndjson":
                frame = pl.read_ndjson(file, infer_schema_length=None)
            case other:
                raise GraphError(
                    f"{file}: {other or 'no suffix'} is none of .tsv .csv .parquet .jsonl"
                )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise GraphError(f"{file}: {str(error).splitlines()[0]}") from error
    names = _columns(file, frame, columns)
    return frame.select(pl.col(n).alias(a) for n, a in zip(names, _NAMES, strict=True))


def _has_header(file: Path, separator: str, columns: str | None) -> bool:
    if columns is not None:
        return not all(c.strip().isdigit() for c in columns.split(","))
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        first = [c.strip().strip('"').lower() for c in next(lines, "").split(separator)]
    return all(any(w in first for w in words) for words in _WORDS)


def _columns(file: Path, frame: pl.DataFrame, columns: str | None) -> list[str]:
    lowered = {c.strip().lower(): c for c in frame.columns}
    if columns is None:
        found = [next((lowered[w] for w in words if w in lowered), None) for words in _WORDS]
        if all(found):
            return [str(c) for c in found]
        if len(frame.columns) == len(_NAMES):
            return frame.columns
        raise GraphError(
            f"{file}: which columns are head, relation and tail? add --columns A,B,C; "
            f"there are: {', '.join(frame.columns[:20])}"
        )
    wanted = [c.strip() for c in columns.split(",")]
    if len(set(wanted)) < len(wanted):
        raise GraphError(f"--columns names a column twice: {columns}")
    if len(wanted) != len(_NAMES):
        raise GraphError(f"--columns takes three columns (head,relation,tail), not {len(wanted)}")
    chosen = []
    for name in wanted:
        if name.isdigit() and 0 < int(name) <= len(frame.columns):
            chosen.append(frame.columns[int(name) - 1])
        elif name in frame.columns:
            chosen.append(name)
        else:
            hint = did_you_mean(name, frame.columns)
            raise GraphError(f"{file}: no column {name!r}; {hint}".rstrip("; "))
    return chosen


def _manifest(name: str, relations: list[str]) -> str:
    lines = [f"name: {_quoted(name)}", "relations:"]
    lines += [f"  {_quoted(r)}: {{}}" for r in relations]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
