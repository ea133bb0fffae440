"""From a graph's name to what operators reach: the graph, its linker and an embedder."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoner import bundled
from reasoner.api.recipes import read_source
from reasoner.errors import Diagnostic, GraphError, RecipeError, did_you_mean

if TYPE_CHECKING:
    from reasoner.kg.graph import KnowledgeGraph
    from reasoner.models.embed import SentenceEmbedder
    from reasoner.op import Context
    from reasoner.retrieval.link import NameLinker

DEFAULT_GRAPH = "clinic"
#: Longest path of a graph or of a file in it, in characters.
MAX_PATH = 200
_LOG = logging.getLogger("reasoner")


def cache_folder() -> Path:
    """Return where compiled graphs and vectors are kept."""
    from reasoner.kg.store import default_cache

    return default_cache()


def open_graph(name: str, cache: Path | None = None) -> "KnowledgeGraph":
    """Open a graph: a folder (with or without ``kg.yaml``), a file of triples, or a bundled name.

    Raises
    ------
    GraphError
        If there is no such graph, or it cannot be read.
    """
    from reasoner.kg.graph import KnowledgeGraph
    from reasoner.kg.store import open_store

    if len(name) > MAX_PATH:
        raise GraphError(f"no graph {name[:60]!r}...: no such folder or file")
    path = Path(name)
    if not path.exists() and (bundled.folder("kgs") / name).is_dir() and len(path.parts) == 1:
        path = bundled.folder("kgs") / name
    if not path.exists():
        known = bundled.names("kgs")
        hint = did_you_mean(name, known) or f"bundled graphs: {', '.join(known)}"
        raise GraphError(f"no graph {name!r}: no such folder or file; {hint}")
    folder, manifest = path, _manifest(path)
    if path.is_file():
        folder, triples = path.parent, path
    else:
        triples = _triples_file(path, manifest.triples)
    entities = _entities_file(path, manifest.entities) if path.is_dir() else None
    for file in (triples, entities):
        if file is not None and path.is_dir() and not _inside(file, folder):
            raise GraphError(f"{file}: the file lies outside the graph's folder")
    store = open_store(
        manifest.name or path.resolve().stem,
        triples,
        entities,
        manifest,
        (cache or cache_folder()) / "kgs",
    )
    return KnowledgeGraph(store)


def _inside(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def _triples_file(folder: Path, declared: str) -> Path:
    if (folder / declared).is_file():
        return folder / declared
    if (folder / "kg.yaml").is_file():
        raise GraphError(f"{folder}: kg.yaml names {declared!r}, which is not there")
    for name in ("triples.tsv", "train.txt"):
        if (folder / name).is_file():
            return folder / name
    raise GraphError(
        f"{folder}: found neither kg.yaml nor triples.tsv (head, relation, tail, separated by tabs)"
    )


def _entities_file(folder: Path, declared: str | None) -> Path | None:
    file = folder / (declared or "entities.tsv")
    if declared and not file.is_file():
        raise GraphError(f"{folder}: kg.yaml names {declared!r}, which is not there")
    return file if file.is_file() else None


def _manifest(path: Path) -> Any:
    from reasoner.kg.manifest import Manifest

    file = path / "kg.yaml"
    return read_settings(file, Manifest) if file.is_file() else Manifest()


def read_settings(file: Path, model: Any) -> Any:
    """Read a YAML file as a pydantic model, with its findings put in their places.

    Raises
    ------
    RecipeError
        With everything that does not fit the model, each with line and column.
    """
    from pydantic import ValidationError

    from reasoner.frontends import yaml_nodes

    source = read_source(file)
    root = yaml_nodes.load(source)
    if root is None:
        return model()
    try:
        return model.model_validate(yaml_nodes.plain(root))
    except ValidationError as error:
        raise RecipeError(
            [
                Diagnostic(
                    code="R130",
                    message=_problem(file, e),
                    span=yaml_nodes.place_of(root, e["loc"], key=e["type"] == "extra_forbidden"),
                    hint=did_you_mean(str(e["loc"][-1]), _keys(model))
                    if e["type"] == "extra_forbidden"
                    else "",
                )
                for e in error.errors()
            ]
        ) from None


def _problem(file: Path, error: Any) -> str:
    where = ".".join(map(str, error["loc"])) or file.name
    if error["type"] == "extra_forbidden":
        return f"unknown key {error['loc'][-1]!r}"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"


def _keys(model: Any) -> set[str]:
    """Return the keys of a model and of the models inside it."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return {key for part in parts for key in part.get("properties", {})}


def open_linker(graph: "KnowledgeGraph", embedder: "SentenceEmbedder") -> "NameLinker":
    """Return the linker of a graph; the vectors of its names are kept beside its tables."""
    import asyncio

    import numpy as np

    from reasoner.retrieval.link import NameLinker

    store = graph.store
    held: dict[str, Any] = {}
    lock = asyncio.Lock()

    def load() -> Any:
        import hashlib

        tag = hashlib.sha256(embedder.id.encode()).hexdigest()[:12]
        file = store.folder / f"names-{tag}.npy"
        if file.is_file():
            return np.load(file, mmap_mode="r")
        _LOG.info(
            "embedding the %s names of %s (once; kept in the cache)", len(store.names), store.name
        )
        matrix = embedder.bulk(store.names)
        try:
            part = file.with_name(f"{file.stem}.{os.getpid()}.part.npy")
            np.save(part, matrix)
            part.replace(file)
        except OSError:
            pass  # a folder that cannot be written costs time, not answers
        return matrix

    async def matrix() -> Any:
        async with lock:
            if "m" not in held:
                held["m"] = await asyncio.to_thread(load)
        return held["m"]

    aliases = [
        (alias, i)
        for i, listed in enumerate(store.entities["aliases"].to_list())
        for alias in listed
    ]
    return NameLinker(store.names, aliases, embedder, matrix)


def open_context(graph: str, embedder: str | None, cache: Path | None = None) -> "Context":
    """Return what operators reach: a graph with its linker and an embedder."""
    from reasoner.models.embed import DEFAULT, SentenceEmbedder
    from reasoner.op import Context

    kg = open_graph(graph, cache)
    name = embedder or kg.store.embedder or DEFAULT
    vectors = SentenceEmbedder(name, (cache or cache_folder()) / "vectors")
    return Context(graph=kg, linker=open_linker(kg, vectors), embedder=vectors)
