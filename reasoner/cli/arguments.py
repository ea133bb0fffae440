"""Arguments of the command line, and what is said about wrong ones."""

import argparse
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from reasoner.errors import UsageError, did_you_mean

#: Largest limit that can be given.
MOST = 10**12


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that says what to do."""

    #: The words that are being parsed, for suggestions.
    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raise a usage error instead of printing a page."""
        hint = ""
        if "invalid choice" in message:
            wrong = message.split("invalid choice: ")[1].split("'")[1]
            names = [w.strip(" ')") for w in message.split("(choose from ")[1].split(",")]
            hint = did_you_mean(wrong, names)
        elif "unrecognized arguments" in message:
            wrong = message.split(": ", 1)[1].split(maxsplit=1)[0]
            hint = did_you_mean(wrong.split("=")[0], self.flags())
        tail = f"; {hint}" if hint else f"; see '{self.prog} --help'"
        raise UsageError(f"{self.prog}: {message.splitlines()[0]}{tail}")

    def flags(self) -> list[str]:
        """Return the long options of this parser and the chosen sub-commands."""
        found: list[str] = []
        for action in self._actions:
            found += [o for o in action.option_strings if o.startswith("--")]
            if isinstance(action, argparse._SubParsersAction):
                for word in self.given:
                    if isinstance(child := action.choices.get(word), Parser):
                        child.given = self.given
                        found += child.flags()
        return found


def pairs(given: Iterable[str], what: str) -> dict[str, str]:
    """Return ``name=value`` arguments as a mapping.

    Raises
    ------
    UsageError
        If one has no ``=``, or a name is given twice.
    """
    found: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{what} is written NAME=VALUE, not {item!r}")
        if name in found:
            raise UsageError(f"{what} {name!r} is given twice")
        found[name.strip()] = value
    return found


def positive(text: str, what: str) -> Decimal:
    """Return a number above zero."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal(0)
    if not number.is_finite() or not 0 < number <= MOST:
        raise UsageError(f"{what} is a number above 0, not {text!r}")
    return number


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose a plan."""
    parser.add_argument("recipe", help="a .yaml or .rsn file, or the name of a bundled recipe")
    parser.add_argument("--variant", metavar="NAME", help="a variant of the recipe")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAM=VALUE",
        help="a parameter of the recipe",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where and how a plan runs."""
    parser.add_argument("--kg", default="clinic", help="a graph: folder, file of triples, or bundled name (default: clinic)")  # fmt: skip
    parser.add_argument(
        "--model", action="append", default=[], metavar="[ROLE=]NAME",
        help="a model for a role, or for all: builtin (default), or PROVIDER/NAME for LiteLLM",
    )  # fmt: skip
    parser.add_argument("--models", metavar="FILE", help="a models.yaml with deployments and roles")
    parser.add_argument(
        "--api-base", metavar="URL", help="where an OpenAI-compatible server listens"
    )
    parser.add_argument("--embedder", metavar="NAME", help="a sentence-transformers model")
    parser.add_argument("--seed", type=int, default=0, help="the seed of all sampling (default: 0)")
    parser.add_argument("--timeout", default="120", metavar="SECONDS", help="for one model call (default: 120)")  # fmt: skip
    for limit, unit in (("calls", "model calls"), ("tokens", "tokens"), ("usd", "dollars"), ("seconds", "seconds")):  # fmt: skip
        parser.add_argument(f"--max-{limit}", metavar="N", help=f"end with a partial answer after N {unit}")  # fmt: skip


def limits(args: Any) -> dict[str, Decimal]:
    """Return the limits that were given."""
    names = ("calls", "tokens", "usd", "seconds")
    given = {name: getattr(args, f"max_{name}") for name in names}
    found = {n: positive(v, f"--max-{n}") for n, v in given.items() if v is not None}
    for name in ("calls", "tokens"):
        if name in found and found[name] != int(found[name]):
            raise UsageError(f"--max-{name} is a whole number, not {found[name]}")
    return found


def model_choice(given: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the model for all roles, and those for single roles."""
    default = "builtin"
    roles: dict[str, str] = {}
    for item in given:
        role, equals, name = item.partition("=")
        if not equals:
            default = item
        elif not role or not name:
            raise UsageError(f"--model is written ROLE=NAME or NAME, not {item!r}")
        else:
            roles[role] = name
    return default, roles
