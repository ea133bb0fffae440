"""The language server: messages of the protocol to questions about a `Document`."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from reasoner.editor.complete import Item
from reasoner.editor.document import Document
from reasoner.errors import Diagnostic, Severity, UsageError
from reasoner.source import Source, Span


def serve() -> None:
    """Answer an editor over standard input and output until it says good-bye.

    Raises
    ------
    UsageError
        If the library for the protocol is not installed.
    """
    try:
        import pygls.lsp.server  # noqa: F401 - found out before the first message
    except ModuleNotFoundError:
        raise UsageError("the language server needs pygls: pip install 'reasoner[lsp]'") from None
    _server().start_io()


class Units:
    """Places of a text in the units of the editor: lines from 0, and code units within them."""

    def __init__(self, source: Source, encoding: str) -> None:
        self.source, self.encoding = source, encoding

    def width(self, text: str) -> int:
        """Return how many units a text takes."""
        match self.encoding:
            case "utf-8":
                return len(text.encode("utf-8", "surrogatepass"))
            case "utf-32":
                return len(text)
            case _:
                return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def of(self, offset: int) -> tuple[int, int]:
        """Return the line and the unit at which a character stands."""
        line = self.source.line_of(offset)
        start = offset - self.source.column_of(offset) + 1
        return line - 1, self.width(self.source.text[start:offset])

    def offset(self, line: int, unit: int) -> int:
        """Return the character at a line and a unit; beyond the end is the end."""
        text = self.source.text
        starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
        if line >= len(starts):
            return len(text)
        at = starts[line]
        used = 0
        while at < len(text) and text[at] != "\n" and used < unit:
            used += self.width(text[at])
            at += 1
        return at


def path_of(uri: str, language: str) -> str:
    """Return the name by which a file is known; what was never saved is named by its notation."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        path = unquote(parts.path)
        return path[1:] if path[2:3] == ":" else path
    name = unquote(parts.path) or "untitled"
    known = name.endswith((".rsn", ".yaml", ".yml"))
    return name if known else f"{name}{'.yaml' if language == 'yaml' else '.rsn'}"


def _server() -> Any:
    """Return the server with its features."""
    from lsprotocol import types as t
    from pygls.lsp.server import LanguageServer

    server = LanguageServer("reasoner", "1", text_document_sync_kind=t.TextDocumentSyncKind.Full)
    _Features(server).register()
    return server


def _plain_function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a method as a function: the library writes on what it is given."""

    def answer(params: Any) -> Any:
        return method(params)

    return answer


class _Features:
    """The open documents, and a method for each kind of message."""

    def __init__(self, server: Any) -> None:
        from lsprotocol import types
        from pygls.exceptions import JsonRpcInvalidParams

        self.server, self.types, self.refusal = server, types, JsonRpcInvalidParams
        self.documents: dict[str, Document] = {}

    def register(self) -> None:
        """Tell the server what is answered."""
        t = self.types
        triggers = t.CompletionOptions(trigger_characters=["(", ",", " ", ":"])
        answers: list[tuple[str, Callable[[Any], Any], Any]] = [
            (t.TEXT_DOCUMENT_DID_OPEN, self.opened, None),
            (t.TEXT_DOCUMENT_DID_CHANGE, self.changed, None),
            (t.TEXT_DOCUMENT_DID_CLOSE, self.closed, None),
            (t.TEXT_DOCUMENT_COMPLETION, self.completion, triggers),
            (t.TEXT_DOCUMENT_HOVER, self.hover, None),
            (t.TEXT_DOCUMENT_DEFINITION, self.definition, None),
            (t.TEXT_DOCUMENT_PREPARE_RENAME, self.prepare, None),
            (t.TEXT_DOCUMENT_RENAME, self.rename, t.RenameOptions(prepare_provider=True)),
        ]
        for name, answer, options in answers:
            self.server.feature(name, options)(_plain_function(answer))

    # ---- documents ---------------------------------------------------------------------------

    def opened(self, params: Any) -> None:
        """Take a file in that the editor opened."""
        item = params.text_document
        self.documents[item.uri] = Document(path_of(item.uri, item.language_id))
        self.check(item.uri, item.text, item.version)

    def changed(self, params: Any) -> None:
        """Take a new text in."""
        uri = params.text_document.uri
        if uri in self.documents and params.content_changes:
            self.check(uri, params.content_changes[-1].text, params.text_document.version)

    def closed(self, params: Any) -> None:
        """Forget a file and its findings."""
        uri = params.text_document.uri
        self.documents.pop(uri, None)
        self.publish(uri, [], None)

    def check(self, uri: str, text: str, version: int | None) -> None:
        """Check a text and show what was found."""
        document = self.documents[uri]
        document.update(text)
        self.publish(uri, [self.finding(document, f) for f in document.findings], version)

    def publish(self, uri: str, findings: list[Any], version: int | None) -> None:
        """Send findings to the editor."""
        t = self.types
        self.server.text_document_publish_diagnostics(
            t.PublishDiagnosticsParams(uri=uri, diagnostics=findings, version=version)
        )

    def finding(self, document: Document, found: Diagnostic) -> Any:
        """Return a finding; one about a used file stands at the top and says where it is."""
        t = self.types
        here = found.span.source.name == document.name
        span = found.span if here else Span(document.source, 0, 0)
        message = found.message if here else f"{found.span.place}: {found.message}"
        severity = t.DiagnosticSeverity
        return t.Diagnostic(
            range=self.range(span),
            message=f"{message}\n{found.hint}" if found.hint else message,
            severity=severity.Error if found.severity is Severity.ERROR else severity.Warning,
            code=found.code,
            source="reasoner",
            related_information=[
                t.DiagnosticRelatedInformation(location=self.location(r.span), message=r.message)
                for r in found.related
            ],
        )

    # ---- places ------------------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """The units in which the editor counts."""
        agreed = self.server.workspace.position_codec.encoding
        return str(getattr(agreed, "value", agreed))

    def range(self, span: Span) -> Any:
        """Return a span as the protocol writes it."""
        t, units = self.types, Units(span.source, self.encoding)
        start, end = (t.Position(*units.of(at)) for at in (span.start, span.end))
        return t.Range(start=start, end=end)

    def location(self, span: Span) -> Any:
        """Return a span with its file."""
        from pygls.uris import from_fs_path

        name = span.source.name
        open_ = next((uri for uri, d in self.documents.items() if d.name == name), None)
        return self.types.Location(uri=open_ or from_fs_path(name) or name, range=self.range(span))

    def asked(self, params: Any) -> tuple[Document | None, int]:
        """Return the document and the place that a message is about."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return None, 0
        at = params.position
        return document, Units(document.source, self.encoding).offset(at.line, at.character)

    # ---- questions ---------------------------------------------------------------------------

    def completion(self, params: Any) -> Any:
        """Answer what may be written."""
        document, offset = self.asked(params)
        items = document.complete(offset) if document is not None else []
        shown = [self.item(i, n) for n, i in enumerate(items)]
        return self.types.CompletionList(is_incomplete=False, items=shown)

    def item(self, item: Item, number: int) -> Any:
        """Return one completion; the order is ours."""
        t = self.types
        kinds = {
            "operator": t.CompletionItemKind.Function,
            "prompt": t.CompletionItemKind.Event,
            "method": t.CompletionItemKind.Method,
            "name": t.CompletionItemKind.Variable,
            "option": t.CompletionItemKind.Field,
            "key": t.CompletionItemKind.Property,
            "type": t.CompletionItemKind.Class,
            "role": t.CompletionItemKind.Interface,
            "keyword": t.CompletionItemKind.Keyword,
        }
        return t.CompletionItem(
            label=item.label,
            kind=kinds.get(item.kind, t.CompletionItemKind.Value),
            detail=item.detail or item.kind,
            documentation=item.doc or None,
            insert_text=item.insert or item.label,
            sort_text=f"{number:04}",
        )

    def hover(self, params: Any) -> Any:
        """Answer what is to be said of a place."""
        document, offset = self.asked(params)
        found = document.hover(offset) if document is not None else None
        if found is None:
            return None
        t = self.types
        page = t.MarkupContent(kind=t.MarkupKind.Markdown, value=found[0])
        return t.Hover(contents=page, range=self.range(found[1]))

    def definition(self, params: Any) -> Any:
        """Answer where a name is defined."""
        document, offset = self.asked(params)
        span = document.definition(offset) if document is not None else None
        return None if span is None else self.location(span)

    def prepare(self, params: Any) -> Any:
        """Answer whether a name can be changed."""
        document, offset = self.asked(params)
        try:
            return None if document is None else self.range(document.renamable(offset).span)
        except UsageError:
            return None

    def rename(self, params: Any) -> Any:
        """Answer the edits that change a name."""
        document, offset = self.asked(params)
        if document is None:
            return None
        try:
            spans = document.rename(offset, params.new_name)
        except UsageError as error:
            raise self.refusal(str(error)) from error
        t = self.types
        edits = [t.TextEdit(range=self.range(span), new_text=params.new_name) for span in spans]
        return t.WorkspaceEdit(changes={params.text_document.uri: edits})
