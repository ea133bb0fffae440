"""A recipe with everything it uses, and its variants applied."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from reasoner import ir
from reasoner.errors import Diagnostic, Related, unknown
from reasoner.source import Span

#: Returns the module that a ``use`` names, or the reason why it cannot be read.
Loader = Callable[[ir.Use], "ir.Module | Diagnostic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One method with the prompts that its steps may name."""

    method: ir.Method
    prompts: Mapping[str, ir.Prompt]
    own: frozenset[str]  # prompts of the recipe itself: unused ones are worth a warning


def link(module: ir.Module, load: Loader) -> tuple[Program | None, list[Diagnostic]]:
    """Return the program of a recipe file, and what is wrong with its definitions."""
    found: list[Diagnostic] = []
    prompts: dict[str, ir.Prompt] = {}
    places: dict[str, Span] = {}

    def define(prompt: ir.Prompt, span: Span) -> None:
        if prompt.name in prompts:
            found.append(twice("prompt", prompt.name, span, places[prompt.name]))
            return
        prompts[prompt.name] = prompt
        places[prompt.name] = span

    for use in module.uses:
        library = load(use)
        if isinstance(library, Diagnostic):
            found.append(library)
            continue
        known = {p.name: p for p in library.prompts}
        for name in use.names:
            if name.name in known:
                define(known[name.name], name.span)
            else:
                found.append(
                    unknown(f"prompt in {use.path!r}", name.name, known, name.span, "R206")
                )
    for prompt in module.prompts:
        define(prompt, prompt.name_span)
    if not module.methods:
        return None, found
    for extra in module.methods[1:]:
        found.append(
            Diagnostic(
                code="R208",
                message="one recipe file defines one method",
                span=extra.name_span,
                related=(Related("the first method", module.methods[0].name_span),),
            )
        )
    own = frozenset(p.name for p in module.prompts)
    return Program(method=module.methods[0], prompts=prompts, own=own), found


def twice(kind: str, name: str, span: Span, first: Span) -> Diagnostic:
    """Return the finding that ``name`` is defined a second time."""
    return Diagnostic(
        code="R207",
        message=f"the {kind} {name!r} is defined twice",
        span=span,
        related=(Related("first defined here", first),),
    )


def with_variant(method: ir.Method, variant: ir.Variant) -> tuple[ir.Method, list[Diagnostic]]:
    """Return the method with a variant's bindings, parameters or returned value put in."""
    found: list[Diagnostic] = []
    params = list(method.params)
    body = list(method.body.body)
    for change in variant.changes:
        match change:
            case ir.Param():
                index = next((i for i, p in enumerate(params) if p.name == change.name), None)
                if index is None:
                    names = [p.name for p in params]
                    found.append(unknown("parameter", change.name, names, change.name_span, "R213"))
                else:
                    params[index] = change
            case ir.Bind():
                index = next(
                    (
                        i
                        for i, s in enumerate(body)
                        if isinstance(s, ir.Bind) and s.name == change.name
                    ),
                    None,
                )
                if index is None:
                    names = [s.name for s in body if isinstance(s, ir.Bind)]
                    found.append(unknown("binding", change.name, names, change.name_span, "R213"))
                else:
                    body[index] = change
            case ir.Return():
                body = [s for s in body if not isinstance(s, ir.Return)]
                body.append(change)
    block = replace(method.body, body=tuple(body))
    return replace(method, params=tuple(params), body=block), found


def with_settings(method: ir.Method, settings: Mapping[str, ir.Param]) -> ir.Method:
    """Return the method with other values for some of its parameters."""
    params = tuple(settings.get(p.name, p) for p in method.params)
    return replace(method, params=params)
