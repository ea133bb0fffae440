"""Names resolve, types fit, bounds exist; or every reason why not.

One walk over the method gives all findings at once. An expression whose mistake was reported
has the type `UNKNOWN`, which fits everywhere, so that one mistake gives one finding.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import assert_never

from reasoner import ir
from reasoner.compiler import scope as s
from reasoner.compiler.program import Program, twice, with_variant
from reasoner.compiler.prompts import check_prompt, read_type, signature
from reasoner.errors import Diagnostic, Related, Severity, unknown
from reasoner.op import Catalog, OpSpec
from reasoner.source import Span
from reasoner.types import (
    BOOL,
    CHAIN,
    EVIDENCE,
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN,
    Type,
    assignable,
    join_types,
    list_of,
    substitute,
    unify,
)  # fmt: skip

#: Settings of a model call, given after the role: ``by role(temperature: 0.2)``.
CALL_SETTINGS = ("temperature", "top_p", "max_tokens", "retries")
DIALOG_OPTIONS = ("searches", "turns", *CALL_SETTINGS)
LIMITS = ("calls", "tokens", "usd", "seconds")
POLICIES = ("fail", "skip", "default", "quorum")


def check(program: Program, catalog: Catalog) -> list[Diagnostic]:
    """Return every finding about a program and each of its variants."""
    checker = Checker(program, catalog)
    checker.method(program.method)
    checker.unused_prompts()
    found = list(checker.found)
    names: dict[str, Span] = {}
    for variant in program.method.variants:
        if variant.name in names:
            found.append(twice("variant", variant.name, variant.span, names[variant.name]))
        names[variant.name] = variant.span
        changed, wrong = with_variant(program.method, variant)
        found += wrong
        again = Checker(program, catalog)
        again.method(changed)
        found += [d for d in again.found if d.severity is Severity.ERROR]
    return list(dict.fromkeys(found))


class Checker:
    """Holds the findings of one walk."""

    def __init__(self, program: Program, catalog: Catalog) -> None:
        self.program, self.catalog = program, catalog
        self.found: list[Diagnostic] = []
        self.asked: set[str] = set()

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
        self.limits(method.limits, top)
        returned = self.block(method.body, top)
        wanted = read_type(method.returns, self.found)
        if returned is not None and not assignable(returned.type, wanted):
            place = Related(f"declared to return {wanted}", method.returns.span)
            self.mismatch("R306", "the method returns", returned, wanted, returned.span, place)
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

    def unused_prompts(self) -> None:
        """Warn of prompts that the recipe defines and never asks."""
        for name in sorted(self.program.own - self.asked):
            self.report(
                "R411", f"the prompt {name!r} is never asked",
                self.program.prompts[name].name_span, severity=Severity.WARNING,
            )  # fmt: skip

    def unused(self, scope: s.Scope, names: Iterable[str], kind: str) -> None:
        """Warn of names that nothing refers to."""
        for name in names:
            if name in scope.names and name not in scope.used:
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
            case ir.Ask():
                return self.ask(node, scope)
            case ir.Each():
                return self.each(node, scope)
            case ir.Dialog():
                return self.dialog(node, scope)
            case ir.Budget():
                self.limits(node.limits, scope)
                return self.block(node.body, scope) or s.broken(node.span)
            case _:
                assert_never(node)

    def name(self, node: ir.Name, scope: s.Scope) -> s.Value:
        """Check a reference."""
        if (value := scope.find(node.name)) is not None:
            return value
        if (below := scope.bound_later(node.name)) is not None:
            self.report("R212", f"{node.name!r} is used before it is bound", node.span, "",
                        Related("bound here", below))  # fmt: skip
        else:
            found = unknown("name", node.name, scope.visible(), node.span, "R203")
            if node.name in self.catalog and not found.fix:
                self.report("R203", f"{node.name!r} is an operator, not a value", node.span,
                            f"call it: {node.name}(...)")  # fmt: skip
            else:
                self.found.append(found)
        return s.broken(node.span)

    def list(self, node: ir.ListOf, scope: s.Scope) -> s.Value:
        """Check a list: its items have one type."""
        kind = UNKNOWN
        for item in node.items:
            value = self.expr(item, scope)
            joined = join_types(value.type, kind)
            if joined is None:
                self.mismatch(
                    "R301", "the items of a list have one type; this is", value, kind, item.span
                )
            elif joined != UNKNOWN:
                kind = value.type if kind == UNKNOWN else joined
        return s.Value(type=list_of(kind), span=node.span, size=len(node.items))

    def call(self, node: ir.Call, scope: s.Scope) -> s.Value:
        """Check an operator call."""
        spec = self.catalog.get(node.name)
        if spec is None:
            hint = node.name in self.program.prompts
            if hint:
                self.report("R201", f"{node.name!r} is a prompt, not an operator", node.name_span,
                            f"write 'ask {node.name}(...) by role'")  # fmt: skip
            else:
                self.found.append(
                    unknown("operator", node.name, self.catalog, node.name_span, "R201")
                )
            for argument in node.args:
                self.expr(argument.value, scope)
            return s.broken(node.span)
        bound = self.arguments(node, spec.inputs, scope)
        size = self.options(node, spec, scope)
        return s.Value(type=substitute(spec.returns, bound), span=node.span, size=size)

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
        named = {a.name for a in node.args}
        missing = [f"{n}: {t}" for n, t in inputs[len(given) :] if n not in named]
        if missing:
            self.report("R305", f"{node.name}: {'inputs' if len(missing) > 1 else 'the input'} "
                        f"{', '.join(missing)} missing", node.name_span)  # fmt: skip
        if len(given) > len(inputs):
            extra = given[len(inputs)]
            self.report("R304", f"{node.name} takes {len(inputs)} inputs, not {len(given)}",
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
            if option is None:
                names = [*known, *(n for n, _ in spec.inputs)]
                self.found.append(
                    unknown(f"option of {node.name}", argument.name, names, where, "R204")
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
            elif option.choices and value.constant is not None:
                self.choice(str(value.constant.value), option.choices, argument.value.span)
            if argument.name == spec.bounded_by:
                size = s.whole_number(value)
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

    # ---- forms ---------------------------------------------------------------------------

    def ask(self, node: ir.Ask, scope: s.Scope) -> s.Value:
        """Check a model call."""
        self.settings(node.options, CALL_SETTINGS, scope)
        value, limit = self.prompted(node.call, scope)
        return s.Value(type=value.type, span=node.span, size=limit)

    def prompted(self, call: ir.Call, scope: s.Scope) -> tuple[s.Value, int | None]:
        """Check the prompt of a model call and what it is given; return its result and limit."""
        prompt = self.program.prompts.get(call.name)
        if prompt is None:
            known = self.program.prompts
            self.found.append(unknown("prompt", call.name, known, call.name_span, "R202"))
            for argument in call.args:
                self.expr(argument.value, scope)
            return s.broken(call.span), None
        self.asked.add(call.name)
        inputs, returns = signature(prompt)
        bound = self.arguments(call, inputs, scope)
        limit: int | None = None
        kinds = dict(inputs)
        for argument in call.args:
            if argument.name is None:
                continue
            value = self.expr(argument.value, scope)
            where = argument.name_span or argument.span
            if argument.name == "limit" and returns.name == "List":
                limit = self.count(value, argument.value.span, "limit")
                kinds.setdefault("limit", NUMBER)
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

    def each(self, node: ir.Each, scope: s.Scope) -> s.Value:
        """Check a parallel map; its length must be bounded."""
        items = self.expr(node.items, scope)
        if items.type.name not in {"List", UNKNOWN.name}:
            self.mismatch("R303", "'each' goes over", items, list_of(Type("T")), node.items.span)
        size = items.size
        if node.limit is not None:
            limit = self.count(self.expr(node.limit, scope), node.limit.span, "limit")
            size = limit if size is None or (limit is not None and limit < size) else size
        if size is None and items.type != UNKNOWN:
            made = Related("the list is made here", items.span)
            self.report("R309", "this 'each' has no bound, so the run has no price",
                        node.items.span, "write 'up to n', or give its producer a 'limit:'", made)  # fmt: skip
        inner = s.Scope(outer=scope)
        self.define(inner, node.var, s.Value(type=items.type.item, span=node.var_span), "variable")
        body = self.block(node.body, inner) or s.broken(node.body.span)
        self.unused(inner, [node.var], "variable")
        self.policy(node.on_error, body, scope)
        return s.Value(type=list_of(body.type), span=node.span, size=size)

    def policy(self, node: ir.OnError | None, body: s.Value, scope: s.Scope) -> None:
        """Check what a failed item does."""
        if node is None:
            return
        if node.policy not in POLICIES:
            self.found.append(unknown("on_error policy", node.policy, POLICIES, node.span, "R214"))
            return
        wants = node.policy in {"default", "quorum"}
        if wants != (node.value is not None):
            how = f"{node.policy}(value)" if wants else node.policy
            self.report("R214", f"the policy is written '{how}'", node.span)
            return
        if node.value is None:
            return
        value = self.expr(node.value, scope)
        if node.policy == "quorum":
            self.count(value, node.value.span, "quorum")
        elif not assignable(value.type, body.type):
            self.mismatch("R301", "the default is", value, body.type, node.value.span)

    def dialog(self, node: ir.Dialog, scope: s.Scope) -> s.Value:
        """Check a search-in-decode loop."""
        names = self.settings(node.options, DIALOG_OPTIONS, scope)
        value, _ = self.prompted(node.call, scope)
        if not assignable(value.type, CHAIN):
            self.mismatch("R301", "the prompt of a dialog returns", value, CHAIN, node.call.span)
        if "searches" not in names:
            self.report("R309", "this dialog has no bound on its searches", node.call.name_span,
                        "add 'searches: n'")  # fmt: skip
        if not node.handlers:
            self.report("R310", "a dialog needs at least one 'on tool(...)'", node.span)
        seen: dict[tuple[str, int], Span] = {}
        for handler in node.handlers:
            key = (handler.tool, len(handler.params))
            if key in seen:
                shown = f"{handler.tool}({', '.join(handler.params)})"
                self.found.append(twice("handler", shown, handler.span, seen[key]))
            seen[key] = handler.span
            self.handler(handler, scope)
        return s.Value(type=CHAIN, span=node.span)

    def handler(self, node: ir.Handler, scope: s.Scope) -> None:
        """Check what a dialog does when the model asks for a tool."""
        inner = s.Scope(outer=scope)
        for param in node.params:
            self.define(inner, param, s.Value(type=TEXT, span=node.span), "argument")
        result = self.block(node.body, inner)
        self.unused(inner, node.params, "argument")
        if result is not None and not assignable(result.type, EVIDENCE):
            self.mismatch("R301", "a handler gives back", result, EVIDENCE, result.span)

    # ---- numbers and settings ------------------------------------------------------------

    def settings(
        self, options: Sequence[ir.Argument], known: Sequence[str], scope: s.Scope
    ) -> set[str]:
        """Check the settings of a model call; return the names that are set."""
        seen: dict[str, Span] = {}
        for option in options:
            value = self.expr(option.value, scope)
            where = option.name_span or option.span
            if option.name is None:
                self.report("R304", "a setting is written 'name: value'", option.span)
            elif option.name not in known:
                self.found.append(unknown("setting", option.name, known, where, "R216"))
            elif option.name in seen:
                self.found.append(twice("setting", option.name, where, seen[option.name]))
            elif option.name in {"searches", "turns", "retries", "max_tokens"}:
                low = 0 if option.name == "retries" else 1
                self.count(value, option.value.span, option.name, low)
            elif not assignable(value.type, NUMBER):
                self.mismatch("R301", f"{option.name} is", value, NUMBER, option.value.span)
            if option.name is not None:
                seen[option.name] = where
        return set(seen)

    def limits(self, limits: Sequence[ir.Argument], scope: s.Scope) -> None:
        """Check the limits of a budget."""
        for limit in limits:
            value = self.expr(limit.value, scope)
            where = limit.name_span or limit.span
            if limit.name not in LIMITS:
                self.found.append(unknown("limit", limit.name or "", LIMITS, where, "R215"))
            elif value.type != UNKNOWN and not _positive(value):
                self.report("R311", f"{limit.name} is a number above 0", limit.value.span)

    def count(self, value: s.Value, span: Span, what: str, low: int = 1) -> int | None:
        """Return a whole number that is known before the run, or report that it is none."""
        if value.type == UNKNOWN:
            return None
        number = s.whole_number(value)
        if number is None or number < low:
            shown = value.constant.span.text if value.constant else f"a {value.type}"
            self.report("R311", f"{what} is a whole number of at least {low}, not {shown}", span)
            return None
        return number

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
        self.report(code, f"{what} {_named(value.type)}, but {_named(wanted)} is needed", span,
                    hint, *notes)  # fmt: skip


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


def _positive(value: s.Value) -> bool:
    literal = value.constant.value if value.constant else None
    return isinstance(literal, Decimal) and literal > 0


def _named(kind: Type) -> str:
    if kind.name == "List":
        return f"a list ({kind})"
    article = "an" if kind.name[:1] in "AEIO" else "a"
    return f"{article} {kind}"
