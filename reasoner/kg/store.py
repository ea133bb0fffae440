"""Compiled graphs: built once from the source files, keyed by their content, then mapped."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl

from reasoner.errors import GraphError
from reasoner.kg import adjacency, tables
from reasoner.kg.manifest import Manifest, escaped, fill

#: Raised when the layout of compiled graphs changes; older ones are then built again.
FORMAT = 5


#: What reading a damaged file may raise.
_DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    BadZipFile,
    pl.exceptions.PolarsError,
)


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One relation as compiled: ``inverse`` and ``main`` are rows of the relations table."""

    name: str
    template: str
    inverse: int | None
    main: int
    strength: float
    structural: bool

    def say(self, head: str, tail: str) -> str:
        """Return the relation between two names in words."""
        return fill(self.template, head, tail)


@dataclass(frozen=True)
class Store:
    """A compiled graph: immutable tables and arrays.

    Attributes
    ----------
    entities
        Columns of `tables.ENTITIES`; the row is the entity's id.
    triples
        Columns of `tables.TRIPLES`; the row is the triple's id.
    out, into
        The triples at a node as head, and as tail.
    """

    name: str
    fingerprint: str
    folder: Path
    entities: pl.DataFrame
    triples: pl.DataFrame
    relations: tuple[RelationRow, ...]
    conflicts: frozenset[frozenset[str]]
    embedder: str | None
    dropped: tables.Dropped
    out: adjacency.Adjacency
    into: adjacency.Adjacency

    @cached_property
    def names(self) -> list[str]:
        """The names of entities by id."""
        return self.entities["name"].to_list()

    @cached_property
    def columns(self) -> tuple[Any, Any, Any]:
        """``head``, ``relation`` and ``tail`` of triples as int32 arrays of shape ``(m,)``."""
        return tuple(self.triples[c].to_numpy() for c in ("head", "relation", "tail"))  # type: ignore[return-value]

    @cached_property
    def strength(self) -> Any:
        """The causal strength of each triple: float64, shape ``(m,)``."""
        return self.triples["strength"].to_numpy()

    @cached_property
    def topology(self) -> Any:
        """All triples as a `graph_tool.Graph` with one edge each, in their order."""
        import graph_tool

        graph = graph_tool.Graph(directed=True)
        graph.add_vertex(len(self.names))
        head, _, tail = self.columns
        graph.add_edge_list(np.column_stack((head, tail)))
        return graph

    @cached_property
    def name_rank(self) -> Any:
        """The place of each entity's name among all names sorted: int32, shape ``(n,)``."""
        try:
            return np.load(self.folder / "name_rank.npy", mmap_mode="r")
        except _DAMAGE as error:
            raise _damaged(self.folder, str(error)) from error


def fingerprint(files: Sequence[Path], manifest: Manifest) -> str:
    """Return the hash that names a compiled graph: manifest, files and format."""
    digest = hashlib.sha256(f"{FORMAT}\n{manifest.model_dump_json()}\n".encode())
    for file in files:
        digest.update(f"{file.name}\n".encode())
        try:
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise GraphError(f"{file}: {error.strerror}") from error
    return digest.hexdigest()


def open_store(
    name: str, triples: Path, entities: Path | None, manifest: Manifest, cache: Path
) -> Store:
    """Return the compiled form of a graph, building it if the cache does not hold it."""
    files = [triples, *([entities] if entities else [])]
    key = fingerprint(files, manifest)
    folder = cache / key[:32]
    if not (folder / "meta.json").is_file():
        _build(folder, key, name, triples, entities, manifest)
    return replace(_load(folder), name=name)


def _build(
    folder: Path, key: str, name: str, triples: Path, entities: Path | None, manifest: Manifest
) -> None:
    raw, dropped = tables.read_triples(triples)
    declared = tables.read_entities(entities) if entities else None
    nodes = _entities(raw, declared)
    ids = {n: i for i, n in enumerate(nodes["name"].to_list())}
    labels = list(
        dict.fromkeys([*manifest.relations, *raw["relation"].unique(maintain_order=True)])
    )
    used = set(raw["relation"].to_list())
    labels = [label for label in labels if label in used]
    rank = {label: i for i, label in enumerate(labels)}
    head = raw["head"].replace_strict(ids, return_dtype=pl.Int32)
    tail = raw["tail"].replace_strict(ids, return_dtype=pl.Int32)
    relation = raw["relation"].replace_strict(rank, return_dtype=pl.Int32)
    relations = _relations(labels, manifest, head, relation, tail, len(nodes))
    defaults = np.array([r.strength for r in relations])[relation.to_numpy()]
    table = pl.DataFrame(
        {
            "head": head,
            "relation": relation,
            "tail": tail,
            "weight": raw["weight"],
            "strength": raw["strength"].fill_null(pl.Series(defaults)),
        },
        schema=tables.TRIPLES,
    )
    meta = {
        "name": name,
        "fingerprint": key,
        "relations": [asdict(row) for row in relations],
        "conflicts": [sorted(pair) for pair in manifest.rules.conflict],
        "embedder": manifest.embedder,
        "dropped": asdict(dropped),
    }
    _write(folder, nodes, table, meta)


def _write(folder: Path, nodes: pl.DataFrame, table: pl.DataFrame, meta: dict[str, Any]) -> None:
    """Write a compiled graph beside its place and move it there whole."""
    names = nodes["name"].to_list()
    rank = np.empty(len(names), dtype=np.int32)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names), dtype=np.int32)
    h, r, t = (table[c].to_numpy() for c in ("head", "relation", "tail"))
    weight = table["weight"].to_numpy()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building-"))
    except OSError as error:
        raise GraphError(f"{folder.parent}: {error.strerror}; set REASONER_CACHE") from error
    try:
        table.write_ipc(work / "triples.arrow")
        nodes.write_ipc(work / "entities.arrow")
        np.save(work / "name_rank.npy", rank)
        adjacency.build(h, r, t, weight, rank, len(names)).save(work, "out")
        adjacency.build(t, r, h, weight, rank, len(names)).save(work, "into")
        (work / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
        work.chmod(0o777 & ~_umask())
        try:
            work.replace(folder)
        except OSError:  # another process was faster: its result is the same
            if not (folder / "meta.json").is_file():
                raise _damaged(folder, "meta.json is missing") from None
    except OSError as error:
        raise GraphError(f"{folder}: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _entities(raw: pl.DataFrame, declared: pl.DataFrame | None) -> pl.DataFrame:
    """Return one row per entity: declared ones first, then in order of occurrence."""
    # Interleave, so that ids follow the order of the triples and an appended triple adds last.
    seen = pl.DataFrame(
        {"name": np.stack([raw["head"].to_numpy(), raw["tail"].to_numpy()], axis=1).ravel()},
        schema={"name": pl.String},
    ).unique(maintain_order=True)
    empty = pl.DataFrame(schema=tables.ENTITIES)
    known = declared if declared is not None else empty
    rest = seen.join(known.select("name"), on="name", how="anti", maintain_order="left")
    rest = rest.with_columns(
        pl.lit("").alias("kind"), pl.lit([], dtype=pl.List(pl.String)).alias("aliases")
    )
    return pl.concat([known, rest.select(known.columns)])


def _relations(
    labels: Sequence[str],
    manifest: Manifest,
    head: pl.Series,
    relation: pl.Series,
    tail: pl.Series,
    nodes: int,
) -> list[RelationRow]:
    """Return the relations table; inverses that the manifest does not name are found by content."""
    rank = {label: i for i, label in enumerate(labels)}
    ruled = {name for pair in manifest.rules.conflict for name in pair}
    stated = {n: r.inverse for n, r in manifest.relations.items() if r.inverse is not None}
    for one, other in list(stated.items()):
        stated.setdefault(other, one)
    found = _exact_inverses(
        head.to_numpy(),
        relation.to_numpy(),
        tail.to_numpy(),
        nodes,
        {rank[n] for n in stated if n in rank},
    )
    rows = []
    for index, label in enumerate(labels):
        declared = manifest.relations.get(label)
        inverse = found.get(index)
        if label in stated:
            inverse = rank.get(stated[label])
        words = label.replace("_", " ")
        template = (declared.template if declared else None) or f"{{h}} {escaped(words)} {{t}}"
        # Rules are stated about one direction, so that is the main one; else the first declared.
        pair = [index] if inverse is None else [index, inverse]
        rows.append(
            RelationRow(
                name=label,
                template=template,
                inverse=inverse,
                main=min(pair, key=lambda i: (labels[i] not in ruled, i)),
                strength=float(declared.strength) if declared else 1.0,
                structural=declared.structural if declared else False,
            )
        )
    return rows


def _exact_inverses(
    head: Any, relation: Any, tail: Any, nodes: int, skip: set[int]
) -> dict[int, int]:
    """Return the pairs of relations of which each holds exactly the other's triples reversed."""
    forward: dict[int, Any] = {}
    backward: dict[int, Any] = {}
    for label in range(int(relation.max()) + 1 if len(relation) else 0):
        if label in skip:
            continue
        rows = relation == label
        h, t = head[rows].astype(np.int64), tail[rows].astype(np.int64)
        forward[label] = np.sort(h * nodes + t)
        backward[label] = np.sort(t * nodes + h)
    pairs: dict[int, int] = {}
    for one, mine in forward.items():
        if one in pairs:
            continue
        for other, theirs in backward.items():
            if other not in pairs and np.array_equal(mine, theirs):
                pairs[one], pairs[other] = other, one
                break
    return pairs


def _load(folder: Path) -> Store:
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return Store(
            name=meta["name"],
            fingerprint=meta["fingerprint"],
            folder=folder,
            entities=pl.read_ipc(folder / "entities.arrow"),
            triples=pl.read_ipc(folder / "triples.arrow"),
            relations=tuple(RelationRow(**row) for row in meta["relations"]),
            conflicts=frozenset(frozenset(pair) for pair in meta["conflicts"]),
            embedder=meta["embedder"],
            dropped=tables.Dropped(**meta["dropped"]),
            out=adjacency.load(folder, "out"),
            into=adjacency.load(folder, "into"),
        )
    except _DAMAGE as error:
        raise _damaged(folder, str(error)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _damaged(folder: Path, reason: str) -> GraphError:
    return GraphError(
        f"{folder}: the compiled graph is damaged ({reason}); delete this folder, it is rebuilt"
    )


def default_cache() -> Path:
    """Return where compiled graphs and vectors are kept, outside the source folders."""
    base = os.environ.get("REASONER_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reasoner"
