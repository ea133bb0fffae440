"""Names resolve, types fit, bounds exist; or every reason why not.

One walk over the method gives all findings at once. An expression whose mistake was reported
has the type `UNKNOWN`, which fits everywhere, so that one mistake gives one finding.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import assert_never

from reasoner import ir
from reasoner.compiler import expressions, forms, growing
from reasoner.compiler import scope as s
from reasoner.compiler.program import Program, programs, twice, with_variant
from reasoner.compiler.prompts import check_prompt, read_type, signature
from reasoner.compiler.words import named
from reasoner.errors import Diagnostic, Related, Severity, nearest, unknown
from reasoner.op import Catalog, OpSpec, Within
from reasoner.source import Span
from reasoner.types import (
    BOOL,
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN,
    Type,
    assignable,
    list_of,
    substitute,
    unify,
)  # fmt: skip


def check(program: Program, catalog: Catalog) -> list[Diagnostic]:
    """Return every finding about a program and each of its variants."""
    found: list[Diagnostic] = []
    sizes: dict[int, int | None] = {}
    asked: set[str] = set()
    for part in reversed(list(programs(program))):
        checker = Checker(part, catalog, sizes)
        checker.method(part.method)
        found += checker.found
        asked |= checker.asked
    names: dict[str, Span] = {}
    for variant in program.method.variants:
        if variant.name in names:
            found.append(twice("variant", variant.name, variant.span, names[variant.name]))
        names[variant.name] = variant.span
        changed, wrong = with_variant(program.method, variant)
        found += wrong
        again = Checker(program, catalog, sizes)
        again.method(changed)
        found += [d for d in again.found if d.severity is Severity.ERROR]
        asked |= again.asked
    found += unused_definitions(program, asked)
    return list(dict.fromkeys(found))


def unused_definitions(program: Program, asked: Collection[str]) -> list[Diagnostic]:
    """Warn of prompts and methods that the recipe names and nothing asks or calls."""
    return [
        Diagnostic(
            code="R411",
            message=f"the {'prompt' if name in program.prompts else 'method'} {name!r} is never used",
            span=span,
            severity=Severity.WARNING,
        )
        for name, span in program.own.items()
        if name not in asked
    ]


class Checker:
    """Holds the findings of one walk."""

    def __init__(self, program: Program, catalog: Catalog, sizes: dict[int, int | None]) -> None:
        self.program, self.catalog, self.sizes = program, catalog, sizes
        self.found: list[Diagnostic] = []
        self.asked: set[str] = set()
        self.early: set[Span] = set()  # bindings that are used, though before their place

    def report(
        self,
        code: str,
        message: str,
        span: Span,
        hint: str = "",
        *related: Related,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Add a finding."""
        self.found.append(
            Diagnostic(
                code=code,
                message=message,
                span=span,
                hint=hint,
                related=related,
                severity=severity,
            )
        )

    # ---- definitions ---------------------------------------------------------------------

    def method(self, method: ir.Method) -> None:
        """Check a method from its inputs to its returned value."""
        top = s.Scope()
        for name in method.inputs:
            kind = read_type(name.type, self.found)
            self.define(top, name.name, s.Value(type=kind, span=name.span), "input")
        for param in method.params:
            value = self.expr(param.value, top)
            if value.constant is None and value.type != UNKNOWN:
                self.report("R307", "a parameter's default is a plain value", param.value.span)
            self.define(top, param.name, s.Value(
                type=value.type, span=param.name_span, constant=value.constant,
            ), "parameter")  # fmt: skip
        for prompt in self.program.prompts.values():
            check_prompt(prompt, self.found)
        forms.limits(self, method.limits, top)
        returned = self.block(method.body, top)
        self.sizes[id(method)] = returned.size if returned else None
        wanted = read_type(method.returns, self.found)
        if returned is not None and not assignable(returned.type, wanted):
            place = Related(f"declared to return {wanted}", method.returns.span)
            where = forms.value_of(method.body).span
            self.mismatch("R306", "the method returns", returned, wanted, where, place)
        self.unused(top, {p.name for p in method.params}, "parameter")

    def define(self, scope: s.Scope, name: str, value: s.Value, kind: str) -> None:
        """Give a name its meaning; a name means one thing in all blocks that see it."""
        known = scope.find(name)
        if known is not None:
            if name in scope.names:
                self.found.append(twice(kind, name, value.span, known.span))
            else:
                first = Related("the outer one is bound here", known.span)
                self.report("R209", f"{name!r} hides another {name!r}", value.span,
                            "give it a name of its own", first)  # fmt: skip
        scope.names[name] = value
        scope.used.discard(name)

    def unused(self, scope: s.Scope, names: Iterable[str], kind: str) -> None:
        """Warn of names that nothing refers to."""
        for name in names:
            value = scope.names.get(name)
            if value is not None and name not in scope.used and value.span not in self.early:
                self.report(
                    "R410", f"the {kind} {name!r} is never used", scope.names[name].span,
                    severity=Severity.WARNING,
                )  # fmt: skip

    # ---- blocks --------------------------------------------------------------------------

    def block(self, block: ir.Block, outer: s.Scope) -> s.Value | None:
        """Check the statements of a block; return what is known of its value."""
        later = {b.name: b.name_span for b in block.body if isinstance(b, ir.Bind)}
        scope = s.Scope(outer=outer, later=dict(later))
        returned: s.Value | None = None
        for index, statement in enumerate(block.body):
            match statement:
                case ir.Bind():
                    value = self.expr(statement.value, scope)
                    self.define(scope, statement.name, s.Value(
                        type=value.type, span=statement.name_span, size=value.size,
                        constant=value.constant,
                    ), "binding")  # fmt: skip
                    if isinstance(scope.later, dict):
                        scope.later.pop(statement.name, None)
                case ir.Return():
                    returned = self.expr(statement.value, scope)
                    if index < len(block.body) - 1:
                        self.report("R210", "nothing after this value is reached",
                                    statement.span, "bind it to a name, or move it to the end")  # fmt: skip
        if returned is None:
            self.report("R211", "the block has no value", block.span,
                        "end it with 'return value'")  # fmt: skip
        else:
            self.unused(scope, later, "binding")
        return returned

    # ---- expressions ---------------------------------------------------------------------

    def expr(self, node: ir.Expr, scope: s.Scope) -> s.Value:
        """Return what is known of an expression's value."""
        match node:
            case ir.Literal():
                return s.Value(type=literal_type(node), span=node.span, constant=node)
            case ir.Name():
                return self.name(node, scope)
            case ir.ListOf():
                return self.list(node, scope)
            case ir.Call():
                return self.call(node, scope)
            case ir.RecordOf():
                return expressions.record(self, node, scope)
            case ir.Field():
                return expressions.field(self, node, scope)
            case ir.Unary() | ir.Binary():
                return expressions.operation(self, node, scope)
            case ir.Ask():
                return forms.ask(self, node, scope)
            case ir.Each():
                return forms.each(self, node, scope)
            case ir.Dialog():
                return forms.dialog(self, node, scope)
            case ir.Budget():
                forms.limits(self, node.limits, scope)
                return self.block(node.body, scope) or s.broken(node.span)
            case ir.If():
                return forms.if_(self, node, scope)
            case ir.First():
                return forms.first(self, node, scope)
            case ir.Loop():
                return forms.loop(self, node, scope)
            case ir.Fold():
                return forms.fold(self, node, scope)
            case ir.Matrix():
                return growing.matrix(self, node, scope)
            case ir.Frontier():
                return growing.frontier(self, node, scope)
            case _:
                assert_never(node)

    def name(self, node: ir.Name, scope: s.Scope) -> s.Value:
        """Check a reference."""
        if (value := scope.find(node.name)) is not None:
            return value
        if (below := scope.bound_later(node.name)) is not None:
            self.early.add(below)
            self.report("R212", f"{node.name!r} is used before it is bound", node.span, "",
                        Related("bound here", below))  # fmt: skip
        else:
            found = unknown("value", node.name, scope.visible(), node.span, "R203")
            if node.name in self.catalog and not found.fix:
                self.report("R203", f"{node.name!r} is an operator, not a value", node.span,
                            f"call it: {node.name}(...)")  # fmt: skip
            else:
                self.found.append(found)
                if found.fix:  # it is used, under a wrong name
                    scope.find(found.fix.text)
        return s.broken(node.span)

    def list(self, node: ir.ListOf, scope: s.Scope) -> s.Value:
        """Check a list: its items have one type."""
        values = [self.expr(item, scope) for item in node.items]
        places = [item.span for item in node.items]
        kind = forms.one_of(self, values, node.span, "the items of a list", places).type
        return s.Value(type=list_of(kind), span=node.span, size=len(node.items))

    def call(self, node: ir.Call, scope: s.Scope) -> s.Value:
        """Check an operator call."""
        helper = self.program.helpers.get(node.name)
        if helper is not None:
            return self.helper(node, helper, scope)
        spec = self.catalog.get(node.name)
        if spec is None:
            if node.name == self.program.method.name:
                self.report("R221", f"{node.name!r} calls itself: a method cannot recurse", node.name_span,
                            "repeat with 'loop' or 'fold', whose rounds are bounded")  # fmt: skip
            elif node.name in self.program.prompts:
                self.asked.add(node.name)
                self.report("R201", f"{node.name!r} is a prompt, not an operator", node.name_span,
                            f"write 'ask {node.name}(...) by role'")  # fmt: skip
            elif node.name not in self.program.lost:
                known = [*self.catalog, *self.program.helpers]
                found = unknown("operator", node.name, known, node.name_span, "R201")
                self.found.append(found)
                self.asked |= {found.fix.text} if found.fix else set()
            for argument in node.args:
                self.expr(argument.value, scope)
            return s.broken(node.span)
        bound = self.arguments(node, spec.inputs, scope)
        size = self.options(node, spec, scope)
        return s.Value(type=substitute(spec.returns, bound), span=node.span, size=size)

    def helper(self, node: ir.Call, helper: Program, scope: s.Scope) -> s.Value:
        """Check the call of another method: its inputs by position, its parameters by name."""
        self.asked.add(node.name)
        ignored: list[Diagnostic] = []
        method = helper.method
        inputs = tuple((i.name, read_type(i.type, ignored)) for i in method.inputs)
        self.arguments(node, inputs, scope)
        kinds = dict(inputs)
        params = {p.name: p for p in method.params}
        for argument in node.args:
            if argument.name is None:
                continue
            value = self.expr(argument.value, scope)
            where = argument.name_span or argument.span
            if argument.name in params:
                wanted = _default_type(params[argument.name])
                if value.constant is None and value.type != UNKNOWN:
                    self.report(
                        "R307",
                        f"{argument.name} is a parameter: its value is known before the run",
                        argument.value.span,
                    )
                elif not assignable(value.type, wanted):
                    self.mismatch(
                        "R301",
                        f"{node.name}: {argument.name} is",
                        value,
                        wanted,
                        argument.value.span,
                    )
            elif argument.name in kinds:
                if not assignable(value.type, kinds[argument.name]):
                    self.mismatch(
                        "R301",
                        f"{node.name}: {argument.name} is",
                        value,
                        kinds[argument.name],
                        argument.value.span,
                    )
            else:
                names = [*params, *kinds]
                self.found.append(
                    unknown(f"parameter of {node.name}", argument.name, names, where, "R204")
                )
        returns = read_type(method.returns, ignored)
        return s.Value(type=returns, span=node.span, size=self.sizes.get(id(method)))

    def arguments(
        self, node: ir.Call, inputs: Sequence[tuple[str, Type]], scope: s.Scope
    ) -> Mapping[str, Type]:
        """Check the positional arguments of a call against its inputs."""
        bound: Mapping[str, Type] = {}
        given = [a for a in node.args if a.name is None]
        for argument, (name, kind) in zip(given, inputs, strict=False):
            value = self.expr(argument.value, scope)
            fits = unify(value.type, kind, bound)
            if fits is None:
                what = f"{node.name}: the input {name!r} is given"
                self.mismatch("R301", what, value, substitute(kind, bound), argument.span)
            else:
                bound = fits
        for argument in given[len(inputs) :]:
            self.expr(argument.value, scope)
        names = [n for n, _ in inputs]
        named = {a.name for a in node.args if a.name is not None}
        meant = {nearest(n, names) for n in named}  # a misspelt one is reported, not missing too
        missing = [f"{n!r} ({t})" for n, t in inputs[len(given) :] if n not in named | meant]
        if missing:
            what, verb = ("the inputs", "are") if len(missing) > 1 else ("the input", "is")
            self.report("R305", f"{node.name}: {what} {', '.join(missing)} {verb} missing",
                        node.name_span)  # fmt: skip
        if len(given) > len(inputs):
            extra = given[len(inputs)]
            count = f"{len(inputs)} input{'' if len(inputs) == 1 else 's'}"
            self.report("R304", f"{node.name} takes {count}, not {len(given)}",
                        extra.span, "options are named: 'name: value'")  # fmt: skip
        return bound

    def options(self, node: ir.Call, spec: OpSpec, scope: s.Scope) -> int | None:
        """Check the named arguments of an operator call; return the bound they set, if any."""
        known = {o.name: o for o in spec.options}
        size: int | None = None
        seen: dict[str, Span] = {}
        for argument in node.args:
            if argument.name is None:
                continue
            value = self.expr(argument.value, scope)
            where = argument.name_span or argument.span
            if argument.name in seen:
                self.found.append(twice("option", argument.name, where, seen[argument.name]))
            seen[argument.name] = where
            option = known.get(argument.name)
            if option is None and argument.name in dict(spec.inputs):
                self.report("R204", f"{node.name}: the input {argument.name!r} is given by its "
                            "place, without its name", where)  # fmt: skip
                continue
            if option is None:
                self.found.append(
                    unknown(f"option of {node.name}", argument.name, known, where, "R204")
                )
                continue
            if not assignable(value.type, option.type):
                self.mismatch(
                    "R301",
                    f"{node.name}: {option.name} is",
                    value,
                    option.type,
                    argument.value.span,
                )
            elif option.whole and value.constant is not None:
                forms.count(self, value, argument.value.span, option.name, low=0)
            elif option.within is not None and not _inside(value, option.within):
                low, high = option.within.low, option.within.high
                self.report(
                    "R311", f"{option.name} lies between {low:g} and {high:g}", argument.value.span
                )
            elif option.choices and value.constant is not None:
                self.choice(str(value.constant.value), option.choices, argument.value.span)
            if argument.name == spec.bounded_by:
                size = 0 if value.type == UNKNOWN else s.whole_number(value)
        for option in spec.options:
            if option.required and option.name not in seen:
                self.report(
                    "R305", f"{node.name}: the option {option.name!r} is missing", node.name_span
                )
        self.pinned(seen, known)
        return size

    def choice(self, word: str, choices: Sequence[str], span: Span) -> None:
        """Check a word that must be one of a few."""
        if word not in choices:
            self.found.append(unknown("choice", word, choices, span, "R308"))

    def pinned(self, given: Mapping[str, Span], known: Mapping[str, object]) -> None:
        """Warn of a similarity threshold that names no embedder: it means nothing without one."""
        if "tau" in given and "embedder" in known and "embedder" not in given:
            self.report(
                "R401", "a threshold on similarity with no embedder pinned beside it",
                given["tau"], 'add embedder: "name": each embedder needs its own threshold',
                severity=Severity.WARNING,
            )  # fmt: skip

    # ---- prompts -------------------------------------------------------------------------

    def prompted(self, call: ir.Call, scope: s.Scope) -> tuple[s.Value, int | None]:
        """Check the prompt of a model call and what it is given; return its result and limit."""
        prompt = self.program.prompts.get(call.name)
        if prompt is None:
            known = self.program.prompts
            found = unknown("prompt", call.name, known, call.name_span, "R202")
            if call.name in self.catalog and not found.fix:
                self.report("R202", f"{call.name!r} is an operator, not a prompt", call.name_span,
                            f"call it without 'ask': {call.name}(...)")  # fmt: skip
            elif call.name not in self.program.lost:
                self.found.append(found)
                self.asked |= {found.fix.text} if found.fix else set()
            for argument in call.args:
                self.expr(argument.value, scope)
            return s.broken(call.span), None
        self.asked.add(call.name)
        inputs, returns = signature(prompt)
        bound = self.arguments(call, inputs, scope)
        limit: int | None = None
        kinds = dict(inputs)
        placed = [a for a in call.args if a.name is None]
        seen = {name: a.span for (name, _), a in zip(inputs, placed, strict=False)}
        for argument in call.args:
            if argument.name is None:
                continue
            value = self.expr(argument.value, scope)
            where = argument.name_span or argument.span
            if argument.name in seen:
                self.found.append(twice("input", argument.name, where, seen[argument.name]))
            seen.setdefault(argument.name, where)
            if argument.name == "limit" and returns.name == "List":
                limit = forms.count(self, value, argument.value.span, "limit") or 0
                continue
            if argument.name not in kinds:
                self.found.append(
                    unknown(f"input of {call.name}", argument.name, kinds, where, "R204")
                )
            elif not assignable(value.type, kinds[argument.name]):
                self.mismatch(
                    "R301",
                    f"{call.name}: {argument.name} is",
                    value,
                    kinds[argument.name],
                    argument.value.span,
                )
        return s.Value(type=substitute(returns, bound), span=call.span), limit

    def mismatch(
        self, code: str, what: str, value: s.Value, wanted: Type, span: Span, *related: Related
    ) -> None:
        """Report a type that does not fit; for lists, say where the list was made."""
        hint = ""
        notes = list(related)
        if value.type.name == "List" and wanted.name != "List" and code == "R301":
            code = "R302"
            hint = "take one of them, or go over them with 'each'"
            if value.span != span:
                notes.append(Related("the list is made here", value.span))
        elif wanted.name == "List" and value.type.name != "List" and code == "R301":
            code, hint = "R303", "put it in brackets: [value]"
        elif value.span != span:
            notes.append(Related(f"this {value.type} is made here", value.span))
        self.report(code, f"{what} {named(value.type)}, but {named(wanted)} is needed", span,
                    hint, *notes)  # fmt: skip


def _inside(value: s.Value, within: Within) -> bool:
    """Say whether a value lies in a range, as far as it is known before the run."""
    literal = value.constant.value if value.constant else None
    return not isinstance(literal, Decimal) or within.low <= literal <= within.high


def _default_type(param: ir.Param) -> Type:
    """Return the type of a parameter, which is that of its default."""
    return literal_type(param.value) if isinstance(param.value, ir.Literal) else UNKNOWN


def literal_type(node: ir.Literal) -> Type:
    """Return the type of a literal."""
    match node.value:
        case bool():
            return BOOL
        case str():
            return TEXT
        case Decimal():
            return NUMBER
        case None:
            return NOTHING
