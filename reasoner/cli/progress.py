"""What a run shows while it runs: a live tree on a terminal, plain lines when piped."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from reasoner.cli.speak import say
from reasoner.errors import printable
from reasoner.runtime.trace import Event

#: Most chains that are shown at a time.
ROWS = 12


@dataclass(slots=True)
class Tally:
    """Counts of a run, and the state of each chain."""

    calls: int = 0
    searches: int = 0
    tokens: int = 0
    usd: float = 0.0
    chains: dict[str, str] = field(default_factory=dict)

    def note(self, event: Event) -> str | None:
        """Take an event in; return a line for those who read lines."""
        match event.kind:
            case "model_call":
                usage = event.data["usage"]
                self.calls += 1
                self.tokens += usage.prompt_tokens + usage.completion_tokens
                self.usd += usage.usd
            case "chain_started":
                self.chains[event.path] = "thinking"
            case "search":
                search = event.data["search"]
                self.searches += 1
                what = " and ".join(search.args)
                self.chains[event.path] = f"searched {what} ({search.status})"
                found = len(search.evidence.triples)
                return f"{event.path}: {search.tool} {what}: {search.status}, {found} triples"
            case "chain":
                chain = event.data["chain"]
                self.chains[event.path] = f"{chain.status}: {len(chain.searches)} searches"
                return f"{event.path}: {chain.status}"
            case "item_failed" | "model_error" | "fallback" | "rejected_citations" | "misfit":
                data = event.data
                why = data.get("reason") or data.get("error") or data.get("ids")
                return f"{event.path}: {event.kind.replace('_', ' ')}: {why}"
            case _:
                return None
        return None

    @property
    def summary(self) -> str:
        """The counts in words."""
        cost = f", ${self.usd:.4f}" if self.usd else ""
        tokens = f", {self.tokens:,} tokens" if self.tokens else ""
        return f"{self.calls} calls, {self.searches} searches{tokens}{cost}"


class Progress:
    """Shows a run on standard error; use it as a context manager."""

    def __init__(self, *, quiet: bool) -> None:
        self.tally = Tally()
        self._quiet = quiet
        self._live: Any = None
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        """Start showing."""
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                self._tree(), console=Console(stderr=True), refresh_per_second=8, transient=True
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop showing."""
        if self._live is not None:
            self._live.stop()

    @property
    def listener(self) -> Callable[[Event], None] | None:
        """What a run tells its events to."""
        return self._event

    def _event(self, event: Event) -> None:
        line = self.tally.note(event)
        if self._live is not None:
            self._live.update(self._tree())
        elif line is not None and not self._quiet:
            say(printable(line))

    def _tree(self) -> Any:
        from rich.markup import escape
        from rich.tree import Tree

        seconds = time.monotonic() - self._started
        tree = Tree(f"{self.tally.summary}, {seconds:.0f} s")
        shown = list(self.tally.chains.items())
        for path, state in shown[:ROWS]:
            tree.add(escape(printable(f"{path}  {state}")))
        if len(shown) > ROWS:
            tree.add(f"... and {len(shown) - ROWS} more")
        return tree
