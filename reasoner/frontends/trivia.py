"""What a tree does not hold of its text: comments and blank lines, each kept with a node.

A comment belongs to the statement, definition, parameter, input or handler that it stands before
or behind; one inside an expression goes before its statement; one at the end of a block stays there.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from reasoner import ir
from reasoner.frontends.comments import Comment
from reasoner.source import Source, Span

_CLOSING = re.compile(r"(?:\s|,|#[^\n]*)*\)")

#: A node, and which of its parts is meant.
Key = tuple[int, str]


def key(node: ir.Node, part: str = "") -> Key:
    """Return what comments of a node, or of a part of it, are kept under."""
    return id(node), part


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on a line of its own; ``blank`` says that an empty line stands above it."""

    text: str
    blank: bool = False


@dataclass(slots=True)
class Trivia:
    """The comments and blank lines of a module; what is taken is no longer there."""

    before: dict[Key, list[Remark]] = field(default_factory=lambda: defaultdict(list))
    after: dict[Key, list[Remark]] = field(default_factory=lambda: defaultdict(list))
    opening: dict[Key, list[Remark]] = field(default_factory=lambda: defaultdict(list))
    closing: dict[Key, list[Remark]] = field(default_factory=lambda: defaultdict(list))
    blank: set[Key] = field(default_factory=set)

    @property
    def _all(self) -> tuple[dict[Key, list[Remark]], ...]:
        return self.before, self.after, self.opening, self.closing

    def touches(self, *keys: Key) -> bool:
        """Say whether there is a comment at one of the keys."""
        return any(found.get(k) for found in self._all for k in keys)

    def below(self, node: ir.Node) -> list[str]:
        """Take the comments of a node and of all below it."""
        texts = []
        for inner in ir.walk(node):
            for k in (key(inner), key(inner, "inputs"), key(inner, "limits")):
                for found in self._all:
                    texts += [remark.text for remark in found.pop(k, ())]
        return texts

    def left(self) -> list[str]:
        """Return the comments that nobody has taken."""
        return [r.text for found in self._all for remarks in found.values() for r in remarks]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node that comments can belong to, and where it stands."""

    key: Key
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the text that holds anchors: a file, a block, the inputs of a method."""

    key: Key
    start: int
    end: int
    anchors: tuple[Anchor, ...]


class _Notation:
    """Where the anchors of one notation are."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def file(self, module: ir.Module) -> Iterator[Region]:
        """Yield the regions of a module, outer ones before those that they hold."""
        raise NotImplementedError

    def steps(self, node: ir.Node) -> Iterator[Region]:
        """Yield the regions inside an expression or a statement."""
        for inner in ir.walk(node):
            match inner:
                case ir.Block(body=body):
                    anchors = tuple(Anchor(key(s), s.span.start, s.span.end) for s in body)
                    yield from self.block(inner, anchors)
                case ir.First(alternatives=blocks):
                    anchors = tuple(Anchor(key(b), b.span.start, b.span.end) for b in blocks)
                    yield from self.braces(inner, inner.span.start, anchors)
                case ir.Dialog(handlers=parts) | ir.Matrix(parts=parts) | ir.Frontier(parts=parts):
                    anchors = tuple(
                        Anchor(key(p), p.span.start, max(p.span.end, p.body.span.end))
                        for p in parts
                    )
                    yield from self.braces(inner, _head_end(inner), anchors)
                case _:
                    pass

    def block(self, block: ir.Block, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of a block, if it is one in the text."""
        raise NotImplementedError

    def braces(self, node: ir.Node, start: int, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of the parts of a form."""
        raise NotImplementedError

    def members(self, method: ir.Method) -> Iterator[Anchor]:
        """Yield parameters, limits, steps and variants."""
        if method.limits:
            start = min(a.span.start for a in method.limits)
            word = max(0, self.source.text.rfind("budget", 0, start))
            end = max(a.span.end for a in method.limits)
            closing = _CLOSING.match(self.source.text, end)
            yield Anchor(key(method, "limits"), word, closing.end() if closing else end)
        for node in (*method.params, *method.body.body, *method.variants):
            yield Anchor(key(node), node.span.start, node.span.end)


class TextNotation(_Notation):
    """Anchors of the text notation: braces say what holds what."""

    def file(self, module: ir.Module) -> Iterator[Region]:
        """Yield the regions of a module, outer ones before those that they hold."""
        nodes = (*module.uses, *module.prompts, *module.methods)
        anchors = tuple(Anchor(key(n), n.span.start, n.span.end) for n in nodes)
        yield Region(key(module), -1, len(self.source.text) + 1, anchors)
        for prompt in module.prompts:
            yield self.inputs(prompt)
        for method in module.methods:
            yield self.inputs(method)
            start, end = method.returns.span.end, method.span.end
            yield Region(key(method), start, end, tuple(self.members(method)))
            for node in (*method.params, *method.body.body):
                yield from self.steps(node)
            for variant in method.variants:
                anchors = tuple(Anchor(key(c), c.span.start, c.span.end) for c in variant.changes)
                yield from self.braces(variant, variant.span.start, anchors)
                for change in variant.changes:
                    yield from self.steps(change)

    def inputs(self, node: ir.Prompt | ir.Method) -> Region:
        """Return the region between the parentheses of a definition."""
        anchors = tuple(Anchor(key(i), i.span.start, i.span.end) for i in node.inputs)
        return Region(key(node, "inputs"), node.name_span.end, node.returns.span.start, anchors)

    def block(self, block: ir.Block, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of a block, unless it is an expression that stands for one."""
        bare = len(block.body) == 1 and block.body[0].value.span == block.span
        if not bare and block.span.text.startswith("{"):
            yield Region(key(block), block.span.start, block.span.end, anchors)

    def braces(self, node: ir.Node, start: int, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of the parts of a form."""
        yield Region(key(node), start, node.span.end, anchors)

    def attach(self, module: ir.Module, comments: Sequence[Comment]) -> Trivia:
        """Return the comments, each with its node."""
        regions = list(self.file(module))
        return _attach(self.source, regions, comments, _by_braces)


class YamlNotation(_Notation):
    """Anchors of the YAML notation: lines and columns say what holds what."""

    def file(self, module: ir.Module) -> Iterator[Region]:
        """Yield the regions of a module, outer ones before those that they hold."""
        whole = Span(self.source, -1, len(self.source.text) + 1)
        anchors: list[Anchor] = []
        inner: list[Region] = []
        for use in module.uses:
            anchors.append(Anchor(key(use), self.word("use", use.span.start), use.span.end))
        for prompt in module.prompts:
            anchors.append(Anchor(key(prompt), prompt.span.start, prompt.span.end))
        for method in module.methods:
            main = method.span == module.span
            start = method.name_span.start
            if main:
                word = self.word("method", start)
                anchors.append(Anchor(key(method), word, method.name_span.end))
                anchors += self.members(method)
            else:
                anchors.append(Anchor(key(method), start, method.span.end))
                inner += self.region(method, tuple(self.members(method)))
            for node in (*method.params, *method.body.body):
                inner += self.steps(node)
            for variant in method.variants:
                changes = [Anchor(key(c), c.span.start, c.span.end) for c in variant.changes]
                inner += self.region(variant, tuple(changes), dashed=True)
                for change in variant.changes:
                    inner += self.steps(change)
        definitions: tuple[ir.Prompt | ir.Method, ...] = (*module.prompts, *module.methods)
        for definition in definitions:
            places = [
                Anchor(key(i), i.span.start, max(i.span.end, i.type.span.end))
                for i in definition.inputs
            ]
            inner += self.region(definition, tuple(places), "inputs")
        yield Region(key(module), whole.start, whole.end, tuple(anchors))
        yield from inner

    def block(self, block: ir.Block, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of a block, which is a list unless it is one value."""
        dashed = any(block.span.start < anchor.start for anchor in anchors[:1])
        yield from self.region(block, anchors, dashed=dashed)

    def braces(self, node: ir.Node, start: int, anchors: tuple[Anchor, ...]) -> Iterator[Region]:
        """Yield the region of the parts of a form; its head is no part of it."""
        del start
        yield from self.region(node, anchors, dashed=isinstance(node, ir.First))

    def word(self, word: str, start: int) -> int:
        """Return where the line of ``start`` begins with a key, or ``start``."""
        begin = self.source.text.rfind("\n", 0, start) + 1
        return begin if self.source.text.startswith(f"{word}:", begin) else start

    def region(
        self, node: ir.Node, anchors: tuple[Anchor, ...], part: str = "", *, dashed: bool = False
    ) -> Iterator[Region]:
        """Yield the region from the first anchor to the last comment that is indented like it.

        What is ``dashed`` is indented like the dash before it.
        """
        if not anchors:
            return
        start = min(a.start for a in anchors)
        before = self.source.text[:start].rstrip(" ")
        dash = len(before) - 1 if dashed and before.endswith("-") else start
        column = self.source.column_of(dash)
        end = max(a.end for a in anchors)
        text = self.source.text
        at = text.find("\n", end)
        while at >= 0:
            stop = text.find("\n", at + 1)
            line = text[at + 1 : len(text) if stop < 0 else stop]
            if line.strip():
                if not line.lstrip().startswith("#"):
                    break
                if len(line) - len(line.lstrip()) + 1 < column:
                    break
                end = at + 1 + len(line)
            at = stop
        yield Region(key(node, part), start, end, anchors)

    def attach(self, module: ir.Module, comments: Sequence[Comment]) -> Trivia:
        """Return the comments, each with its node."""
        regions = list(self.file(module))
        trivia = _attach(self.source, regions, comments, _by_lines)
        for method in module.methods:
            if method.span == module.span:  # behind its name, not behind its last line
                trivia.opening[key(method)] += trivia.after.pop(key(method), [])
        return trivia


def _head_end(node: ir.Dialog | ir.Matrix | ir.Frontier) -> int:
    """Return where the head of a form ends, before its parts."""
    ends = [node.span.start, *(a.span.end for a in node.options)]
    match node:
        case ir.Dialog():
            ends += [node.call.span.end, node.role_span.end]
        case ir.Frontier():
            ends.append(node.items.span.end)
        case ir.Matrix():
            pass
        case _:
            assert_never(node)
    return max(ends)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a comment belongs: ``inside`` says that it stood inside its anchor."""

    where: str
    key: Key
    inside: bool = False


_Rule = Callable[[Source, Sequence[Region], Comment], _Target]


def _innermost(regions: Iterable[Region], at: int) -> Region:
    holding = [r for r in regions if r.start <= at < r.end]
    return max(holding, key=lambda r: (r.start, -r.end))


def _line_end(source: Source, anchor: Anchor) -> int:
    return source.line_of(max(anchor.start, anchor.end - 1))


def _by_braces(source: Source, regions: Sequence[Region], comment: Comment) -> _Target:
    at = comment.start
    region = _innermost(regions, at)
    line = source.line_of(at)
    if not comment.alone:
        ended = [a for a in region.anchors if a.end <= at and _line_end(source, a) == line]
        if ended:
            return _Target("after", max(ended, key=lambda a: a.end).key)
        started = any(a.start < at for a in region.anchors)
        if region.start >= 0 and not started and source.line_of(region.start) == line:
            return _Target("opening", region.key)
    return _in_region(region, at)


def _in_region(region: Region, at: int) -> _Target:
    around = [a for a in region.anchors if a.start <= at < a.end]
    if around:
        return _Target("before", max(around, key=lambda a: a.start).key, inside=True)
    later = [a for a in region.anchors if a.start > at]
    if later:
        return _Target("before", min(later, key=lambda a: a.start).key)
    return _Target("closing", region.key)


def _by_lines(source: Source, regions: Sequence[Region], comment: Comment) -> _Target:
    at = comment.start
    line = source.line_of(at)
    anchors = [a for region in regions for a in region.anchors]
    if not comment.alone:
        ended = [a for a in anchors if a.end <= at and _line_end(source, a) == line]
        if ended:
            last = max(a.end for a in ended)
            same = [a for a in ended if a.end == last]
            whole = [a for a in same if source.line_of(a.start) == line and _leads(source, a)]
            started = [a for a in same if source.line_of(a.start) < line]
            if whole or started:
                chosen = min(whole, key=_outermost) if whole else max(started, key=_outermost)
                return _Target("after", chosen.key)
        return _in_region(_innermost(regions, at), at)
    region = _innermost(regions, at)
    if region.anchors and at > max(a.end for a in region.anchors):
        return _Target("closing", region.key)
    following = _next_line(source, line)
    starting = [a for a in anchors if source.line_of(a.start) == following and _leads(source, a)]
    if starting:
        return _Target("before", min(starting, key=_outermost).key)
    return _in_region(region, at)


def _leads(source: Source, anchor: Anchor) -> bool:
    """Say whether an anchor is the first thing on its line, but for the dashes of lists."""
    text = source.text
    return not text[text.rfind("\n", 0, anchor.start) + 1 : anchor.start].strip(" -\"'")


def _outermost(anchor: Anchor) -> tuple[int, int]:
    return anchor.start, -anchor.end


def _next_line(source: Source, line: int) -> int:
    """Return the next line that holds more than a comment, or 0."""
    for number in range(line + 1, source.line_of(len(source.text)) + 1):
        content = source.line_text(number).strip()
        if content and not content.startswith("#"):
            return number
    return 0


def _attach(
    source: Source, regions: Sequence[Region], comments: Sequence[Comment], rule: _Rule
) -> Trivia:
    trivia = Trivia()
    file = regions[0]
    first = min((a.start for a in file.anchors), default=len(source.text))
    top = source.line_of(first)
    moved: list[tuple[Key, Comment]] = []
    for comment in comments:
        if comment.alone and comment.start < first and source.line_of(comment.start) < top:
            trivia.opening[file.key].append(_remark(source, comment))
            continue
        target = rule(source, regions, comment)
        if target.inside:
            moved.append((target.key, comment))
            continue
        if target.where == "after" and trivia.after.get(target.key):
            target = _Target("before", target.key)
        getattr(trivia, target.where)[target.key].append(_remark(source, comment))
    for region in regions:
        _blank_lines(source, region, trivia)
    for where, comment in moved:  # the last of what stands before, below any empty line
        trivia.before[where].append(Remark(comment.text, where in trivia.blank))
        trivia.blank.discard(where)
    return trivia


def _remark(source: Source, comment: Comment) -> Remark:
    return Remark(comment.text, comment.alone and _blank_above(source, comment.start))


def _blank_above(source: Source, at: int) -> bool:
    line = source.line_of(at)
    return line > 1 and not source.line_text(line - 1).strip()


def _blank_lines(source: Source, region: Region, trivia: Trivia) -> None:
    """Note which anchors of a region stand below an empty line."""
    taken = source.line_of(max(region.start, 0)) if region.start >= 0 else 0
    for anchor in sorted(region.anchors, key=lambda a: a.start):
        if source.line_of(anchor.start) > taken and _blank_above(source, anchor.start):
            trivia.blank.add(anchor.key)
        taken = _line_end(source, anchor)
