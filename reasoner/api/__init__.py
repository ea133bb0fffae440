"""The composition root: joins front-ends, compiler, runtime, graphs and models.

Every heavy library is reached from inside a function, so that checking and planning load none.
"""

from reasoner.api.fixes import fix_file
from reasoner.api.formatting import convert, format_file, format_text
from reasoner.api.graphs import cache_folder, open_context, open_graph, open_linker, read_settings
from reasoner.api.models import Models, connect, pinned_embedder, read_models, roles
from reasoner.api.recipes import (
    NOTATIONS,
    check,
    check_source,
    compile_explained,
    compile_recipe,
    find_recipe,
    library_loader,
    parameters,
    parse,
    read_source,
)  # fmt: skip
from reasoner.api.runs import (
    RunSettings,
    check_inputs,
    new_run_id,
    run,
    run_folders,
    run_plan,
    save_run,
)  # fmt: skip

__all__ = [
    "NOTATIONS",
    "Models",
    "RunSettings",
    "cache_folder",
    "check",
    "check_inputs",
    "check_source",
    "compile_explained",
    "compile_recipe",
    "connect",
    "convert",
    "find_recipe",
    "fix_file",
    "format_file",
    "format_text",
    "library_loader",
    "new_run_id",
    "open_context",
    "open_graph",
    "open_linker",
    "parameters",
    "parse",
    "pinned_embedder",
    "read_models",
    "read_settings",
    "read_source",
    "roles",
    "run",
    "run_folders",
    "run_plan",
    "save_run",
]
