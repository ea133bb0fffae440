"""The YAML notation as a JSON Schema, made from the tables that the reader and the checker use.

It says what can be seen in the shape of a file: keys, forms, names, words of closed sets. What an
expression means is a text to it; ``reasoner check`` says the rest.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from reasoner.catalog import builtin as builtin_operators
from reasoner.compiler import forms
from reasoner.compiler.prompts import TASKS
from reasoner.frontends.grammar import RESERVED
from reasoner.frontends.yaml_recipe import FILE_KEYS, FORM_KEYS, METHOD_KEYS, PROMPT_KEYS
from reasoner.op import Catalog
from reasoner.types import GENERIC, SIMPLE

Schema = dict[str, Any]

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_SCALAR = ["string", "number", "boolean"]
_NEEDED = {
    "each": ("each", "do"),
    "dialog": ("dialog",),
    "budget": ("budget", "do"),
    "if": ("if", "then"),
    "first": ("first",),
    "loop": ("loop", "up_to", "do"),
    "fold": ("fold", "from", "do"),
    "matrix": ("matrix",),
    "frontier": ("frontier",),
}
#: What each key of a form holds, where that is not the same in all of them.
_FORM_VALUES = {
    ("each", "each"): "head",
    ("fold", "fold"): "head",
    ("fold", "from"): "state",
    ("loop", "loop"): "state",
    ("budget", "budget"): "limits",
    ("dialog", "dialog"): "asked",
    ("dialog", "on"): "handlers",
    ("first", "first"): "alternatives",
    ("matrix", "matrix"): "anything",
}
_KEY_VALUES = {
    "do": "block",
    "then": "block",
    "else": "block",
    "as": "name",
    "on_error": "on_error",
    "on_limit": "on_limit",
    "method": "name",
    "doc": "text",
    "use": "use",
    "inputs": "inputs",
    "returns": "type",
    "params": "params",
    "budget": "limits",
    "steps": "block",
    "variants": "variants",
    "prompts": "prompts",
    "methods": "methods",
    "task": "task",
    "text": "text",
}
_ABOUT = {
    "method": "The name of the method that this file runs.",
    "doc": "What the method does, in a sentence.",
    "use": "Files below this one's folder (or bundled ones), each with the names taken from it.",
    "inputs": "Names and types.",
    "returns": "The type of the result; List[Text] is written in quotes.",
    "params": "Settings with their defaults.",
    "budget": "Limits of a run or of a block.",
    "steps": "Steps in any order that binds names before they are used; the last is the value.",
    "variants": "Named changes of parameters, bindings or the returned value.",
    "prompts": "Typed templates; {name} is a hole for an input.",
    "methods": "Other methods, called like operators.",
    "task": "What the prompt wants done; engines that read no text go by it.",
    "text": "The template.",
    "do": "The block that is run.",
    "on": "What a dialog does when the model asks for a tool: 'tool(a, b)'.",
    "limit": "The largest number of items.",
    "up_to": "The largest number of items or rounds.",
    "until": "The condition that ends the rounds.",
    "accept": "The condition on the value of an alternative, named by 'as'.",
    "as": "The name of the value of an alternative in 'accept'.",
}


def recipe_schema(catalog: Catalog | None = None) -> Schema:
    """Return the JSON Schema (2020-12) of recipe files in YAML."""
    described = _object(FILE_KEYS, ())
    library = [k for k in FILE_KEYS if k in {"doc", "use", "prompts", "methods"}]
    filled = {"type": "object", "minProperties": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A recipe in the YAML notation",
        **described,
        "if": {"required": ["method"]},
        "then": {"required": ["method", "returns", "steps"]},
        "else": {
            "propertyNames": {"enum": library},
            "anyOf": [
                {"required": [key], "properties": {key: filled}} for key in ("prompts", "methods")
            ],
        },
        "$defs": _definitions(builtin_operators() if catalog is None else catalog),
    }


def recipe_schema_text() -> str:
    """Return the schema as it stands in ``grammars/recipe.schema.json``."""
    return json.dumps(recipe_schema(), indent=1, ensure_ascii=False) + "\n"


def _definitions(catalog: Catalog) -> Schema:
    operators = "\n".join(spec.signature for spec in catalog.values())
    return {
        "name": {
            "type": "string",
            "pattern": f"^{_NAME}$",
            "not": {"enum": sorted(RESERVED)},
        },
        "anything": {},
        "text": {"type": [*_SCALAR, "null"]},
        "type": _type(),
        "expression": {
            "description": f"An expression. The operators are:\n{operators}",
            "type": _SCALAR,
            "pattern": "\\S",
        },
        "value": {
            "anyOf": [
                _ref("expression"),
                {"type": "array", "items": _ref("value")},
                _ref("form"),
            ]
        },
        **_steps(),
        **_parts(),
        "form": {"anyOf": [_ref(f"form.{form}") for form in FORM_KEYS]},
        **{f"form.{form}": _form(form) for form in FORM_KEYS},
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _type() -> Schema:
    """Return the schema of a type: one word, or a word with arguments in brackets."""
    generic = "|".join(GENERIC)
    return {
        "anyOf": [
            {"enum": list(SIMPLE)},
            {"type": "string", "pattern": f"^\\s*({generic})\\s*\\[[\\s\\S]+\\]\\s*$"},
            {"type": "string", "pattern": "^\\s*Record\\s*\\[[\\s\\S]+:[\\s\\S]+\\]\\s*$"},
        ]
    }


# ---- mappings ------------------------------------------------------------------------------


def _object(keys: Iterable[str], needed: Iterable[str]) -> Schema:
    """Return the schema of a mapping with these keys and no others."""
    return {
        "type": "object",
        "properties": {k: _key(_KEY_VALUES[k], k) for k in keys},
        "required": list(needed),
        "additionalProperties": False,
    }


def _key(value: str, key: str) -> Schema:
    about = {"description": _ABOUT[key]} if key in _ABOUT else {}
    return {**about, **_ref(value)}


def _named(value: Schema) -> Schema:
    """Return the schema of a mapping from names; it may be left empty."""
    return {
        "type": ["object", "null"],
        "propertyNames": _ref("name"),
        "additionalProperties": value,
    }


def _one_or_more(item: Schema) -> Schema:
    """Return the schema of a list, or of the one item that it would hold."""
    return {"anyOf": [{"type": "array", "items": item}, item]}


def _parts() -> Schema:
    """Return the schemas of what the keys of a file hold."""
    return {
        "use": {
            "type": ["object", "null"],
            "additionalProperties": _one_or_more(_ref("name")),
        },
        "inputs": _named(_ref("type")),
        "params": _named(_ref("value")),
        "limits": {
            "type": ["object", "null"],
            "properties": {name: _ref("value") for name in forms.LIMITS},
            "additionalProperties": False,
        },
        "variants": _named(_one_or_more(_ref("change"))),
        "change": {
            "if": {"type": "object", "required": ["params"]},
            "then": _object(["params"], ["params"]),
            "else": _ref("step"),
        },
        "prompts": _named(_object(PROMPT_KEYS, ("returns", "text"))),
        "methods": _named(_object(METHOD_KEYS, ("returns", "steps"))),
        "task": {"enum": list(TASKS)},
    }


def _steps() -> Schema:
    """Return the schemas of blocks and their steps."""
    taken = sorted({*FORM_KEYS, *RESERVED, "return"})
    bind = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {**_ref("name"), "not": {"enum": taken}},
        "additionalProperties": _ref("value"),
    }
    returned = {
        "type": "object",
        "properties": {"return": _ref("value")},
        "required": ["return"],
        "additionalProperties": False,
    }
    return {
        "block": _one_or_more(_ref("step")),
        "step": {"anyOf": [_ref("expression"), _ref("form"), returned, bind]},
        "head": _written(f"^\\s*{_NAME}\\s+in\\s+\\S", "item in items"),
        "state": _written(f"^\\s*{_NAME}\\s*=\\s*\\S", "name = value"),
        "asked": _written(f"^\\s*{_NAME}\\s*\\([\\s\\S]*\\)\\s*by\\s+{_NAME}", "prompt(a) by role"),
        "alternatives": {"type": "array", "items": _ref("block")},
        "on_error": _policy(forms.POLICIES),
        "on_limit": _policy(forms.LIMIT_POLICIES),
        "handlers": {
            "type": ["object", "null"],
            "patternProperties": {_signature(_NAME): _ref("block")},
            "additionalProperties": False,
        },
    }


def _written(pattern: str, about: str) -> Schema:
    return {"description": f"Written '{about}'.", "type": "string", "pattern": pattern}


def _policy(words: Iterable[str]) -> Schema:
    bare = [w for w in words if w not in forms.VALUED_POLICIES]
    valued = "|".join(w for w in words if w in forms.VALUED_POLICIES)
    written = {"type": "string", "pattern": f"^\\s*({valued})\\s*\\([\\s\\S]*\\S[\\s\\S]*\\)\\s*$"}
    return {"anyOf": [{"enum": bare}, written]}


def _signature(names: str) -> str:
    """Return the pattern of ``name(a, b)``."""
    return f"^\\s*({names})\\s*\\(\\s*({_NAME}\\s*(,\\s*{_NAME}\\s*)*,?\\s*)?\\)\\s*$"


def _form(form: str) -> Schema:
    """Return the schema of one form."""
    options: Mapping[str, Iterable[str]] = {
        "dialog": forms.DIALOG_OPTIONS,
        "matrix": forms.MATRIX_OPTIONS,
        "frontier": forms.FRONTIER_OPTIONS,
    }
    parts: Mapping[str, Iterable[str]] = {
        "matrix": forms.MATRIX_PARTS,
        "frontier": forms.FRONTIER_PARTS,
    }
    own = {
        key: _key(_FORM_VALUES.get((form, key), _KEY_VALUES.get(key, "value")), key)
        for key in FORM_KEYS[form]
    }
    found: Schema = {
        "type": "object",
        "properties": own | {name: _ref("value") for name in options.get(form, ())},
        "required": list(_NEEDED[form]),
        "additionalProperties": False,
    }
    if form in parts:
        found["patternProperties"] = {_signature("|".join(parts[form])): _ref("block")}
    return found
