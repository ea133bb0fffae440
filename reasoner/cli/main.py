"""The commands, and the one place where errors become lines and exit codes.

Exit codes: 0 done, 1 the run failed, 2 wrong usage or recipe, 3 partial answer, 130 interrupted.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from reasoner.cli import editor, evaluate, formatting, graphs, language, plans, runs
from reasoner.cli.arguments import Parser
from reasoner.cli.speak import say
from reasoner.errors import GraphError, ReasonerError, RecipeError, UsageError, printable
from reasoner.harmless import encodable

_EPILOG = """\
first steps:
  reasoner run mirage --question "What treats migraine?"
  reasoner check recipes/mirage.yaml
  reasoner kg info clinic
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    _show_log()
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except RecipeError as error:
        say(error)
        return 2
    except (UsageError, GraphError) as error:
        say(f"error: {error}")
        return 2
    except ReasonerError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        say(f"error: the output cannot be written: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(argv: Sequence[str]) -> int:
    """Run a command; errors pass through."""
    for number, word in enumerate(argv, start=1):
        if encodable(word) != word:
            raise UsageError(f"argument {number} is not UTF-8 text: {printable(word)!r}")
    parser = _parser()
    parser.given = argv
    args = parser.parse_args(argv)
    if not hasattr(args, "run"):
        parser.print_help()
        return 2
    code = int(args.run(args))
    with suppress(ValueError, AttributeError):  # closed, or never there
        sys.stdout.flush()
    return code


def _show_log() -> None:
    """Show what the package logs (long waits) as plain lines on standard error."""
    import logging

    log = logging.getLogger("reasoner")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


def _parser() -> Parser:
    from argparse import RawDescriptionHelpFormatter

    parser = Parser(
        prog="reasoner",
        description="Declarative reasoning over knowledge graphs with language models.",
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"reasoner {_version()}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    runs.add(commands)
    language.add(commands)
    plans.add(commands)
    formatting.add(commands)
    editor.add(commands)
    graphs.add(commands)
    evaluate.add(commands)
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("reasoner")
    except PackageNotFoundError:
        return "(not installed)"
