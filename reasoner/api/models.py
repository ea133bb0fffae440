"""Which model answers which role."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoner import plan
from reasoner.api.graphs import read_settings
from reasoner.errors import UsageError, did_you_mean, known_as

if TYPE_CHECKING:
    from reasoner.chat import ChatModel
    from reasoner.op import Context


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
        # A file of models may serve several recipes; a role that is nearly one of this is a slip.
        optional = role in models.optional and not did_you_mean(role, wanted)
        if role not in wanted and not optional:
            raise UsageError(known_as(compiled.method, "role", role, wanted))
    chosen = {role: models.roles.get(role, models.default) for role in wanted}
    found: dict[str, ChatModel] = {}
    hosted: dict[str, Mapping[str, Any]] = {}
    for name in dict.fromkeys(chosen.values()):
        if name in {"builtin", "builtin/extractive"}:
            from reasoner.models.builtin.engine import BuiltinModel
            from reasoner.models.builtin.mind import Mind

            found[name] = BuiltinModel(Mind(context.graph, context.linker, context.embedder))
        else:
            bare = {"model": name, "api_base": models.api_base}
            hosted[name] = models.deployments.get(name, bare)
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
