"""Running a plan, and keeping what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from reasoner import plan
from reasoner.api.graphs import DEFAULT_GRAPH, open_context
from reasoner.api.models import Models, connect, pinned_embedder
from reasoner.api.recipes import compile_recipe
from reasoner.catalog import builtin as builtin_operators
from reasoner.errors import UsageError, known_as

if TYPE_CHECKING:
    from reasoner.chat import ChatModel, Clock
    from reasoner.op import Context
    from reasoner.runtime.run import Outcome
    from reasoner.runtime.trace import Listener

#: Longest input text of a run, in characters.
MAX_INPUT = 100_000


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
            raise UsageError(known_as(compiled.method, "input", name, wanted))
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
    if pinned and context.embedder.id != pinned:
        raise UsageError(
            f"the recipe pins tau to the embedder {pinned!r}, but this run has "
            f"{context.embedder.id!r}; add --set embedder=NAME and choose tau for it"
        )
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
