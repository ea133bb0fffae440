"""The text before the cursor as words and signs, and the names that it leaves in scope."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_WORD = re.compile(
    r'#[^\n]*|"""(?:[^\\]|\\.)*?(?:"""|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|[A-Za-z_]\w*'
    r"|\d[\w.]*|->|==|!=|<=|>=|\S",
    re.DOTALL,
)
_YAML_LINE = re.compile(
    r"(?P<pad>\s*(?:- +)*)"
    r"(?:(?P<plain>[^\s:#\[{\"'-][^:#]*):|(?P<quoted>\"[^\"]*\"|'[^']*')\s*:)"
    r"(?:\s+(?P<rest>.*)|$)"
)
#: How many words back the name of a part is looked for.
_FAR = 60
_OPENS, _CLOSES = "([{", ")]}"


def words(text: str) -> list[str]:
    """Return the words and signs of a text; comments are left out, open quotes kept.

    Examples
    --------
    >>> words('a = link("x", tau: 0.7)  # why')
    ['a', '=', 'link', '(', '"x"', ',', 'tau', ':', '0.7', ')']
    """
    return [w for w in _WORD.findall(text) if not w.startswith("#")]


def prefix(text: str) -> str:
    """Return the part of a name that stands at the end of a text."""
    start = len(text)
    while start and (
        text[start - 1] == "_" or (text[start - 1].isascii() and text[start - 1].isalnum())
    ):
        start -= 1
    return text[start:].lstrip("0123456789")


def is_quiet(text: str) -> bool:
    """Say whether a text ends inside quotes or a comment, where no name is written."""
    last = next(reversed(list(_WORD.finditer(text))), None)
    if last is None or last.end() < len(text):
        return False
    word = last.group()
    if word.startswith("#"):
        return True
    quotes = '"""' if word.startswith('"""') else '"'
    return word.startswith('"') and (len(word) < 2 * len(quotes) or not word.endswith(quotes))


@dataclass(frozen=True, slots=True)
class Place:
    """What surrounds the end of some words.

    ``call`` is the name before the innermost open parenthesis, ``asked`` says that it is the
    name of a prompt, ``by`` that it is a role; ``depth`` counts open braces.
    """

    before: tuple[str, ...]
    call: str = ""
    asked: bool = False
    by: bool = False
    given: frozenset[str] = frozenset()
    depth: int = 0


def place(text: Sequence[str]) -> Place:
    """Return what surrounds the end of a text."""
    stack: list[int] = []
    for index, word in enumerate(text):
        if word in _OPENS:
            stack.append(index)
        elif word in _CLOSES and stack:
            stack.pop()
    depth = sum(text[i] == "{" for i in stack)
    before = tuple(text[-3:])
    if not stack or text[stack[-1]] != "(" or stack[-1] == 0:
        return Place(before, depth=depth)
    start = stack[-1]
    name, lead = text[start - 1], text[start - 2] if start > 1 else ""
    given = frozenset(a for a, b in zip(text[start:], text[start + 1 :], strict=False) if b in ":=")
    return Place(before, name, lead in {"ask", "dialog"}, lead == "by", given, depth)


# ---- names in scope ------------------------------------------------------------------------


#: Words that go on with a value: none of them begins a new statement.
_GO_ON = frozenset(
    "in by up to until on_error on_limit limit accept of else and or not from on".split()
)
_FORM_WORDS = frozenset("ask each dialog budget if first loop fold matrix frontier return".split())


@dataclass(slots=True)
class _Names:
    """Names of open blocks, from outside in, and for each the binding that is being written."""

    blocks: list[list[str]] = field(default_factory=lambda: [[]])
    begun: list[str] = field(default_factory=lambda: [""])
    pending: list[str] = field(default_factory=list)

    def open(self) -> None:
        self.blocks.append(self.pending)
        self.begun.append("")
        self.pending = []

    def close(self) -> None:
        if len(self.blocks) > 1:
            self.blocks.pop()
            self.begun.pop()

    def statement(self, binding: str) -> None:
        """Begin a statement: the binding before it is known from here on."""
        if self.begun[-1]:
            self.blocks[-1].append(self.begun[-1])
        self.begun[-1] = binding


def names_in_scope(text: Sequence[str]) -> list[str]:
    """Return the names that are bound where the words of a text notation end, nearest last."""
    start = max((i for i, w in enumerate(text) if w == "method"), default=0)
    names, parens = _Names(), 0
    part = list(text[start:])
    for index, word in enumerate(part):
        after = part[index + 1] if index + 1 < len(part) else ""
        before = part[index - 1] if index else ""
        if parens == 0 and _begins(before, word):
            names.statement(word if after == "=" else "")
        if word in "([" or word in ")]":
            parens = max(0, parens + (1 if word in "([" else -1))
        elif word == "{":
            names.open()
        elif word == "}":
            names.close()
        elif not word.isidentifier():
            continue
        elif _is_variable(before, word, after) or (
            parens == 1 and _is_input(part, index, top=len(names.blocks) == 1)
        ):
            names.pending.append(word)
    if parens == 0 and part and _begins(part[-1], "x"):
        names.statement("")
    return [name for block in names.blocks for name in block] + names.pending


def _begins(before: str, word: str) -> bool:
    """Say whether a word behind another one begins a statement."""
    if not word.isidentifier() or word in _GO_ON:
        return False
    if before in {"{", "}", ")", "]", "param"}:
        return True
    value = before.isidentifier() or before[:1].isdigit() or before.startswith('"')
    return value and before not in _GO_ON | _FORM_WORDS


def _is_variable(before: str, word: str, after: str) -> bool:
    """Say whether a form binds a word for the block that follows it."""
    state = before == "from" and after == "="
    return state or before in {"each", "fold", "loop"} or (before == "first" and word != "of")


def _is_input(text: Sequence[str], index: int, *, top: bool) -> bool:
    """Say whether a word in parentheses is an input of the method, or of a part of a form."""
    after = text[index + 1] if index + 1 < len(text) else ""
    return (top and after == ":") or (after in {",", ")"} and _is_signature(text, index))


def _is_signature(text: Sequence[str], index: int) -> bool:
    """Say whether a name stands in ``on tool(a, b)``, or in ``part(a) {``."""
    start = index
    while start and index - start < _FAR and text[start] != "(":
        start -= 1
    end = index
    while end < len(text) and end - index < _FAR and text[end] not in ")({":
        end += 1
    block = end + 1 < len(text) and text[end] == ")" and text[end + 1] == "{"
    lead = text[start - 2] if start > 1 else ""
    known = {"cell", "summary", "column", "score", "visit", "grow"}
    return lead == "on" or (block and start > 0 and text[start - 1] in known)


# ---- lines of YAML -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """A line of YAML: how far its key is indented, the key, and what stands behind it."""

    indent: int
    item: bool
    key: str
    rest: str


def yaml_line(text: str) -> Line:
    """Return what a line holds; a line without a key has an empty one.

    Examples
    --------
    >>> yaml_line("  - chains: x")
    Line(indent=4, item=True, key='chains', rest='x')
    """
    found = _YAML_LINE.match(text)
    if found is None:
        bare = text.lstrip(" -") if text.strip().startswith("-") else text.lstrip()
        return Line(len(text) - len(bare), "- " in text[: len(text) - len(bare)], "", bare)
    pad, rest = found["pad"], found["rest"] or ""
    key = (found["plain"] or found["quoted"]).strip("\"' ")
    return Line(len(pad), "-" in pad, key, rest)


@dataclass(frozen=True, slots=True)
class Above:
    """A line above another one; ``beside`` says that it begins an item before that one's."""

    line: Line
    beside: bool


def yaml_above(lines: Sequence[str], below: Line) -> Iterator[Above]:
    """Yield the lines that lead to one, nearest first: its mapping, items beside it, parents."""
    level = below.indent - 2 if below.item else below.indent
    begun = below.item
    for raw in reversed(lines):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        line = yaml_line(raw)
        at = line.indent - 2 if line.item else line.indent
        if at > level:
            continue
        beside = line.item and begun and at == level
        level, begun = at, line.item
        yield Above(line, beside)


def yaml_names(lines: Sequence[str], below: Line) -> list[str]:
    """Return the names that are bound where a line stands."""
    found: list[str] = []
    section = ""
    for raw in lines:
        line = yaml_line(raw)
        if not raw.strip():
            continue
        if line.indent == 0:
            section = line.key
        if section in {"inputs", "params"}:
            found += _pairs(line)
    for above in yaml_above(lines, below):
        line, rest = above.line, words(above.line.rest)
        if above.beside:
            found += [line.key] if line.key.isidentifier() else []
        elif line.key in {"each", "fold", "loop", "from", "as"} and rest:
            found.append(rest[0])
        elif "(" in line.key:
            found += words(line.key)[2:-1:2]
    return list(dict.fromkeys(found))


def _pairs(line: Line) -> list[str]:
    """Return the keys of ``inputs: {a: Text}``, or the key of a line below ``inputs:``."""
    if line.indent:
        return [line.key] if line.key.isidentifier() else []
    flow = words(line.rest)
    return [a for a, b in pairwise(flow) if b == ":" and a.isidentifier()]
