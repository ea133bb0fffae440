"""The composition root: joins front-ends, compiler, runtime, graphs and models.

Every heavy library is reached from inside a function, so that checking and planning load none.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from reasoner import bundled, ir, plan
from reasoner.catalog import builtin as builtin_operators
from reasoner.compiler.compile import Checked, check_module, compile_program
from reasoner.errors import (
    Diagnostic,
    GraphError,
    RecipeError,
    UsageError,
    did_you_mean,
)  # fmt: skip
from reasoner.op import Catalog
from reasoner.source import Source, Span

if TYPE_CHECKING:
    from reasoner.chat import ChatModel, Clock
    from reasoner.kg.graph import KnowledgeGraph
    from reasoner.models.embed import SentenceEmbedder
    from reasoner.op import Context
    from reasoner.retrieval.link import NameLinker
    from reasoner.runtime.run import Outcome
    from reasoner.runtime.trace import Listener

NOTATIONS = (".rsn", ".yaml", ".yml")
DEFAULT_GRAPH = "clinic"
#: Longest input text of a run, in characters.
MAX_INPUT = 100_000
MAX_FILE = 4_000_000


# ---- recipes -----------------------------------------------------------------------------


def read_source(path: Path) -> Source:
    """Return the text of a file.

    Raises
    ------
    UsageError
        If there is no such file, or it is no text of a sensible size.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a recipe file")
        if path.stat().st_size > MAX_FILE:
            raise UsageError(f"{path} has more than {MAX_FILE:,} bytes; this is no recipe")
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if "\0" in text:
        raise UsageError(f"{path}: not a text file")
    return Source(str(path), text)


def parse(source: Source) -> ir.Module:
    """Parse a recipe in the notation that its file name says.

    Raises
    ------
    RecipeError
        With what is wrong with its syntax or shape.
    """
    if source.name.endswith((".yaml", ".yml")):
        from reasoner.frontends import yaml_recipe

        return yaml_recipe.parse_module(source)
    from reasoner.frontends import rsn

    return rsn.parse_module(source)


def find_recipe(name: str) -> Path:
    """Return the file of a recipe, given as a path or as the name of a bundled one.

    Raises
    ------
    UsageError
        If there is neither.
    """
    path = Path(name)
    if path.exists() or path.suffix in NOTATIONS:
        if not path.exists():
            raise UsageError(f"{name}: no such file{_similar_file(path)}")
        if path.suffix not in NOTATIONS and not path.is_dir():
            raise UsageError(f"{name}: a recipe is a {' or '.join(NOTATIONS)} file")
        return path
    for suffix in (".yaml", ".rsn"):
        candidate = bundled.folder("recipes") / f"{name}{suffix}"
        if candidate.is_file():
            return candidate
    known = bundled.names("recipes", *NOTATIONS)
    hint = did_you_mean(name, known) or f"bundled recipes: {', '.join(known)}"
    raise UsageError(f"no recipe {name!r}; {hint}")


def _similar_file(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    hint = did_you_mean(path.name, names)
    return f"; {hint}" if hint else ""


def library_loader(recipe: Path) -> Any:
    """Return the loader of what a recipe uses: files below its own folder or the bundled ones."""

    def load(use: ir.Use) -> ir.Module | Diagnostic:
        pure = PurePosixPath(use.path)
        if pure.is_absolute() or ".." in pure.parts or "\\" in use.path or not pure.parts:
            return Diagnostic(
                code="R205",
                message="a used file lies below the recipe's folder: no '..', no absolute path",
                span=use.path_span,
            )
        tried = []
        for folder in (recipe.parent, bundled.folder("recipes")):
            for suffix in ("", *NOTATIONS):
                file = folder / f"{pure}{suffix}"
                tried.append(file)
                if file.suffix in NOTATIONS and file.is_file():
                    if not file.resolve().is_relative_to(folder.resolve()):
                        message = "the file lies outside the recipe's folder (a link leads there)"
                        return Diagnostic(code="R205", message=message, span=use.path_span)
                    return _library(file, use)
        near = sorted(
            {
                p.relative_to(folder).with_suffix("").as_posix()
                for folder in (recipe.parent, bundled.folder("recipes"))
                for p in folder.glob("*/*")
                if p.suffix in NOTATIONS
            }
        )
        return Diagnostic(
            code="R205",
            message=f"no file {use.path!r} (.rsn or .yaml)",
            span=use.path_span,
            hint=did_you_mean(use.path, near),
        )

    return load


def _library(file: Path, use: ir.Use) -> ir.Module | Diagnostic:
    try:
        return parse(read_source(file))
    except RecipeError as error:
        first = error.diagnostics[0]
        message = f"{use.path!r} cannot be read: {first.message} ({first.span.place})"
        return Diagnostic(code="R205", message=message, span=use.path_span)
    except UsageError as error:
        return Diagnostic(code="R205", message=str(error), span=use.path_span)


def check(recipe: str | Path, catalog: Catalog | None = None) -> Checked:
    """Read and check a recipe; findings are in the result, syntax errors included."""
    path = find_recipe(str(recipe))
    source = read_source(path)
    try:
        module = parse(source)
    except RecipeError as error:
        return Checked(program=None, findings=error.diagnostics)
    return check_module(module, library_loader(path), catalog or builtin_operators())


def compile_recipe(
    recipe: str | Path,
    *,
    variant: str | None = None,
    settings: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> plan.Plan:
    """Compile a recipe to its plan.

    ``settings`` are values of parameters as they would be written in the recipe; a word that is
    no literal is taken as a text.

    Raises
    ------
    RecipeError
        With every error of the recipe.
    UsageError
        If the recipe, the variant or a parameter does not exist.
    """
    catalog = catalog or builtin_operators()
    checked = check(recipe, catalog)
    if checked.ok and checked.program is None:
        raise UsageError(f"{recipe}: the file defines prompts but no method to run")
    changes = {name: _setting(name, text) for name, text in (settings or {}).items()}
    return compile_program(checked, catalog, variant=variant, settings=changes)


def _setting(name: str, text: str) -> ir.Param:
    from reasoner.frontends.grammar import parse as parse_text
    from reasoner.frontends.rsn import Builder

    source = Source(f"--set {name}", text)
    span = Span(source, 0, len(text))
    offsets = range(len(text))
    value: ir.Expr
    try:
        value = Builder(source, offsets).expr(parse_text(text, "expr", source, offsets))
    except RecipeError:
        value = ir.Literal(value=text, span=span)
    if isinstance(value, ir.Name | ir.Call):
        value = ir.Literal(value=text, span=span)
    return ir.Param(name=name, value=value, name_span=span, span=span)


# ---- graphs ------------------------------------------------------------------------------


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
                    message=f"{'.'.join(map(str, e['loc'])) or file.name}: {e['msg']}",
                    span=yaml_nodes.place_of(root, e["loc"]),
                    hint=did_you_mean(str(e["loc"][-1]), model.model_fields)
                    if e["type"] == "extra_forbidden"
                    else "",
                )
                for e in error.errors()
            ]
        ) from None


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


# ---- models ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which model answers which role: names by role, and one for all other roles."""

    default: str = "builtin"
    roles: Mapping[str, str] = field(default_factory=dict)
    api_base: str | None = None
    deployments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()  # roles of a file that serves several recipes


def read_models(file: Path, given: Models) -> Models:
    """Return the choice of a ``models.yaml``, under what was given on the command line.

    Raises
    ------
    UsageError
        If a role is given to a deployment that the file does not define.
    """
    from reasoner.models.settings import ModelsFile

    settings = read_settings(file, ModelsFile)
    deployments = {n: d.model_dump(exclude_none=True) for n, d in settings.models.items()}
    for role, name in {**settings.roles, "default": settings.default}.items():
        if name not in deployments and "/" not in name and name != "builtin":
            raise UsageError(
                f"{file}: {role}: no model {name!r}; {did_you_mean(name, deployments)}".rstrip("; ")
            )
    default = given.default if given.default != "builtin" else settings.default
    return Models(
        default=default,
        roles={**settings.roles, **given.roles},
        api_base=given.api_base,
        deployments=deployments,
        optional=frozenset(settings.roles),
    )


def roles(compiled: plan.Plan) -> list[str]:
    """Return the roles of a plan in the order in which they occur."""
    found = [
        s.role for s in plan.steps(compiled.body) if isinstance(s, plan.AskStep | plan.DialogStep)
    ]
    return list(dict.fromkeys(found))


def connect(models: Models, compiled: plan.Plan, context: "Context") -> "dict[str, ChatModel]":
    """Return a model for each role of a plan.

    Raises
    ------
    UsageError
        If a role is set that the plan does not have, or a model is unknown.
    """
    wanted = roles(compiled)
    for role in models.roles:
        if role not in wanted and role not in models.optional:
            raise UsageError(
                f"{compiled.method} has no role {role!r}; {did_you_mean(role, wanted)} "
                f"it has: {', '.join(wanted) or 'none'}"
            )
    chosen = {role: models.roles.get(role, models.default) for role in wanted}
    found: dict[str, ChatModel] = {}
    hosted: dict[str, Mapping[str, Any]] = {}
    for name in dict.fromkeys(chosen.values()):
        if name in {"builtin", "builtin/extractive"}:
            from reasoner.models.builtin.engine import BuiltinModel
            from reasoner.models.builtin.mind import Mind

            found[name] = BuiltinModel(Mind(context.graph, context.linker, context.embedder))
        else:
            given = models.deployments.get(name, {"model": name})
            hosted[name] = {"api_base": models.api_base, **given}
    if hosted:
        from reasoner.models.hosted import connect as connect_hosted

        found.update(connect_hosted(hosted))
    return {role: found[name] for role, name in chosen.items()}


def pinned_embedder(compiled: plan.Plan) -> str | None:
    """Return the embedder that a plan's thresholds are pinned to.

    Raises
    ------
    UsageError
        If it names more than one.
    """
    names = {
        o.value
        for s in plan.steps(compiled.body)
        if isinstance(s, plan.OpStep)
        for key, o in s.options.items()
        if key == "embedder" and isinstance(o, plan.Const) and isinstance(o.value, str)
    }
    if len(names) > 1:
        raise UsageError(f"the recipe pins several embedders: {', '.join(sorted(names))}")
    return next(iter(names), None)


# ---- runs --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How to run a plan."""

    graph: str = DEFAULT_GRAPH
    models: Models = field(default_factory=Models)
    limits: Mapping[str, Decimal] = field(default_factory=dict)
    seed: int = 0
    call_timeout_s: float = 120.0
    runs: Path | None = Path(".reasoner/runs")
    embedder: str | None = None
    cache: Path | None = None


def check_inputs(compiled: plan.Plan, inputs: Mapping[str, str]) -> None:
    """Refuse inputs that are missing, unknown, empty or too long.

    Raises
    ------
    UsageError
        With the way to give them.
    """
    wanted = dict(compiled.inputs)
    for name in inputs:
        if name not in wanted:
            raise UsageError(
                f"{compiled.method} has no input {name!r}; {did_you_mean(name, wanted)}"
            )
    for name, kind in wanted.items():
        how = "--question TEXT" if name == "question" else f"--input {name}=TEXT"
        if str(kind) != "Text":
            raise UsageError(f"the input {name!r} is a {kind}; only Text inputs can be given here")
        value = inputs.get(name, "")
        if not value.strip():
            raise UsageError(f"{compiled.method} needs the input {name!r}: add {how}")
        if len(value) > MAX_INPUT:
            raise UsageError(
                f"the input {name!r} has {len(value):,} characters; at most {MAX_INPUT:,} are read"
            )


async def run_plan(
    compiled: plan.Plan,
    inputs: Mapping[str, str],
    settings: RunSettings,
    *,
    run_id: str = "",
    listener: "Listener | None" = None,
    context: "Context | None" = None,
    models: "Mapping[str, ChatModel] | None" = None,
    clock: "Clock | None" = None,
) -> "Outcome":
    """Run a plan in this event loop; see `RunSettings`.

    ``context``, ``models`` and ``clock`` replace what the settings would open, for tests and for
    programs that hold them already.
    """
    from reasoner.runtime import report
    from reasoner.runtime.journal import Journal
    from reasoner.runtime.run import SystemClock, negotiate, run
    from reasoner.runtime.session import Session
    from reasoner.runtime.trace import Trace

    check_inputs(compiled, inputs)
    pinned = pinned_embedder(compiled)
    if settings.embedder and pinned and settings.embedder != pinned:
        raise UsageError(
            f"the recipe pins tau to the embedder {pinned!r}; "
            f"to use another, add --set embedder={settings.embedder} and choose tau for it"
        )
    context = context or open_context(settings.graph, settings.embedder or pinned, settings.cache)
    models = models if models is not None else connect(settings.models, compiled, context)
    notes = negotiate(compiled, models)
    clock = clock or SystemClock()
    run_id = run_id or new_run_id(clock)
    folder = settings.runs / run_id if settings.runs else None
    heading = {
        "run": run_id,
        "started": report.timestamp(clock.wall()),
        "graph": getattr(getattr(context.graph, "store", None), "name", ""),
        "models": {role: model.id for role, model in models.items()},
        "notes": notes,
    }
    async with Journal(folder / "journal.jsonl" if folder else None) as journal:
        session = Session(
            catalog=builtin_operators(),
            context=context,
            models=models,
            journal=journal,
            trace=Trace(listener),
            clock=clock,
            seed=settings.seed,
            call_timeout_s=settings.call_timeout_s,
        )
        outcome = await run(compiled, inputs, session, limits=settings.limits, heading=heading)
    if folder is not None:
        save_run(folder, compiled, outcome)
    return outcome


def new_run_id(clock: "Clock") -> str:
    """Return a name for a run: its time, and some letters so that no two are the same."""
    import secrets
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(clock.wall(), UTC)
    return f"{moment:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def save_run(folder: Path, compiled: plan.Plan, outcome: "Outcome") -> None:
    """Write the record and the plan of a run beside its journal."""
    try:
        (folder / "plan.json").write_text(compiled.canonical() + "\n", encoding="utf-8")
        text = outcome.record.model_dump_json(indent=1)
        part = folder / "record.json.part"
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(folder / "record.json")
    except OSError as error:
        raise UsageError(f"{folder}: the record cannot be written: {error.strerror}") from None


def run(
    recipe: str | Path,
    inputs: Mapping[str, str],
    settings: RunSettings | None = None,
    *,
    variant: str | None = None,
    params: Mapping[str, str] | None = None,
) -> "Outcome":
    """Compile and run a recipe, and wait for its end.

    Examples
    --------
    >>> import reasoner
    >>> outcome = reasoner.run(
    ...     "mirage",
    ...     {"question": "Can ibuprofen cause headache?"},
    ...     reasoner.RunSettings(graph="tiny", runs=None),
    ... )
    >>> outcome.record.outcome
    'answered'
    """
    import asyncio

    compiled = compile_recipe(recipe, variant=variant, settings=params)
    return asyncio.run(run_plan(compiled, inputs, settings or RunSettings()))


def run_folders(base: Path) -> Sequence[Path]:
    """Return the folders of finished runs, the newest first."""
    if not base.is_dir():
        return []
    found = [p for p in base.iterdir() if (p / "record.json").is_file()]
    return sorted(found, key=lambda p: p.name, reverse=True)
