"""The pipeline: module -> program -> findings -> plan."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from reasoner import ir
from reasoner.compiler.check import check
from reasoner.compiler.lower import lower
from reasoner.compiler.program import Loader, Program, link, with_settings, with_variant
from reasoner.compiler.prompts import check_prompt
from reasoner.compiler.simplify import simplify
from reasoner.errors import Diagnostic, RecipeError, Severity, UsageError, known_as
from reasoner.op import Catalog
from reasoner.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A program with everything that was found about it."""

    program: Program | None
    findings: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """True if no finding is an error."""
        return not any(d.severity is Severity.ERROR for d in self.findings)


def check_module(module: ir.Module, load: Loader, catalog: Catalog) -> Checked:
    """Return the program of a module and every finding, sorted by place."""
    program, findings = link(module, load)
    if program is not None:
        findings += check(program, catalog)
    else:  # a library: its prompts are checked where they are written, too
        for prompt in module.prompts:
            check_prompt(prompt, findings)
    return Checked(program=program, findings=tuple(sorted(set(findings), key=lambda d: d.order)))


def compile_program(
    checked: Checked,
    catalog: Catalog,
    *,
    variant: str | None = None,
    settings: Mapping[str, ir.Param] | None = None,
    without: Collection[str] = (),
) -> tuple[Plan, list[str]]:
    """Lower a checked program to a plan, with a line for each rewrite that was made.

    ``without`` names rewrites that are turned off.

    Raises
    ------
    RecipeError
        If the program, or the program with these settings, has an error.
    UsageError
        If there is no such variant or parameter.
    """
    if checked.program is None or not checked.ok:
        raise RecipeError([d for d in checked.findings if d.severity is Severity.ERROR])
    program = checked.program
    method = program.method
    if variant is not None:
        chosen = {v.name: v for v in method.variants}
        if variant not in chosen:
            raise UsageError(known_as(method.name, "variant", variant, chosen))
        method, _ = with_variant(method, chosen[variant])
    if settings:
        method = _with_settings(method, settings)
    chosen_program = replace(program, method=method)
    if settings:
        errors = [d for d in check(chosen_program, catalog) if d.severity is Severity.ERROR]
        if errors:
            raise RecipeError(errors)
    return simplify(lower(chosen_program, variant, catalog), without)


def _with_settings(method: ir.Method, settings: Mapping[str, ir.Param]) -> ir.Method:
    known = [p.name for p in method.params]
    for name in settings:
        if name not in known:
            raise UsageError(known_as(method.name, "parameter", name, known))
    return with_settings(method, settings)
