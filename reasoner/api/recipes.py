"""From a recipe's name to its findings or its plan; loads nothing heavy."""

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from reasoner import bundled, ir, plan
from reasoner.catalog import builtin as builtin_operators
from reasoner.compiler.compile import Checked, check_module, compile_program
from reasoner.compiler.program import with_variant
from reasoner.errors import Diagnostic, RecipeError, UsageError, did_you_mean
from reasoner.op import Catalog
from reasoner.source import Source, Span

NOTATIONS = (".rsn", ".yaml", ".yml")
MAX_FILE = 4_000_000


def read_source(path: Path) -> Source:
    """Return the text of a file.

    Raises
    ------
    UsageError
        If there is no such file, or it is no text of a sensible size.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a recipe file")
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no ordinary file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise UsageError(f"{path} has more than {MAX_FILE:,} bytes; this is no recipe")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if "\0" in text:
        raise UsageError(f"{path}: not a text file")
    return Source(str(path), text.replace("\r\n", "\n"))


def parse(source: Source) -> ir.Module:
    """Parse a recipe in the notation that its file name says.

    Raises
    ------
    RecipeError
        With what is wrong with its syntax or shape.
    """
    if source.name.endswith((".yaml", ".yml")):
        from reasoner.frontends import yaml_recipe

        return yaml_recipe.parse_module(source)
    from reasoner.frontends import rsn

    return rsn.parse_module(source)


def find_recipe(name: str) -> Path:
    """Return the file of a recipe, given as a path or as the name of a bundled one.

    Raises
    ------
    UsageError
        If there is neither.
    """
    path = Path(name)
    try:
        there = path.exists()
    except OSError as error:
        raise UsageError(f"{name[:80]}: {error.strerror}") from None
    if there or path.suffix in NOTATIONS:
        if not there:
            raise UsageError(f"{name}: no such file{_similar_file(path)}")
        if path.suffix not in NOTATIONS and not path.is_dir():
            raise UsageError(f"{name}: a recipe is a {' or '.join(NOTATIONS)} file")
        return path
    for suffix in (".yaml", ".rsn"):
        candidate = bundled.folder("recipes") / f"{name}{suffix}"
        if candidate.is_file():
            return candidate
    known = bundled.names("recipes", *NOTATIONS)
    hint = did_you_mean(name, known) or f"bundled recipes: {', '.join(known)}"
    raise UsageError(f"no recipe {name!r}; {hint}")


def _similar_file(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    hint = did_you_mean(path.name, names)
    return f"; {hint}" if hint else ""


def library_loader(recipe: Path) -> Any:
    """Return the loader of what a recipe uses: files below its own folder or the bundled ones."""

    def load(use: ir.Use) -> ir.Module | Diagnostic:
        pure = PurePosixPath(use.path)
        if not pure.parts:
            return Diagnostic(code="R223", message="a 'use' names a file", span=use.path_span)
        if pure.is_absolute() or ".." in pure.parts or "\\" in use.path or not pure.parts:
            return Diagnostic(
                code="R223",
                message="a used file lies below the recipe's folder: no '..', no absolute path",
                span=use.path_span,
            )
        tried = []
        for folder in (recipe.parent, bundled.folder("recipes")):
            for suffix in ("", *NOTATIONS):
                file = folder / f"{pure}{suffix}"
                tried.append(file)
                if file.suffix in NOTATIONS and file.is_file():
                    if not file.resolve().is_relative_to(folder.resolve()):
                        message = "the file lies outside the recipe's folder (a link leads there)"
                        return Diagnostic(code="R223", message=message, span=use.path_span)
                    return _library(file, use)
        near = sorted(
            {
                p.relative_to(folder).with_suffix("").as_posix()
                for folder in (recipe.parent, bundled.folder("recipes"))
                for p in folder.glob("*/*")
                if p.suffix in NOTATIONS
            }
        )
        return Diagnostic(
            code="R223",
            message=f"no file {use.path!r} (.rsn or .yaml)",
            span=use.path_span,
            hint=did_you_mean(use.path, near),
        )

    return load


def _library(file: Path, use: ir.Use) -> ir.Module | Diagnostic:
    try:
        return parse(read_source(file))
    except RecipeError as error:
        first = error.diagnostics[0]
        message = f"{use.path!r} cannot be read: {first.message} ({first.span.place})"
        return Diagnostic(code="R223", message=message, span=use.path_span)
    except UsageError as error:
        return Diagnostic(code="R223", message=str(error), span=use.path_span)


def check(recipe: str | Path, catalog: Catalog | None = None) -> Checked:
    """Read and check a recipe; findings are in the result, syntax errors included."""
    return check_source(read_source(find_recipe(str(recipe))), catalog)[1]


def check_source(
    source: Source, catalog: Catalog | None = None
) -> tuple[ir.Module | None, Checked]:
    """Check a text that need not be saved; its name says its notation, and where it lies.

    The tree is None if the text does not parse.
    """
    try:
        module = parse(source)
    except RecipeError as error:
        return None, Checked(program=None, findings=error.diagnostics)
    load = library_loader(Path(source.name))
    return module, check_module(module, load, catalog or builtin_operators())


def compile_recipe(
    recipe: str | Path,
    *,
    variant: str | None = None,
    settings: Mapping[str, str] | None = None,
    catalog: Catalog | None = None,
) -> plan.Plan:
    """Compile a recipe to its plan; see `compile_explained`."""
    return compile_explained(recipe, variant=variant, settings=settings, catalog=catalog)[0]


def compile_explained(
    recipe: str | Path,
    *,
    variant: str | None = None,
    settings: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    catalog: Catalog | None = None,
) -> tuple[plan.Plan, list[str]]:
    """Compile a recipe to its plan, with a line for each rewrite that was made.

    ``settings`` are values of parameters as they would be written in the recipe; a word that is
    no literal is taken as a text. ``without`` names rewrites that are turned off.

    Raises
    ------
    RecipeError
        With every error of the recipe.
    UsageError
        If the recipe, the variant or a parameter does not exist.
    """
    catalog = catalog or builtin_operators()
    checked = check(recipe, catalog)
    if checked.ok and checked.program is None:
        raise UsageError(f"{recipe}: the file defines prompts but no method to run")
    changes = {name: _setting(name, text) for name, text in (settings or {}).items()}
    return compile_program(checked, catalog, variant=variant, settings=changes, without=without)


def parameters(recipe: str | Path, variant: str | None = None) -> dict[str, str]:
    """Return the parameters of a recipe, or of one of its variants, as they are written."""
    program = check(recipe).program
    if program is None:
        return {}
    method = program.method
    for known in method.variants:
        if known.name == variant:
            method, _ = with_variant(method, known)
    return {p.name: p.value.span.text for p in method.params}


def _setting(name: str, text: str) -> ir.Param:
    from reasoner.frontends.grammar import parse as parse_text
    from reasoner.frontends.rsn import Builder

    source = Source(f"--set {name}", text)
    span = Span(source, 0, len(text))
    offsets = range(len(text))
    value: ir.Expr
    try:
        value = Builder(source, offsets).expr(parse_text(text, "expr", source, offsets))
    except RecipeError:
        value = ir.Literal(value=text, span=span)
    if not isinstance(value, ir.Literal | ir.ListOf):  # "all-MiniLM-L6-v2" is no subtraction
        value = ir.Literal(value=text, span=span)
    return ir.Param(name=name, value=value, name_span=span, span=span)
