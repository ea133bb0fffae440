"""A recipe with everything it uses, and its variants applied."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reasoner import ir
from reasoner.errors import Diagnostic, Related, unknown
from reasoner.source import Span

#: Returns the module that a ``use`` names, or the reason why it cannot be read.
Loader = Callable[[ir.Use], "ir.Module | Diagnostic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One method with the prompts and the other methods that its steps may name.

    ``own`` are the names that the recipe defines or imports for itself, with their places:
    those that nothing needs are worth a warning. ``lost`` are the names that a ``use`` should
    have brought: that it did not is reported already.
    """

    method: ir.Method
    prompts: Mapping[str, ir.Prompt]
    helpers: Mapping[str, "Program"] = field(default_factory=dict)
    own: Mapping[str, Span] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()


def link(module: ir.Module, load: Loader) -> tuple[Program | None, list[Diagnostic]]:
    """Return the program of a recipe file, and what is wrong with its definitions.

    The first method is the one that runs; those below it are its helpers.
    """
    linker = _Linker(load)
    programs = linker.module(module, ())
    main = next(iter(module.methods), None)
    return (programs[main.name] if main else None), linker.found


@dataclass(slots=True)
class _Linker:
    """Follows ``use`` from file to file."""

    load: Loader
    found: list[Diagnostic] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    def module(self, module: ir.Module, above: tuple[str, ...]) -> dict[str, Program]:
        """Return the programs of a module's methods; ``above`` are the files that lead here."""
        prompts: dict[str, ir.Prompt] = {}
        helpers: dict[str, Program] = {}
        places: dict[str, Span] = {}
        for use in module.uses:
            self.use(use, above, prompts, helpers, places)
        for prompt in module.prompts:
            if self.fresh("prompt", prompt.name, prompt.name_span, places):
                prompts[prompt.name] = prompt
        for method in module.methods:
            self.fresh("method", method.name, method.name_span, places)
        own = (
            {n: span for n, span in places.items() if n != module.methods[0].name}
            if module.methods
            else {}
        )
        programs: dict[str, Program] = {}
        for method in reversed(module.methods):  # a method sees those below it
            programs[method.name] = Program(
                method=method,
                prompts=prompts,
                helpers={**helpers, **programs},
                own=own if method is module.methods[0] else {},
                lost=frozenset(self.lost),
            )
        return programs

    def use(
        self,
        use: ir.Use,
        above: tuple[str, ...],
        prompts: dict[str, ir.Prompt],
        helpers: dict[str, Program],
        places: dict[str, Span],
    ) -> None:
        """Take the names of one ``use`` in."""
        if use.path in above:
            self.lost |= {n.name for n in use.names}
            chain = " -> ".join([*above[above.index(use.path) :], use.path])
            self.found.append(
                Diagnostic(
                    code="R221", message=f"the files use each other: {chain}", span=use.path_span
                )
            )
            return
        library = self.load(use)
        if isinstance(library, Diagnostic):
            self.found.append(library)
            self.lost |= {n.name for n in use.names}
            return
        known = {p.name: p for p in library.prompts}
        methods = self.module(library, (*above, use.path))
        for name in use.names:
            if name.name not in known and name.name not in methods:
                if name.name in self.lost:
                    continue
                self.lost.add(name.name)
                what = f"prompt or method in {use.path!r}"
                self.found.append(unknown(what, name.name, [*known, *methods], name.span, "R206"))
            elif self.fresh("name", name.name, name.span, places):
                if name.name in known:
                    prompts[name.name] = known[name.name]
                else:
                    helpers[name.name] = methods[name.name]

    def fresh(self, kind: str, name: str, span: Span, places: dict[str, Span]) -> bool:
        """Say whether a name is new; report one that is defined twice."""
        if name in places:
            self.found.append(twice(kind, name, span, places[name]))
            return False
        places[name] = span
        return True


def programs(program: Program) -> Iterator[Program]:
    """Yield a program and the helpers below it, each once."""
    stack, seen = [program], set()
    while stack:
        top = stack.pop()
        if id(top) not in seen:
            seen.add(id(top))
            yield top
            stack.extend(top.helpers.values())


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
    first: dict[str, Span] = {}
    for change in variant.changes:
        name = "return" if isinstance(change, ir.Return) else change.name
        where = change.span if isinstance(change, ir.Return) else change.name_span
        if name in first:
            found.append(twice("change of", name, where, first[name]))
        first.setdefault(name, where)
        match change:
            case ir.Param():
                index = next((i for i, p in enumerate(params) if p.name == change.name), None)
                if index is None:
                    names = [p.name for p in params]
                    found.append(unknown("parameter", change.name, names, change.name_span, "R213"))
                else:
                    params[index] = change
            case ir.Bind():
                binds = [(i, s) for i, s in enumerate(body) if isinstance(s, ir.Bind)]
                index = next((i for i, s in binds if s.name == change.name), None)
                if index is None:
                    names = [s.name for _, s in binds]
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
