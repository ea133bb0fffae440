"""A checked program to a plan: nested expressions become steps, parameters become constants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import assert_never

from reasoner import ir
from reasoner import plan as p
from reasoner.compiler import weights
from reasoner.compiler.forms import MATRIX_PARTS
from reasoner.compiler.program import Program
from reasoner.compiler.prompts import read_type, signature, task_of
from reasoner.op import Catalog

#: How often a model is asked again, if the recipe does not say, when a reply does not fit.
DEFAULT_RETRIES = 2
#: Turns of a dialog beyond its searches: room for notices of duplicate or refused searches.
SPARE_TURNS = 5


def lower(program: Program, variant: str | None, catalog: Catalog) -> p.Plan:
    """Return the plan of a program without errors, before any rewrite."""
    method = program.method
    lowering = _Lowering(catalog)
    names: dict[str, p.Operand] = {i.name: p.Ref(id=i.name) for i in method.inputs}
    lowering.ids.update(names)
    env = _Env(program, names, "", [])
    for param in method.params:
        names[param.name] = lowering.operand(param.value, env)
    body = lowering.block(method.body, env, "")
    return p.Plan(
        method=method.name,
        variant=variant,
        inputs=tuple((i.name, read_type(i.type, [])) for i in method.inputs),
        returns=read_type(method.returns, []),
        prompts=dict(sorted(lowering.prompts.items())),
        limits=lowering.limits(method.limits, env),
        body=body,
    )


@dataclass(frozen=True, slots=True)
class _Env:
    """What names stand for at a place, the ids of steps there, and where new steps go."""

    program: Program
    names: Mapping[str, p.Operand]
    prefix: str
    steps: list[p.Step]

    def inside(self, prefix: str, names: Mapping[str, p.Operand]) -> "_Env":
        """Return the environment of a block inside."""
        return replace(self, names={**self.names, **names}, prefix=prefix, steps=[])


@dataclass(slots=True)
class _Lowering:
    """Gives every step an id that is unique in the plan and the same for both notations."""

    catalog: Catalog
    ids: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, p.PromptPlan] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        number, name = 1, wanted
        while name in self.ids:
            number += 1
            name = f"{wanted}#{number}"
        self.ids.add(name)
        return name

    # ---- blocks --------------------------------------------------------------------------

    def block(self, block: ir.Block, env: _Env, prefix: str) -> p.Block:
        """Return the steps of a block."""
        names = dict(env.names)
        inner = _Env(env.program, names, prefix, [])
        result: p.Operand = p.Const(value=None)
        for statement in block.body:
            match statement:
                case ir.Bind():
                    value = self.operand(statement.value, inner, prefix + statement.name)
                    names[statement.name] = value
                case ir.Return():
                    result = self.operand(statement.value, inner)
        return p.Block(steps=tuple(inner.steps), result=result)

    def inner(self, block: ir.Block, env: _Env, id_: str, variables: Sequence[str] = ()) -> p.Inner:
        """Return a block inside the step ``id_``, with variables of its own."""
        params = tuple(self.fresh(f"{id_}.{name}") for name in variables)
        refs: dict[str, p.Operand] = {
            name: p.Ref(id=i) for name, i in zip(variables, params, strict=True)
        }
        body = self.block(block, env.inside(id_, refs), f"{id_}.")
        return p.Inner(id=id_, params=params, body=body)

    def part(self, handler: ir.Handler, env: _Env, id_: str, known: Iterable[str]) -> p.Inner:
        """Return a part whose variables are asked for by name: one for each that it could ask for."""
        names = [name if name in handler.params else f"{name}'" for name in known]
        return self.inner(handler.body, env, self.fresh(f"{id_}.{handler.tool}"), names)

    # ---- expressions ---------------------------------------------------------------------

    def operand(self, node: ir.Expr, env: _Env, wanted: str | None = None) -> p.Operand:
        """Return the operand for an expression, after adding the steps that compute it."""
        match node:
            case ir.Literal():
                return p.Const(value=node.value)
            case ir.Name():
                return env.names[node.name]
            case ir.ListOf():
                return p.Seq(items=tuple(self.operand(i, env) for i in node.items))
            case ir.RecordOf():
                items = {i.name: self.operand(i.value, env) for i in node.items if i.name}
                return p.Rec(fields=dict(sorted(items.items())))
            case ir.Call() if node.name in env.program.helpers:
                return self.helper(node, env, wanted)
            case _:
                step = self.step(node, env, wanted)
        env.steps.append(step)
        self.note_size(step)
        return p.Ref(id=step.id)

    def step(self, node: ir.Expr, env: _Env, wanted: str | None) -> p.Step:
        """Return the step of an expression that needs one."""
        match node:
            case ir.Call():
                return self.call(node, env, wanted)
            case ir.Field() | ir.Unary() | ir.Binary():
                return self.calc(node, env, wanted)
            case ir.Ask():
                return self.ask(node, env, wanted)
            case ir.Each():
                return self.each(node, env, wanted)
            case ir.Dialog():
                return self.dialog(node, env, wanted)
            case ir.Budget():
                id_ = self.fresh(wanted or env.prefix + "budget")
                limits = self.limits(node.limits, env)
                inner = self.inner(node.body, env, id_)
                return p.BudgetStep(id=id_, limits=limits, inner=inner, place=node.span.place)
            case ir.If():
                return self.if_(node, env, wanted)
            case ir.First():
                return self.first(node, env, wanted)
            case ir.Loop():
                return self.loop(node, env, wanted)
            case ir.Fold():
                return self.fold(node, env, wanted)
            case ir.Matrix():
                return self.matrix(node, env, wanted)
            case ir.Frontier():
                return self.frontier(node, env, wanted)
            case ir.Literal() | ir.Name() | ir.ListOf() | ir.RecordOf():
                raise AssertionError("these need no step")
            case _:
                assert_never(node)

    def calc(
        self, node: ir.Field | ir.Unary | ir.Binary, env: _Env, wanted: str | None
    ) -> p.CalcStep:
        args: tuple[ir.Expr, ...]
        match node:
            case ir.Field():
                fn, args = f".{node.name}", (node.value,)
            case ir.Unary():
                fn, args = node.sign, (node.value,)
            case ir.Binary():
                fn, args = node.sign, (node.left, node.right)
            case _:
                assert_never(node)
        operands = tuple(self.operand(a, env) for a in args)
        id_ = self.fresh(wanted or env.prefix + "calc")
        return p.CalcStep(id=id_, fn=fn, args=operands, place=node.span.place)

    def call(self, node: ir.Call, env: _Env, wanted: str | None) -> p.OpStep:
        spec = self.catalog[node.name]
        args = tuple(self.operand(a.value, env) for a in node.args if a.name is None)
        options = {
            a.name: self.operand(a.value, env)
            for a in sorted(node.args, key=lambda a: a.name or "")
            if a.name is not None
        }
        return p.OpStep(
            id=self.fresh(wanted or env.prefix + node.name),
            op=node.name,
            version=spec.version,
            args=args,
            options=options,
            place=node.span.place,
        )

    def helper(self, node: ir.Call, env: _Env, wanted: str | None) -> p.Operand:
        """Put the steps of another method in the place of its call."""
        program = env.program.helpers[node.name]
        method = program.method
        id_ = self.fresh(wanted or env.prefix + node.name)
        names: dict[str, p.Operand] = {}
        own = _Env(program, names, f"{id_}.", env.steps)
        given = {a.name: a.value for a in node.args if a.name is not None}
        positional = [a.value for a in node.args if a.name is None]
        for index, wanted_input in enumerate(method.inputs):
            value = positional[index] if index < len(positional) else given[wanted_input.name]
            names[wanted_input.name] = self.operand(value, env)
        for param in method.params:
            names[param.name] = (
                self.operand(given[param.name], env)
                if param.name in given
                else self.operand(param.value, own)
            )
        block = self.block(method.body, own, f"{id_}.")
        if method.limits:
            inner = p.Inner(id=id_, params=(), body=block)
            limits = self.limits(method.limits, own)
            step = p.BudgetStep(id=id_, limits=limits, inner=inner, place=node.span.place)
            env.steps.append(step)
            self.note_size(step)
            return p.Ref(id=id_)
        env.steps.extend(block.steps)
        return block.result

    # ---- models --------------------------------------------------------------------------

    def prompted(self, call: ir.Call, env: _Env) -> tuple[str, dict[str, p.Operand]]:
        """Return the name of a prompt in the plan, and its arguments by name."""
        node = env.program.prompts[call.name]
        inputs, returns = signature(node)
        prompt = p.PromptPlan(
            name=node.name, inputs=inputs, returns=returns, task=task_of(node), text=node.text.value
        )
        number, name = 1, node.name
        while self.prompts.setdefault(name, replace(prompt, name=name)) != replace(
            prompt, name=name
        ):
            number += 1  # two files have prompts of one name
            name = f"{node.name}#{number}"
        given = [a for a in call.args if a.name is None]
        args = {key: self.operand(a.value, env) for (key, _), a in zip(inputs, given, strict=False)}
        args |= {a.name: self.operand(a.value, env) for a in call.args if a.name is not None}
        return name, dict(sorted(args.items()))

    def ask(self, node: ir.Ask, env: _Env, wanted: str | None) -> p.AskStep:
        prompt, args = self.prompted(node.call, env)
        plan = self.prompts[prompt]
        limit = args.get("limit") if plan.returns.name == "List" else None
        if limit is not None and "limit" not in dict(plan.inputs):
            del args["limit"]
        settings = self.settings(node.options, env)
        retries = settings.pop("retries", p.Const(value=Decimal(DEFAULT_RETRIES)))
        return p.AskStep(
            id=self.fresh(wanted or env.prefix + node.call.name),
            prompt=prompt,
            role=node.role,
            args=args,
            limit=limit,
            retries=whole(retries),
            settings=settings,
            place=node.span.place,
        )

    def settings(self, options: tuple[ir.Argument, ...], env: _Env) -> dict[str, p.Operand]:
        return {
            o.name: self.operand(o.value, env)
            for o in sorted(options, key=lambda o: o.name or "")
            if o.name is not None
        }

    def dialog(self, node: ir.Dialog, env: _Env, wanted: str | None) -> p.DialogStep:
        prompt, args = self.prompted(node.call, env)
        id_ = self.fresh(wanted or env.prefix + node.call.name)
        settings = self.settings(node.options, env)
        searches = whole(settings.pop("searches"))
        default = p.Const(value=Decimal(searches + SPARE_TURNS))
        handlers = [
            p.HandlerPlan(
                tool=h.tool,
                inner=self.inner(h.body, env, self.fresh(f"{id_}.{h.tool}"), h.params),
            )
            for h in node.handlers
        ]
        return p.DialogStep(
            id=id_,
            prompt=prompt,
            role=node.role,
            args=args,
            searches=searches,
            turns=whole(settings.pop("turns", default)),
            settings=settings,
            handlers=tuple(handlers),
            place=node.span.place,
        )

    # ---- repeating and choosing ----------------------------------------------------------

    def each(self, node: ir.Each, env: _Env, wanted: str | None) -> p.EachStep:
        items = self.operand(node.items, env)
        id_ = self.fresh(wanted or env.prefix + "each")
        policy = node.on_error
        value = None
        if policy is not None and policy.value is not None:
            value = self.operand(policy.value, env)
        name = policy.policy if policy else "fail"
        return p.EachStep(
            id=id_,
            items=items,
            bound=self.bound(items, node.limit, env),
            on_error=name,
            default=value if name == "default" else None,
            quorum=whole(value) if name == "quorum" and value is not None else 0,
            inner=self.inner(node.body, env, id_, [node.var]),
            place=node.span.place,
        )

    def bound(self, items: p.Operand, limit: ir.Expr | None, env: _Env) -> int:
        """Return the largest length of a list that is gone over."""
        match items:
            case p.Seq():
                size: int | None = len(items.items)
            case p.Ref():
                size = self.sizes.get(items.id)
            case _:
                size = None
        if limit is not None:
            most = whole(self.operand(limit, env))
            size = most if size is None else min(most, size)
        if size is None:
            raise AssertionError("the checker lets only bounded lists through here")
        return size

    def note_size(self, step: p.Step) -> None:
        """Keep the largest length of the list that a step makes, if it is known."""
        size: int | None = None
        match step:
            case p.AskStep(limit=p.Const() as limit):
                size = whole(limit)
            case p.EachStep():
                size = step.bound
            case p.FrontierStep():
                size = step.best * step.depth
            case p.BudgetStep():
                size = self.length(step.inner.body.result)
            case p.IfStep():
                size = self.most(step.then, step.otherwise)
            case p.FirstStep():
                size = self.most(*step.alternatives)
            case p.CalcStep(fn="+", args=(left, right)):
                parts = (self.length(left), self.length(right))
                size = None if None in parts else sum(x for x in parts if x is not None)
            case p.OpStep():
                bounded = self.catalog[step.op].bounded_by
                if bounded is not None and bounded in step.options:
                    size = whole(step.options[bounded])
            case _:
                pass
        if size is not None:
            self.sizes[step.id] = size

    def length(self, operand: p.Operand) -> int | None:
        """Return the largest length of a list, if it is known."""
        match operand:
            case p.Seq():
                return len(operand.items)
            case p.Ref():
                return self.sizes.get(operand.id)
            case _:
                return None

    def most(self, *blocks: p.Inner) -> int | None:
        """Return the largest length that one of several blocks can give."""
        sizes = [self.length(b.body.result) for b in blocks]
        return None if None in sizes else max((x for x in sizes if x is not None), default=None)

    def if_(self, node: ir.If, env: _Env, wanted: str | None) -> p.IfStep:
        cond = self.operand(node.cond, env)
        id_ = self.fresh(wanted or env.prefix + "if")
        empty = p.Block(steps=(), result=p.Const(value=None))
        nothing = p.Inner(id=f"{id_}.else", params=(), body=empty)
        return p.IfStep(
            id=id_,
            cond=cond,
            then=self.inner(node.then, env, self.fresh(f"{id_}.then")),
            otherwise=self.inner(node.otherwise, env, self.fresh(f"{id_}.else"))
            if node.otherwise
            else nothing,
            place=node.span.place,
        )

    def first(self, node: ir.First, env: _Env, wanted: str | None) -> p.FirstStep:
        id_ = self.fresh(wanted or env.prefix + "first")
        alternatives = tuple(
            self.inner(block, env, self.fresh(f"{id_}.{number}"))
            for number, block in enumerate(node.alternatives, start=1)
        )
        accept = None
        if node.accept is not None and node.var is not None:
            block = _valued(node.accept)
            accept = self.inner(block, env, self.fresh(f"{id_}.accept"), [node.var])
        return p.FirstStep(id=id_, alternatives=alternatives, accept=accept, place=node.span.place)

    def loop(self, node: ir.Loop, env: _Env, wanted: str | None) -> p.LoopStep:
        init = self.operand(node.init, env)
        limit = whole(self.operand(node.limit, env))
        id_ = self.fresh(wanted or env.prefix + "loop")
        until = None
        if node.until is not None:
            until = self.inner(_valued(node.until), env, self.fresh(f"{id_}.until"), [node.var])
        policy = node.on_limit
        default = None
        if policy is not None and policy.value is not None:
            default = self.operand(policy.value, env)
        return p.LoopStep(
            id=id_,
            init=init,
            limit=limit,
            inner=self.inner(node.body, env, id_, [node.var]),
            until=until,
            on_limit=policy.policy if policy else "return",
            default=default,
            place=node.span.place,
        )

    def fold(self, node: ir.Fold, env: _Env, wanted: str | None) -> p.FoldStep:
        items = self.operand(node.items, env)
        init = self.operand(node.init, env)
        id_ = self.fresh(wanted or env.prefix + "fold")
        return p.FoldStep(
            id=id_,
            items=items,
            bound=self.bound(items, None, env),
            init=init,
            inner=self.inner(node.body, env, id_, [node.var, node.state]),
            place=node.span.place,
        )

    # ---- growing -------------------------------------------------------------------------

    def matrix(self, node: ir.Matrix, env: _Env, wanted: str | None) -> p.MatrixStep:
        given = {o.name: o.value for o in node.options}
        rows = whole(self.operand(given["rows"], env))
        columns = whole(self.operand(given["columns"], env))
        id_ = self.fresh(wanted or env.prefix + "matrix")
        parts = {h.tool: h for h in node.parts}
        zero = ir.Literal(value=Decimal(0), span=node.span)
        constants = {
            name: ir.Literal(value=o.value, span=node.span)
            for name, o in env.names.items()
            if isinstance(o, p.Const)
        }
        table = weights.table(given.get("weights", zero), constants, rows, columns)

        def inner(name: str) -> p.Inner:
            return self.part(parts[name], env, id_, MATRIX_PARTS[name])

        return p.MatrixStep(
            id=id_,
            rows=rows,
            columns=columns,
            weights=table,
            column=inner("column") if "column" in parts else None,
            cell=inner("cell"),
            summary=inner("summary"),
            place=node.span.place,
        )

    def frontier(self, node: ir.Frontier, env: _Env, wanted: str | None) -> p.FrontierStep:
        items = self.operand(node.items, env)
        id_ = self.fresh(wanted or env.prefix + "frontier")
        given = {o.name or "": self.operand(o.value, env) for o in node.options}
        parts = {h.tool: h for h in node.parts}

        def inner(name: str) -> p.Inner | None:
            handler = parts.get(name)
            if handler is None:
                return None
            return self.inner(handler.body, env, self.fresh(f"{id_}.{name}"), handler.params)

        visit, grow = inner("visit"), inner("grow")
        if visit is None:
            raise AssertionError("the checker sees to it")
        start = self.bound(items, None, env)
        grown = 0
        if grow is not None:
            size = self.length(grow.body.result)
            grown = whole(given["grown"]) if "grown" in given else (size or 0)
        return p.FrontierStep(
            id=id_,
            items=items,
            best=whole(given["best"]),
            depth=whole(given["depth"]),
            grown=grown,
            bound=start,
            novelty=_decimal(given.get("novelty"), Decimal(1)),
            scope=_word(given.get("scope"), "global"),
            select=_word(given.get("select"), "best"),
            seed=int(_decimal(given.get("seed"), Decimal(0))),
            drain=given.get("drain") == p.Const(value=True),
            score=inner("score"),
            visit=visit,
            grow=grow,
            place=node.span.place,
        )

    def limits(self, limits: tuple[ir.Argument, ...], env: _Env) -> dict[str, Decimal]:
        """Return the limits of a budget by name."""
        found = {limit.name or "": self.operand(limit.value, env) for limit in limits}
        return {name: _decimal(o, Decimal(0)) for name, o in sorted(found.items())}


def _valued(node: ir.Expr) -> ir.Block:
    """Return the block whose value is an expression."""
    return ir.Block(body=(ir.Return(value=node, span=node.span),), span=node.span)


def whole(operand: p.Operand) -> int:
    """Return a constant that is a whole number."""
    return int(_decimal(operand, None))


def _decimal(operand: p.Operand | None, default: Decimal | None) -> Decimal:
    match operand:
        case p.Const(value=Decimal() as number):
            return number
        case None if default is not None:
            return default
        case _:
            raise AssertionError("the checker lets only constants through here")


def _word(operand: p.Operand | None, default: str) -> str:
    match operand:
        case p.Const(value=str() as word):
            return word
        case _:
            return default
