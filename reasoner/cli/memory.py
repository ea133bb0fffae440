"""The garbage collector, told that what is loaded by now stays."""

import gc

#: Objects made before a collection of the young; a run makes many that live until its end.
YOUNG = 50_000


def settle() -> None:
    """Take everything that is loaded out of the collector's view, and let it look less often.

    Without this a run of thousands of steps spends a third of its time looking at libraries.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 20, 50)
