"""Write the pages that are generated from the code: operators, the schemas of records and of YAML recipes.

Run it with ``make docs``; a test compares the pages with what it gives.
"""

import json
from pathlib import Path

from reasoner.api.schema import recipe_schema_text
from reasoner.catalog import builtin
from reasoner.record import AuditRecord

HERE = Path(__file__).parent


def operators() -> str:
    """Return ``operators.md``: one section per operator, from its signature and docstring."""
    parts = [
        "# Operators",
        "Generated from the operators by `make docs`. Positional inputs come first, options are "
        "named. `reasoner ops NAME` prints one page.",
    ]
    for spec in builtin().values():
        cost = []
        if spec.searches:
            cost.append(f"{spec.searches} search a call")
        if spec.embeddings:
            cost.append(f"up to {spec.embeddings} embedded texts a call")
        traits = ", ".join([f"effect `{spec.effect}`", *cost])
        parts.append(f"## {spec.name}\n\n```\n{spec.signature}\n```\n\n{traits}\n\n```text\n{spec.doc}\n```")
    return "\n\n".join(parts) + "\n"


def record_schema() -> str:
    """Return the JSON Schema of audit records."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **AuditRecord.model_json_schema(),
    }
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


PAGES = {
    "operators.md": operators,
    "record.schema.json": record_schema,
    "../grammars/recipe.schema.json": recipe_schema_text,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (HERE / name).write_text(write(), encoding="utf-8")
