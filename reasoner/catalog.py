"""The operators that are there: every marked function of every module in ``reasoner.operators``."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from reasoner import operators
from reasoner.op import Catalog, OpSpec, spec_of


def specs_in(package: ModuleType) -> dict[str, OpSpec]:
    """Return the operators defined in the modules of a package, by name."""
    found: dict[str, OpSpec] = {}
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for value in list(vars(module).values()):
            spec = spec_of(value) if callable(value) else None
            if spec is not None and value.__module__ == info.name:
                found[spec.name] = spec
    return dict(sorted(found.items()))


@cache
def builtin() -> Catalog:
    """Return the operators of this package."""
    return specs_in(operators)
