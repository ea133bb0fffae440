"""Which of several failures at once is the one to speak of."""

import asyncio

from reasoner.errors import BudgetError


def first_of(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the failure that a group is about: a cancellation only if there is nothing else."""
    flat: list[BaseException] = []
    stack: list[BaseException] = [failures]
    while stack:
        top = stack.pop()
        if isinstance(top, BaseExceptionGroup):
            stack.extend(reversed(top.exceptions))
        else:
            flat.append(top)
    real = [e for e in flat if not isinstance(e, asyncio.CancelledError)]
    ordered = sorted(real, key=lambda e: (isinstance(e, BudgetError), str(e)))
    return (ordered or flat)[0]
