"""What may be written at the cursor, from the words around it: the text need not parse."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reasoner.compiler import forms
from reasoner.compiler.prompts import TASKS
from reasoner.editor import words as w
from reasoner.editor.symbols import Symbol
from reasoner.frontends.yaml_recipe import FILE_KEYS, FORM_KEYS, METHOD_KEYS, PROMPT_KEYS
from reasoner.op import Catalog
from reasoner.types import GENERIC, SIMPLE

_FORMS = "ask each dialog budget if first loop fold matrix frontier".split()
_STATEMENTS = ["return", "param", "variant"]
_TOP = ["use", "prompt", "method"]
_CONSTANTS = ["true", "false", "none"]
_CLAUSES = "in by up to until on_error on_limit limit accept else from on".split()
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "dialog": forms.DIALOG_OPTIONS,
    "matrix": forms.MATRIX_OPTIONS,
    "frontier": forms.FRONTIER_OPTIONS,
}
_ROLE = re.compile(r"\bby\s+([A-Za-z_]\w*)")
_PROMPT = re.compile(r"^\s*prompt\s+([A-Za-z_]\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that may be written: ``insert`` is what is put in the place of the word begun."""

    label: str
    kind: str
    detail: str = ""
    doc: str = ""
    insert: str = ""


def complete(
    text: str, offset: int, catalog: Catalog, known: Mapping[str, Symbol], *, yaml: bool
) -> list[Item]:
    """Return what may be written at ``offset``; ``known`` are the prompts and methods."""
    writer = _Writer(text, offset, catalog, known)
    items = writer.yaml() if yaml else writer.rsn()
    begun = w.prefix(text[:offset]).casefold()
    fitting = [i for i in items if i.label.casefold().startswith(begun)]
    return list({i.label: i for i in fitting}.values())


class _Writer:
    """Holds what is asked for; each method answers for one kind of place."""

    def __init__(
        self, text: str, offset: int, catalog: Catalog, known: Mapping[str, Symbol]
    ) -> None:
        self.text, self.catalog, self.known = text, catalog, known
        self.before = text[: offset - len(w.prefix(text[:offset]))]

    # ---- the text notation -----------------------------------------------------------------

    def rsn(self) -> list[Item]:
        """Complete the text notation."""
        if w.is_quiet(self.before):
            return []
        seen = w.words(self.before)
        return self.expression(seen, w.names_in_scope(seen), top=w.place(seen).depth == 0)

    def expression(self, seen: list[str], names: Iterable[str], *, top: bool) -> list[Item]:
        """Complete a value, an option or a keyword after some words."""
        place = w.place(seen)
        last = place.before[-1] if place.before else ""
        if (special := self.after(last, seen)) is not None:
            return special
        if place.call and last in {"(", ","}:
            options = self.options(place)
            return options if place.by else [*options, *self.values(names)]
        if top and not place.call:
            return [] if last == ":" else _plain(_TOP, "keyword")
        return [*self.values(names), *_plain([*_STATEMENTS, *_CLAUSES], "keyword")]

    def after(self, last: str, seen: list[str]) -> list[Item] | None:
        """Return what follows certain words, or None if this is another place."""
        match last:
            case "by":
                return _plain(dict.fromkeys(_ROLE.findall(self.text)), "role")
            case "ask" | "dialog":
                return self.named("prompt")
            case "on_error":
                return _policies(forms.POLICIES)
            case "on_limit":
                return _policies(forms.LIMIT_POLICIES)
            case "->":
                return _types()
            case "as":
                return [Item(name, "value", about) for name, about in TASKS.items()]
            case "." | "->|":
                return []
            case ":" | "[" if _is_signature(seen):
                return _types()
            case _:
                return None

    def options(self, place: w.Place) -> list[Item]:
        """Return the options of a call that are not given yet."""
        if place.by:
            names = [(n, "setting of a model call", "") for n in forms.DIALOG_OPTIONS]
        elif place.asked:
            symbol = self.known.get(place.call)
            names = [(n, "input", "") for n in _inputs_of(symbol)] if symbol else []
        elif place.call == "budget":
            names = [(n, "limit", "") for n in forms.LIMITS]
        elif (spec := self.catalog.get(place.call)) is not None:
            names = [
                (o.name, f"{o.type}" if o.required else f"{o.type} = {o.default}", spec.signature)
                for o in spec.options
            ]
        else:
            names = []
        return [
            Item(n, "option", detail, doc, f"{n}: ")
            for n, detail, doc in names
            if n not in place.given
        ]

    def values(self, names: Iterable[str]) -> list[Item]:
        """Return what a value may begin with."""
        operators = [
            Item(s.name, "operator", s.signature, s.doc, f"{s.name}(")
            for s in self.catalog.values()
        ]
        own = list(dict.fromkeys(reversed(list(names))))
        return [
            *_plain(own, "name"),
            *operators,
            *self.named("method"),
            *_plain(_FORMS, "keyword"),
            *_plain(_CONSTANTS, "constant"),
        ]

    def named(self, kind: str) -> list[Item]:
        """Return the prompts or the methods that are known, parsed or not."""
        found = [
            Item(s.name, kind, s.about, s.doc, f"{s.name}(")
            for s in self.known.values()
            if s.kind == kind
        ]
        if kind == "prompt":
            have = {i.label for i in found}
            found += [
                Item(n, kind, "", "", f"{n}(") for n in _PROMPT.findall(self.text) if n not in have
            ]
        return found

    # ---- YAML --------------------------------------------------------------------------------

    def yaml(self) -> list[Item]:
        """Complete the YAML notation: a key, or an expression behind one."""
        *above, current = self.before.split("\n")
        if re.search(r"(^|\s)#", current):
            return []
        line = w.yaml_line(current)
        names = w.yaml_names(above, line)
        if not line.key and re.fullmatch(r"\s*(- +)*", current):
            return self.keys(above, line, names)
        return self.value(line, names)

    def value(self, line: w.Line, names: list[str]) -> list[Item]:
        """Complete what stands behind a key."""
        rest = w.words(line.rest)
        fresh = not rest or rest in (['"'], ["'"])
        match line.key:
            case "on_error" if fresh:
                return _policies(forms.POLICIES)
            case "on_limit" if fresh:
                return _policies(forms.LIMIT_POLICIES)
            case "returns":
                return _types()
            case "task" if fresh:
                return [Item(name, "value", about) for name, about in TASKS.items()]
            case "dialog" if fresh:
                return self.named("prompt")
            case "inputs":
                return _types() if rest and rest[-1] == ":" else []
            case "use":
                return _plain(self.known, "name")
            case "budget" if rest and rest[-1] in {"{", ","}:
                return [Item(n, "option", "limit", "", f"{n}: ") for n in forms.LIMITS]
            case _:
                items = self.expression(rest, names, top=False)
                return [_as_yaml(i) for i in items if i.label not in {"param", "variant"}]

    def keys(self, above: list[str], line: w.Line, names: list[str]) -> list[Item]:
        """Complete a key, by the keys beside it and above it."""
        siblings, parents = _around(above, line)
        have = {s.split("(")[0] for s in siblings}
        parent, grand = [*parents, "", ""][:2]
        if line.indent == 0:
            return _keys(FILE_KEYS, have)
        form = next((s for s in siblings if s in FORM_KEYS), None)
        if form is not None and not line.item:
            return _keys((*FORM_KEYS[form], *_OPTIONS.get(form, ())), have)
        if grand == "prompts":
            return _keys(PROMPT_KEYS, have)
        if grand == "methods":
            return _keys(METHOD_KEYS, have)
        if parent == "budget":
            return _keys(forms.LIMITS, have)
        if parent in {"inputs", "use", "on", "variants", "prompts", "methods"}:
            return []
        begun = _keys((*FORM_KEYS, "return"), ())
        return begun if parent == "params" else [*begun, *map(_as_yaml, self.values(names))]


def _around(above: list[str], line: w.Line) -> tuple[list[str], list[str]]:
    """Return the keys of the mapping that a line belongs to, and the keys that lead to it."""
    siblings: list[str] = []
    parents: list[str] = []
    level = line.indent
    for above_ in w.yaml_above(above, line):
        other = above_.line
        if above_.beside:
            continue
        if other.indent == line.indent and not parents and not line.item:
            siblings.append(other.key)
        elif other.indent < level:
            parents.append(other.key)
            level = other.indent
    return siblings, parents


def _inputs_of(symbol: Symbol) -> list[str]:
    return re.findall(r"(\w+):", symbol.about.split("->")[0])


def _is_signature(seen: list[str]) -> bool:
    """Say whether the words end in the inputs of a prompt or a method, before its block."""
    for word in reversed(seen):
        if word in {"prompt", "method"}:
            return True
        if word in {"{", "}", "="}:
            return False
    return False


def _plain(names: Iterable[str], kind: str) -> list[Item]:
    return [Item(name, kind) for name in names]


def _keys(names: Iterable[str], have: Iterable[str]) -> list[Item]:
    given = set(have)
    return [Item(name, "key", "", "", f"{name}: ") for name in names if name not in given]


def _policies(words: Iterable[str]) -> list[Item]:
    return [Item(n, "value", "", "", f"{n}(" if n in forms.VALUED_POLICIES else n) for n in words]


def _types() -> list[Item]:
    known = {**SIMPLE, **GENERIC}
    return [Item(n, "type", a, "", f"{n}[" if n in GENERIC else n) for n, a in known.items()]


def _as_yaml(item: Item) -> Item:
    """Return an item with its option written ``name=``: a plain YAML value holds no ': '."""
    if item.kind != "option":
        return item
    return Item(item.label, item.kind, item.detail, item.doc, f"{item.label}=")
