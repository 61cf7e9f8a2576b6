"""A client of `gen lsp` in a process of its own, whose standard input and output are a connection, for tests."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests import forks

LIMIT_S = 60.0
"""Time limit for the answer of a busy machine."""


class Editor(LanguageClient):
    """An editor with one repository. Positions are those of the protocol, in UTF-16 by default."""

    def __init__(self, root: Path) -> None:
        super().__init__("test", "1")
        self.root = root.resolve()
        self.shown: dict[str, list[types.Diagnostic]] = {}
        """The last diagnostics by path."""
        self.published: dict[str, int] = defaultdict(int)
        self.messages: list[str] = []
        self.refreshed = 0
        self.errors = ""
        self._ending = False
        self._versions: dict[str, int] = defaultdict(int)
        self._news = asyncio.Event()

        def publish(params: types.PublishDiagnosticsParams) -> None:
            path = self.path(params.uri)
            self.shown[path] = list(params.diagnostics)
            self.published[path] += 1
            self._news.set()

        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        def refresh(_: None) -> None:
            self.refreshed += 1
            self._news.set()

        def register(_: types.RegistrationParams) -> None:
            pass

        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
        self.feature(types.WINDOW_SHOW_MESSAGE)(message)
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(refresh)
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(register)

    def path(self, uri: str) -> str:
        return Path(uri.removeprefix("file://")).relative_to(self.root).as_posix()

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def document(self, path: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri=self.uri(path))

    async def start(self, encoding: str | None = None, folders: Sequence[str] = ()) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            await self.start_tcp(*listener.getsockname())
            connection, _ = listener.accept()
        with connection:
            errors, other = os.pipe()
            streams = (connection.fileno(), connection.fileno(), other)
            self._program = forks.start(["lsp"], streams, cwd=Path.cwd(), env=os.environ)
            os.close(other)
        self._fail_when_it_ends(errors)
        general = (
            types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
            if encoding
            else None
        )
        capabilities = types.ClientCapabilities(
            general=general,
            workspace=types.WorkspaceClientCapabilities(
                code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            ),
            text_document=types.TextDocumentClientCapabilities(
                completion=types.CompletionClientCapabilities(
                    completion_item=types.ClientCompletionItemOptions(snippet_support=True)
                )
            ),
        )
        opened = [types.WorkspaceFolder(uri=self.uri(one), name=one) for one in folders]
        root = None if folders else self.root.as_uri()
        params = types.InitializeParams(
            capabilities=capabilities, root_uri=root, workspace_folders=opened or None, process_id=None
        )
        await self.initialize_async(params)
        self.initialized(types.InitializedParams())

    def _fail_when_it_ends(self, errors: int) -> None:
        """An answer of a server that has ended would never come."""
        loop, session = asyncio.get_running_loop(), asyncio.current_task()

        def read() -> None:
            if said := os.read(errors, 1 << 16):
                self.errors += said.decode()
                return
            loop.remove_reader(errors)
            os.close(errors)
            if not self._ending and session is not None:
                session.cancel()

        loop.add_reader(errors, read)

    async def end(self) -> None:
        self._ending = True
        await self.shutdown_async(None)
        self.exit(None)
        await self.stop()  # type: ignore[no-untyped-call] # of pygls
        assert self._program.wait(LIMIT_S) == 0

    def open(self, path: str, text: str | None = None) -> None:
        text = (self.root / path).read_text("utf-8") if text is None else text
        item = types.TextDocumentItem(uri=self.uri(path), language_id="yaml", version=0, text=text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def change(self, path: str, text: str) -> None:
        self._versions[path] += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri(path), version=self._versions[path])
        whole = [types.TextDocumentContentChangeWholeDocument(text=text)]
        self.text_document_did_change(types.DidChangeTextDocumentParams(text_document=document, content_changes=whole))

    def close(self, path: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(text_document=self.document(path)))

    def saved(self, path: str) -> None:
        self.text_document_did_save(types.DidSaveTextDocumentParams(text_document=self.document(path)))

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait for news until a condition is true, and return its value."""
        async with asyncio.timeout(LIMIT_S):
            while not (value := condition()):
                self._news.clear()
                await self._news.wait()
        return value

    def codes(self, path: str) -> list[str]:
        return [str(one.code) for one in self.shown.get(path, [])]

    async def labels(self, path: str, line: int, character: int) -> list[str]:
        """The labels of the completion items at a position."""
        params = types.CompletionParams(text_document=self.document(path), position=types.Position(line, character))
        found = await self.text_document_completion_async(params)
        items = found.items if isinstance(found, types.CompletionList) else found or []
        return [item.label for item in sorted(items, key=lambda item: item.sort_text or item.label)]

    async def hover(self, path: str, line: int, character: int) -> str:
        params = types.HoverParams(text_document=self.document(path), position=types.Position(line, character))
        found = await self.text_document_hover_async(params)
        return found.contents.value if found is not None and isinstance(found.contents, types.MarkupContent) else ""


def in_editor(
    root: Path, use: Callable[[Editor], Awaitable[None]], encoding: str | None = None, folders: Sequence[str] = ()
) -> None:
    """Start a server, use it, and end it."""

    async def session() -> None:
        editor = Editor(root)
        try:
            await editor.start(encoding, folders)
            await use(editor)
        except asyncio.CancelledError:
            raise AssertionError(f"the server has ended:\n{editor.errors}") from None
        await editor.end()

    asyncio.run(session())
