"""Every operator is one file, one function, one test file, and a page that explains it."""

import inspect
from pathlib import Path

import pytest

from reasoner import operators
from reasoner.catalog import builtin
from reasoner.op import Context, spec_of

FILES = sorted(p for p in Path(operators.__file__).parent.glob("*.py") if p.stem != "__init__")
EACH = pytest.mark.parametrize("name", [p.stem for p in FILES])


def test_the_catalog_is_what_the_files_hold():
    assert list(builtin()) == [p.stem for p in FILES]


@EACH
def test_one_file_one_operator(name):
    module = __import__(f"reasoner.operators.{name}", fromlist=[name])
    marked = [f for f in vars(module).values() if callable(f) and spec_of(f)]
    assert [f.__name__ for f in marked] == [name]
    assert module.__doc__.startswith(f"``{name}``: ")


@EACH
def test_the_signature_is_read_from_annotations(name):
    spec = builtin()[name]
    assert spec_of(spec.run) == spec
    assert inspect.iscoroutinefunction(spec.run)
    context, *params = inspect.signature(spec.run).parameters.values()
    assert context.annotation is Context
    assert [p.name for p in params] == [n for n, _ in spec.inputs] + [o.name for o in spec.options]
    assert spec.signature.startswith(f"{name}(")
    assert spec.signature.endswith(f" -> {spec.returns}")
    assert spec.bounded_by in {None, *(o.name for o in spec.options)}


@EACH
def test_the_docstring_names_each_parameter_and_the_result(name, request):
    spec = builtin()[name]
    assert "\nReturns\n-------\n" in spec.doc
    section = spec.doc.partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
    listed = [
        n.strip()
        for line in section.splitlines()
        if not line.startswith(" ")
        for n in line.split(",")
    ]
    assert listed == [n for n, _ in spec.inputs] + [o.name for o in spec.options]


@EACH
def test_it_has_a_test_file(name):
    assert Path(__file__).with_name(f"test_{name}.py").is_file()
