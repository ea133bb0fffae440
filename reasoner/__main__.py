"""``python -m reasoner``, and the command ``reasoner``."""

import os
import sys


def run() -> None:
    """Run the command line; an interruption ends the process at once, whatever is loading."""
    try:
        from reasoner.cli.main import main

        code = main()
    except KeyboardInterrupt:
        code = 130
    if code == 130:  # threads that load weights would hold the process up for seconds
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
