"""``lsp``: recipes in an editor."""

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Add the command."""
    lsp = commands.add_parser(
        "lsp", help="a language server for recipes, on standard input and output"
    )
    lsp.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)  # editors add it
    lsp.set_defaults(run=_serve)


def _serve(args: argparse.Namespace) -> int:
    del args
    from reasoner.editor.server import serve

    serve()
    return 0
