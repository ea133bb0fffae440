"""What the runtime costs beside other orchestrators: 1 decompose, N chains of 5 steps, 1 synthesize.

Usage: python benchmarks/runtime.py [--peers PYTHON] [--repeat 7] [--folder DIR]

Every call goes to a stub that sleeps 20 ms, so 7 x 20 ms is the least a run can take. Ours runs
with the journal and the record on DIR, in memory (/dev/shm), and without; a bare
``asyncio.TaskGroup`` runs beside every repeat, so that ratios compare under the same load, and so
does a line of 7 calls, each followed by a flush to the disk: no run that keeps what it paid for
before it uses it can be faster. PYTHON is the interpreter of an
environment with langgraph, pydantic-graph and haystack-ai; those that are missing are left out.
Each of them runs in a process of its own, with the same TaskGroup beside it and the same settings
of the garbage collector. Every run asserts that each of its 5 N + 2 calls was made.

Numbers are medians over the repeats, and minima in brackets. "answer" is the time until the value
of the method is there, "saved" until the record is on the disk too; CPU is that of all threads
until the end of each, per call.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

SIZES = (4, 64, 1000)
ITEMS = (1000, 4000, 10_000)
DELAY_S = 0.02
LEVELS = 7
IDEAL_S = LEVELS * DELAY_S

RECIPE = """
prompt plan(question: Text, limit: Number) -> List[Text] as decompose { "Split: {question}" }
prompt work(item: Text, so_far: Text) -> Text { "Step on {item} after {so_far}" }
prompt tell(parts: List[Text]) -> Answer { "Put together: {parts}" }
method fan(question: Text) -> Answer {
  param n = 64
  items = ask plan(question, limit: n) by m
  parts = each x in items {
    a = ask work(x, "") by m
    b = ask work(x, a) by m
    c = ask work(x, b) by m
    d = ask work(x, c) by m
    ask work(x, d) by m
  }
  return ask tell(parts) by m
}
"""

#: What every peer's program begins with. It sets ``prepare(n)``, which returns a coroutine function.
BEGIN = """
import asyncio, gc, json, sys, time
sizes, repeat, delay = json.loads(sys.argv[1])
calls = 0
async def stub(text):
    global calls
    calls += 1
    await asyncio.sleep(delay)
    return "ok"
async def bare(n):
    async def chain(i):
        text = ""
        for _ in range(5):
            text = await stub(f"Step on item {i} after {text}")
        return text
    await stub("Split")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(chain(i)) for i in range(n)]
    await stub("Put together: " + " ".join(t.result() for t in tasks))
"""

#: And what it ends with: the measurement, beside a bare TaskGroup.
END = """
def measure(n, start):
    global calls
    calls = 0
    async def main():
        cpu, wall = time.process_time(), time.perf_counter()
        await start()
        return time.perf_counter() - wall, time.process_time() - cpu
    found = asyncio.run(main())
    assert calls == 5 * n + 2, f"{calls} calls for n = {n}"
    return found
gc.collect(); gc.freeze(); gc.set_threshold(50_000, 20, 50)
out = []
for n in sizes:
    measure(n, lambda: bare(n))
    measure(n, prepare(n))
    for _ in range(repeat):
        out.append([n, measure(n, lambda: bare(n)), measure(n, prepare(n))])
print(json.dumps(out))
"""

LANGGRAPH = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send
class State(TypedDict):
    n: int
    parts: Annotated[list, operator.add]
class Item(TypedDict):
    item: str
    text: str
    left: int
"""

#: name -> (module that it needs, its distribution, its program)
PEERS = {
    "LangGraph, Send per step": (
        "langgraph",
        "langgraph",
        LANGGRAPH
        + """
async def plan(state):
    await stub("Split")
    sends = [Send("work", {"item": f"item {i}", "text": "", "left": 5}) for i in range(state["n"])]
    return Command(goto=sends)
async def work(x):
    text = await stub(f"Step on {x['item']} after {x['text']}")
    if x["left"] > 1:
        return Command(goto=[Send("work", {**x, "text": text, "left": x["left"] - 1})])
    return Command(update={"parts": [text]}, goto="tell")
async def tell(state):
    assert len(state["parts"]) == state["n"]
    await stub("Put together: " + " ".join(state["parts"]))
    return {}
builder = StateGraph(State)
builder.add_node("plan", plan, destinations=("work",))
builder.add_node("work", work, input_schema=Item, destinations=("work", "tell"))
builder.add_node("tell", tell)
builder.add_edge(START, "plan")
builder.add_edge("tell", END)
graph = builder.compile()
def prepare(n):
    return lambda: graph.ainvoke({"n": n, "parts": []})
""",
    ),
    "LangGraph, node per chain": (
        "langgraph",
        "langgraph",
        LANGGRAPH
        + """
async def plan(state):
    await stub("Split")
    return Command(goto=[Send("work", {"item": f"item {i}"}) for i in range(state["n"])])
async def work(x):
    text = ""
    for _ in range(5):
        text = await stub(f"Step on {x['item']} after {text}")
    return Command(update={"parts": [text]}, goto="tell")
async def tell(state):
    assert len(state["parts"]) == state["n"]
    await stub("Put together: " + " ".join(state["parts"]))
    return {}
builder = StateGraph(State)
builder.add_node("plan", plan, destinations=("work",))
builder.add_node("work", work, input_schema=Item, destinations=("tell",))
builder.add_node("tell", tell)
builder.add_edge(START, "plan")
builder.add_edge("tell", END)
graph = builder.compile()
def prepare(n):
    return lambda: graph.ainvoke({"n": n, "parts": []})
""",
    ),
    "pydantic-graph, map, join": (
        "pydantic_graph",
        "pydantic-graph",
        """
from pydantic_graph import GraphBuilder, StepContext, reduce_list_append
def graph_of():
    g = GraphBuilder(input_type=int, output_type=str)
    @g.step
    async def plan(ctx: StepContext[None, None, int]) -> list[tuple[str, str]]:
        await stub("Split")
        return [(f"item {i}", "") for i in range(ctx.inputs)]
    def step_of(k):
        async def work(ctx: StepContext[None, None, tuple[str, str]]) -> tuple[str, str]:
            item, text = ctx.inputs
            return item, await stub(f"Step on {item} after {text}")
        return g.step(work, node_id=f"work{k}")
    works = [step_of(k) for k in range(5)]
    parts = g.join(reduce_list_append, initial_factory=list)
    @g.step
    async def tell(ctx: StepContext[None, None, list]) -> str:
        return await stub("Put together: " + " ".join(text for _, text in ctx.inputs))
    g.add(
        g.edge_from(g.start_node).to(plan),
        g.edge_from(plan).map().to(works[0]),
        *(g.edge_from(a).to(b) for a, b in zip(works, works[1:])),
        g.edge_from(works[-1]).to(parts),
        g.edge_from(parts).to(tell),
        g.edge_from(tell).to(g.end_node),
    )
    return g.build()
graph = graph_of()
def prepare(n):
    return lambda: graph.run(inputs=n)
""",
    ),
    "Haystack, static graph": (
        "haystack",
        "haystack-ai",
        """
import haystack
from haystack import component
from haystack.core.component.types import Variadic
Pipeline = getattr(haystack, "AsyncPipeline", haystack.Pipeline)
@component
class Plan:
    def __init__(self, n):
        self.n = n
        component.set_output_types(self, **{f"item{i}": str for i in range(n)})
    def run(self, question: str):
        raise NotImplementedError
    async def run_async(self, question: str):
        await stub("Split")
        return {f"item{i}": "" for i in range(self.n)}
@component
class Work:
    def __init__(self, item):
        self.item = item
    @component.output_types(text=str)
    def run(self, so_far: str):
        raise NotImplementedError
    @component.output_types(text=str)
    async def run_async(self, so_far: str):
        return {"text": await stub(f"Step on {self.item} after {so_far}")}
@component
class Tell:
    @component.output_types(answer=str)
    def run(self, parts: Variadic[str]):
        raise NotImplementedError
    @component.output_types(answer=str)
    async def run_async(self, parts: Variadic[str]):
        return {"answer": await stub("Put together: " + " ".join(parts))}
pipelines = {}
def prepare(n):
    if n not in pipelines:  # not measured: its graph cannot grow while it runs
        pipe = pipelines[n] = Pipeline()
        pipe.add_component("plan", Plan(n))
        pipe.add_component("tell", Tell())
        for i in range(n):
            for k in range(5):
                pipe.add_component(f"work{i}_{k}", Work(f"item {i}"))
                before = f"work{i}_{k - 1}.text" if k else f"plan.item{i}"
                pipe.connect(before, f"work{i}_{k}.so_far")
            pipe.connect(f"work{i}_4.text", "tell.parts")
    return lambda: pipelines[n].run_async({"plan": {"question": "q"}}, concurrency_limit=100_000)
""",
    ),
}


@dataclass(frozen=True)
class Sample:
    """One run: seconds and CPU seconds, until the answer and until all is saved."""

    wall: float
    cpu: float
    saved: float
    saved_cpu: float
    bare: float


@dataclass
class Row:
    """The runs of one system at one size."""

    name: str
    n: int
    samples: list[Sample] = field(default_factory=list)


# ---- ours ------------------------------------------------------------------------------------


class Ours:
    """The recipe above, run as a program runs it, with a stub for its model."""

    def __init__(self) -> None:
        """Load everything that a run needs, and settle the garbage collector as the CLI does."""
        from reasoner import api
        from reasoner.cli.memory import settle
        from reasoner.testing import tiny_kg

        self.api, self.context = api, tiny_kg()
        with tempfile.TemporaryDirectory() as folder:
            recipe = Path(folder) / "fan.rsn"
            recipe.write_text(RECIPE)
            sizes = {*SIZES, *ITEMS}
            self.plans = {n: api.compile_recipe(recipe, settings={"n": str(n)}) for n in sizes}
        self.once(4, 0, None)
        settle()

    def once(self, n: int, delay: float, base: str | None) -> Sample:
        """Run once; with a journal and a record in a new folder if ``base`` is given."""
        plan, model = self.plans[n], _stub(n, delay)
        last = plan.body.steps[-1].id
        at = [0.0, 0.0]

        def listen(event: object) -> None:
            if event.path == last:  # type: ignore[attr-defined]
                at[:] = time.perf_counter(), time.process_time()

        with tempfile.TemporaryDirectory(dir=base) as folder:
            settings = self.api.RunSettings(runs=Path(folder) if base else None)

            async def main() -> tuple[object, float, float, float, float]:
                cpu, wall = time.process_time(), time.perf_counter()
                outcome = await self.api.run_plan(
                    plan,
                    {"question": "q"},
                    settings,
                    context=self.context,
                    models={"m": model},
                    listener=listen,
                )
                ends = time.perf_counter() - wall, time.process_time() - cpu
                return outcome, at[0] - wall, at[1] - cpu, *ends

            outcome, *seconds = asyncio.run(main())
            assert outcome.record.outcome == "answered", outcome.error
            assert model.calls == len(outcome.record.calls) == 5 * n + 2
            assert len(outcome.value.text) > 0
            if base:
                (run,) = Path(folder).iterdir()
                assert (run / "record.json").is_file()
                with (run / "journal.jsonl").open("rb") as lines:
                    assert sum(1 for _ in lines) == 5 * n + 2
        return Sample(*seconds, bare=0.0)


def _stub(n: int, delay: float):  # noqa: ANN202 - its class needs the imports
    from reasoner.chat import Capability, Reply, Usage

    class Stub:
        id = "stub"
        capabilities = frozenset(Capability)
        concurrency = 100_000
        tasks = None
        calls = 0
        items = json.dumps({"items": [f"item {i}" for i in range(n)]})

        async def complete(self, request: object, *, timeout_s: float) -> Reply:  # noqa: ARG002
            self.calls += 1
            await asyncio.sleep(delay)
            task = request.view.task  # type: ignore[attr-defined]
            text = {"decompose": self.items, "answer": '{"answer": "done"}'}.get(task, "ok")
            return Reply(text=text, usage=Usage(1, 1), model="stub")

    return Stub()


async def bare(n: int, delay: float) -> tuple[float, float]:
    """Run the same calls in a plain TaskGroup; return seconds and CPU seconds."""
    calls = 0

    async def stub(_: str) -> str:
        nonlocal calls
        calls += 1
        await asyncio.sleep(delay)
        return "ok"

    async def chain(i: int) -> str:
        text = ""
        for _ in range(5):
            text = await stub(f"Step on item {i} after {text}")
        return text

    cpu, wall = time.process_time(), time.perf_counter()
    await stub("Split")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(chain(i)) for i in range(n)]
    await stub("Put together: " + " ".join(t.result() for t in tasks))
    found = time.perf_counter() - wall, time.process_time() - cpu
    assert calls == 5 * n + 2
    return found


async def flushed(folder: str) -> tuple[float, float, list[float]]:
    """Wait and write a line to the disk, level by level; return also the seconds of each flush."""
    found = []
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(LEVELS):
            await asyncio.sleep(DELAY_S)
            started = time.perf_counter()
            file.write(b"x" * 600)
            os.fdatasync(file.fileno())
            found.append(time.perf_counter() - started)
        return time.perf_counter() - wall, time.process_time() - cpu, found


def run_ours(repeat: int, folder: str) -> tuple[list[Row], list[float]]:
    """Return the rows of the TaskGroup and of ours, interleaved, and the seconds of each flush."""
    ours = Ours()
    rows: list[Row] = []
    disk: list[float] = []
    kinds: dict[str, str | None] = {"reasoner": folder, "reasoner, files in memory": "/dev/shm"}
    kinds["reasoner, no files"] = None
    for n in SIZES:
        plain, floor = Row("asyncio.TaskGroup", n), Row("7 flushed calls in a line", n)
        mine = {name: Row(name, n) for name in kinds if Path(kinds[name] or "/").is_dir()}
        ours.once(n, DELAY_S, folder)
        for _ in range(repeat):
            wall, cpu = asyncio.run(bare(n, DELAY_S))
            plain.samples.append(Sample(wall, cpu, wall, cpu, wall))
            least, least_cpu, found = asyncio.run(flushed(folder))
            floor.samples.append(Sample(least, least_cpu, least, least_cpu, wall))
            disk += found
            for name, row in mine.items():
                sample = ours.once(n, DELAY_S, kinds[name])
                row.samples.append(replace(sample, bare=wall))
        rows += [plain, floor, *mine.values()]
    return rows, disk


# ---- peers -----------------------------------------------------------------------------------


def version(python: str, module: str, distribution: str) -> str | None:
    """Return the version of a peer, or None if it is not installed."""
    code = f"import {module}, importlib.metadata as m; print(m.version({distribution!r}))"
    asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return asked.stdout.split()[-1] if asked.returncode == 0 else None


def run_peer(python: str, name: str, program: str, repeat: int) -> list[Row]:
    """Run a peer's program in a process of its own."""
    env = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False", "LANGSMITH_TRACING": "false"}
    env.pop("PYTHONPATH", None)
    settings = json.dumps([SIZES, repeat, DELAY_S])
    done = subprocess.run(
        [python, "-c", BEGIN + program + END, settings],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    if done.returncode:
        print(f"{name}: failed\n{done.stderr[-2000:]}")
        return []
    rows = {n: Row(name, n) for n in SIZES}
    for n, (plain, _), (wall, cpu) in json.loads(done.stdout.splitlines()[-1]):
        rows[n].samples.append(Sample(wall, cpu, wall, cpu, plain))
    return list(rows.values())


# ---- many items ------------------------------------------------------------------------------


def items(n: int, folder: str) -> None:
    """Run n items without a delay, in this process, and print what they cost as JSON."""
    ours = Ours()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    found = ours.once(n, 0.0, folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([found.saved, found.saved_cpu, (peak - resident) / 2**20]))


def run_items(folder: str, repeat: int) -> None:
    """Print the cost per item and the growth of memory, each size in a process of its own."""
    runs: dict[int, list[list[float]]] = {n: [] for n in ITEMS}
    for _ in range(repeat):
        for n in ITEMS:
            command = [sys.executable, __file__, "--items", str(n), "--folder", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs[n].append(json.loads(done.stdout.splitlines()[-1]))
    print("\nitems of 5 calls each, stub without delay, journal and record on the disk")
    print(
        f"{'items':>8}{'wall us/item':>16}{'CPU us/item':>16}{'peak growth MiB':>18}{'KiB/item':>10}"
    )
    for n, found in runs.items():
        wall, cpu, grown = ([row[i] for row in found] for i in range(3))
        print(
            f"{n:>8,}{_both(wall, n / 1e6, 0):>16}{_both(cpu, n / 1e6, 0):>16}"
            f"{statistics.median(grown):>18.0f}{statistics.median(grown) * 1024 / n:>10.1f}"
        )
    few, many = (min(row[1] for row in runs[n]) / n for n in (ITEMS[0], ITEMS[-1]))
    print(f"CPU per item at {ITEMS[-1]:,} items over that at {ITEMS[0]:,}: {many / few:.2f}")


# ---- report ----------------------------------------------------------------------------------


def _both(values: list[float], unit: float, digits: int) -> str:
    """Return the median and, in brackets, the minimum."""
    scaled = [v / unit for v in values]
    return f"{statistics.median(scaled):,.{digits}f} ({min(scaled):,.{digits}f})"


def show(rows: list[Row]) -> None:
    """Print rows."""
    for row in rows:
        calls = 5 * row.n + 2 if not row.name.startswith("7 ") else LEVELS
        steps = calls / 1e6  # the unit in which CPU seconds are microseconds per call
        found = row.samples
        beside = statistics.median(s.wall / s.bare for s in found)
        print(
            f"{row.name:<32}{row.n:>6}"
            f"{_both([s.wall for s in found], 1e-3, 0):>16}"
            f"{_both([s.wall for s in found], IDEAL_S, 3):>18}{beside:>9.2f}"
            f"{_both([s.cpu for s in found], steps, 0):>14}"
            f"{_both([s.saved for s in found], IDEAL_S, 3):>18}"
            f"{_both([s.saved_cpu for s in found], steps, 0):>14}"
        )


def main() -> None:
    """Run ours, the TaskGroup and the peers; print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--items", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.items:
        items(args.items, args.folder)
        return
    cores = os.cpu_count()
    print(f"Python {sys.version.split()[0]}, {cores} cores, load {_load()}, {args.repeat} repeats")
    rows, disk = run_ours(args.repeat, args.folder)
    print(
        f"{'':<32}{'N':>6}{'answer ms':>16}{'x ideal':>18}{'x bare':>9}{'CPU us/call':>14}"
        f"{'saved x ideal':>18}{'CPU us/call':>14}"
    )
    show(rows)
    for name, (module, distribution, program) in PEERS.items():
        found = version(args.peers, module, distribution) if args.peers else None
        if found is None:
            print(f"{name}: left out, not installed" + ("" if args.peers else " (--peers PYTHON)"))
        else:
            label = name.replace(",", f" {found},", 1)
            show(run_peer(args.peers, label, program, args.repeat))
    middle = statistics.median(disk)
    print(
        f"\nflush of a line after {DELAY_S * 1e3:.0f} ms idle: median {middle * 1e3:.2f} ms, least "
        f"{min(disk) * 1e3:.2f} ms; one per level implies at least {1 + middle / DELAY_S:.3f} "
        f"({1 + min(disk) / DELAY_S:.3f}) x ideal"
    )
    run_items(args.folder, min(args.repeat, 3))
    print(f"load {_load()}")


def _load() -> str:
    return " ".join(f"{x:.1f}" for x in os.getloadavg())


if __name__ == "__main__":
    main()
