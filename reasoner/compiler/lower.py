"""A checked program to a plan: nested calls become steps, parameters become constants."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import assert_never

from reasoner import ir
from reasoner import plan as p
from reasoner.compiler.program import Program
from reasoner.compiler.prompts import read_type, signature, task_of
from reasoner.op import Catalog

#: How often a model is asked again, if the recipe does not say, when a reply does not fit.
DEFAULT_RETRIES = 2
#: Turns of a dialog beyond its searches: room for notices of duplicate or refused searches.
SPARE_TURNS = 5


def lower(program: Program, variant: str | None, catalog: Catalog) -> p.Plan:
    """Return the plan of a program without errors; dead steps are left out."""
    method = program.method
    lowering = _Lowering(program, catalog)
    names: dict[str, p.Operand] = {i.name: p.Ref(id=i.name) for i in method.inputs}
    lowering.ids.update(names)
    for param in method.params:
        names[param.name] = lowering.operand(param.value, names, "", [])
    body = prune(lowering.block(method.body, names, ""))
    asked = {s.prompt for s in p.steps(body) if isinstance(s, p.AskStep | p.DialogStep)}
    return p.Plan(
        method=method.name,
        variant=variant,
        inputs=tuple((i.name, read_type(i.type, [])) for i in method.inputs),
        returns=read_type(method.returns, []),
        prompts={name: _prompt(program.prompts[name]) for name in sorted(asked)},
        limits=_limits(method.limits, names, lowering),
        body=body,
    )


def _prompt(node: ir.Prompt) -> p.PromptPlan:
    inputs, returns = signature(node)
    return p.PromptPlan(
        name=node.name, inputs=inputs, returns=returns, task=task_of(node), text=node.text.value
    )


def prune(block: p.Block) -> p.Block:
    """Return a block without the steps that its result does not need: no step has side effects."""
    needed = set(p.refs(block.result))
    kept: list[p.Step] = []
    for step in reversed(block.steps):
        if step.id in needed:
            needed |= p.needs(step)
            kept.append(step)
    return p.Block(steps=tuple(reversed(kept)), result=block.result)


@dataclass(slots=True)
class _Lowering:
    """Gives every step an id that is unique in the plan and the same for both notations."""

    program: Program
    catalog: Catalog
    ids: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        number, name = 1, wanted
        while name in self.ids:
            number += 1
            name = f"{wanted}#{number}"
        self.ids.add(name)
        return name

    def block(self, block: ir.Block, names: Mapping[str, p.Operand], prefix: str) -> p.Block:
        inner = dict(names)
        steps: list[p.Step] = []
        result: p.Operand = p.Const(value=None)
        for statement in block.body:
            match statement:
                case ir.Bind():
                    wanted = prefix + statement.name
                    inner[statement.name] = self.operand(
                        statement.value, inner, prefix, steps, wanted
                    )
                case ir.Return():
                    result = self.operand(statement.value, inner, prefix, steps)
        return p.Block(steps=tuple(steps), result=result)

    def operand(
        self,
        node: ir.Expr,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
        wanted: str | None = None,
    ) -> p.Operand:
        """Return the operand for an expression, after adding the steps that compute it."""
        match node:
            case ir.Literal():
                return p.Const(value=node.value)
            case ir.Name():
                return names[node.name]
            case ir.ListOf():
                items = tuple(self.operand(i, names, prefix, steps) for i in node.items)
                return p.Seq(items=items)
            case ir.Call():
                step: p.Step = self.call(node, names, prefix, steps, wanted)
            case ir.Ask():
                step = self.ask(node, names, prefix, steps, wanted)
            case ir.Each():
                step = self.each(node, names, prefix, steps, wanted)
            case ir.Dialog():
                step = self.dialog(node, names, prefix, steps, wanted)
            case ir.Budget():
                id_ = self.fresh(wanted or prefix + "budget")
                limits = _limits(node.limits, names, self)
                step = p.BudgetStep(
                    id=id_,
                    limits=limits,
                    body=prune(self.block(node.body, names, id_ + ".")),
                    place=node.span.place,
                )
            case _:
                assert_never(node)
        steps.append(step)
        self.note_size(step)
        return p.Ref(id=step.id)

    def call(
        self,
        node: ir.Call,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
        wanted: str | None,
    ) -> p.OpStep:
        spec = self.catalog[node.name]
        args = tuple(
            self.operand(a.value, names, prefix, steps) for a in node.args if a.name is None
        )
        options = {
            a.name: self.operand(a.value, names, prefix, steps)
            for a in sorted(node.args, key=lambda a: a.name or "")
            if a.name is not None
        }
        return p.OpStep(
            id=self.fresh(wanted or prefix + node.name),
            op=node.name,
            version=spec.version,
            args=args,
            options=options,
            place=node.span.place,
        )

    def prompted(
        self,
        call: ir.Call,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
    ) -> dict[str, p.Operand]:
        inputs = [name for name, _ in signature(self.program.prompts[call.name])[0]]
        given = [a for a in call.args if a.name is None]
        args = {
            name: self.operand(a.value, names, prefix, steps)
            for name, a in zip(inputs, given, strict=False)
        }
        args |= {
            a.name: self.operand(a.value, names, prefix, steps)
            for a in call.args
            if a.name is not None
        }
        return dict(sorted(args.items()))

    def ask(
        self,
        node: ir.Ask,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
        wanted: str | None,
    ) -> p.AskStep:
        args = self.prompted(node.call, names, prefix, steps)
        inputs, returns = signature(self.program.prompts[node.call.name])
        limit = args.get("limit") if returns.name == "List" else None
        if limit is not None and "limit" not in dict(inputs):
            del args["limit"]
        settings = self.settings(node.options, names)
        retries = settings.pop("retries", p.Const(value=Decimal(DEFAULT_RETRIES)))
        return p.AskStep(
            id=self.fresh(wanted or prefix + node.call.name),
            prompt=node.call.name,
            role=node.role,
            args=args,
            limit=limit,
            retries=_whole(retries),
            settings=settings,
            place=node.span.place,
        )

    def settings(
        self, options: tuple[ir.Argument, ...], names: Mapping[str, p.Operand]
    ) -> dict[str, p.Operand]:
        return {
            o.name: self.operand(o.value, names, "", [])
            for o in sorted(options, key=lambda o: o.name or "")
            if o.name is not None
        }

    def each(
        self,
        node: ir.Each,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
        wanted: str | None,
    ) -> p.EachStep:
        items = self.operand(node.items, names, prefix, steps)
        id_ = self.fresh(wanted or prefix + "each")
        var = self.fresh(f"{id_}.{node.var}")
        body = self.block(node.body, {**names, node.var: p.Ref(id=var)}, id_ + ".")
        policy = node.on_error
        value = None
        if policy is not None and policy.value is not None:
            value = self.operand(policy.value, names, prefix, steps)
        bound = self.size(items)
        if node.limit is not None:
            limit = _whole(self.operand(node.limit, names, prefix, []))
            bound = limit if bound is None else min(limit, bound)
        if bound is None:
            raise AssertionError("the checker lets only bounded lists through here")
        name = policy.policy if policy else "fail"
        return p.EachStep(
            id=id_,
            var=var,
            items=items,
            bound=bound,
            on_error=name,
            default=value if name == "default" else None,
            quorum=_whole(value) if name == "quorum" and value is not None else 0,
            body=prune(body),
            place=node.span.place,
        )

    def size(self, items: p.Operand) -> int | None:
        """Return the largest length of a list, from the step that makes it."""
        match items:
            case p.Seq():
                return len(items.items)
            case p.Const():
                return None
            case p.Ref():
                return self.sizes.get(items.id)

    def note_size(self, step: p.Step) -> None:
        """Keep the largest length of the list that a step makes, if it is known."""
        match step:
            case p.AskStep(limit=p.Const() as limit):
                self.sizes[step.id] = _whole(limit)
            case p.EachStep():
                self.sizes[step.id] = step.bound
            case p.OpStep():
                bounded = self.catalog[step.op].bounded_by
                if bounded is not None and bounded in step.options:
                    self.sizes[step.id] = _whole(step.options[bounded])
            case _:
                pass

    def dialog(
        self,
        node: ir.Dialog,
        names: Mapping[str, p.Operand],
        prefix: str,
        steps: list[p.Step],
        wanted: str | None,
    ) -> p.DialogStep:
        args = self.prompted(node.call, names, prefix, steps)
        id_ = self.fresh(wanted or prefix + node.call.name)
        settings = self.settings(node.options, names)
        searches = _whole(settings.pop("searches"))
        default = p.Const(value=Decimal(searches + SPARE_TURNS))
        handlers = []
        for handler in node.handlers:
            inner = self.fresh(f"{id_}.{handler.tool}")
            params = tuple(self.fresh(f"{inner}.{name}") for name in handler.params)
            bound = {n: p.Ref(id=i) for n, i in zip(handler.params, params, strict=True)}
            body = prune(self.block(handler.body, {**names, **bound}, inner + "."))
            handlers.append(p.HandlerPlan(tool=handler.tool, params=params, body=body))
        return p.DialogStep(
            id=id_,
            prompt=node.call.name,
            role=node.role,
            args=args,
            searches=searches,
            turns=_whole(settings.pop("turns", default)),
            settings=settings,
            handlers=tuple(handlers),
            place=node.span.place,
        )


def _whole(operand: p.Operand) -> int:
    match operand:
        case p.Const(value=Decimal() as number):
            return int(number)
        case _:
            raise AssertionError("the checker lets only constants through here")


def _limits(
    limits: tuple[ir.Argument, ...], names: Mapping[str, p.Operand], lowering: _Lowering
) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for limit in limits:
        match lowering.operand(limit.value, names, "", []):
            case p.Const(value=Decimal() as number) if limit.name is not None:
                found[limit.name] = number
            case _:
                raise AssertionError("the checker lets only constants through here")
    return dict(sorted(found.items()))
