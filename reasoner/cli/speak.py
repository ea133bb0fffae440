"""Saying things beside the result, on standard error, which may be closed or full."""

import sys
from contextlib import suppress


def say(text: object) -> None:
    """Print a line on standard error; if that is not possible, the result still counts."""
    with suppress(OSError, ValueError, AttributeError):
        print(text, file=sys.stderr, flush=True)
