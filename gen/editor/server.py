"""The server: which request of an editor which feature answers, and when files are checked.

A change of a job is checked at once, all files after a short pause. The checker runs in one thread at a time; what an
editor asks for in between is answered from the last results.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from gen import __version__
from gen.base import Diagnostic, UsageError
from gen.base.repository.files import MAX_BYTES, read_regular
from gen.base.repository.layout import (
    JOBS,
    OVERLAYS,
    find_root,
    is_input,
    jobs_path,
    overlays_path,
    rendered_path,
    source_job,
)
from gen.base.repository.settings import check_version
from gen.editor import actions, completion, effects, hover, names
from gen.editor.checker import Checker
from gen.editor.fields import Fields
from gen.editor.view import View, shown
from gen.report.formats import Documentation
from gen.report.schemas import SCHEMAS

PAUSE_S: Final = 0.25
"""Time without a change after which all files are checked."""
_WATCHED: Final = tuple(f"**/{folder('')}**" for folder in (jobs_path, overlays_path, rendered_path))
"""Files with changes on the disk that the client reports."""
_COMPLETION: Final = types.CompletionOptions(trigger_characters=[" ", ":", ".", "-", "[", "{"])
_ACTIONS: Final = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]
)
T = TypeVar("T")
PlanText = Callable[[Path], str]
"""The plan of a repository."""
Pin = Callable[[Path, str], str]
"""Pins the images and the code of a job, and returns a summary."""


class Repository:
    """A repository with open files."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self.server = root, server
        self.checker = Checker(root)
        self.open: set[str] = set()
        self.findings: Mapping[str, tuple[Diagnostic, ...]] = {}
        self._texts: dict[str, str | None] = {}
        """Texts that the checker does not have yet."""
        self._shown: dict[str, list[types.Diagnostic]] = {}
        self._lock = asyncio.Lock()
        self._version = 0
        self._said = ""
        self._committed_changed = False

    def path(self, uri: str) -> str:
        """The path of a file, relative to the repository."""
        return _resolved(uri).relative_to(self.root).as_posix()

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def set_text(self, path: str, text: str | None) -> None:
        self._texts[path] = text
        (self.open.discard if text is None else self.open.add)(path)

    def _take_texts(self) -> None:
        texts, self._texts = self._texts, {}
        for path, text in texts.items():
            self.checker.set_text(path, text)
        if self._committed_changed:
            self._committed_changed = False
            self.checker.forget_committed()

    async def changed(self, path: str | None = None) -> None:
        """Check an open file at once, and all files after a pause without another change."""
        self._version += 1
        version = self._version
        if path is not None:
            async with self._lock:
                if version != self._version:  # a later change checks the file again
                    return
                self._take_texts()
                await self._guarded(self._check_file, path)
        await asyncio.sleep(PAUSE_S)
        async with self._lock:
            if version != self._version:
                return
            self._take_texts()
            await self._guarded(self._check_all, version)
        await self.server.in_worker(self.server.read_schemas)

    async def committed_changed(self) -> None:
        self._committed_changed = True
        await self.changed()

    async def _guarded(
        self, work: Callable[..., Mapping[str, list[types.Diagnostic]] | None], *arguments: object
    ) -> None:
        """Run work in a thread, and show its findings. A bug of gen is said once, and ends nothing."""
        try:
            found = await self.server.in_worker(work, *arguments)
        except Exception:  # noqa: BLE001 - the server must go on
            self.server.say(
                f"this is a bug of gen, not of your files:\n{traceback.format_exc()}", kind=types.MessageType.Error
            )
            return
        if found is None:
            return
        for path, items in found.items():
            if self._shown.get(path, []) != items:
                self._shown[path] = items
                params = types.PublishDiagnosticsParams(uri=self.uri(path), diagnostics=items)
                self.server.text_document_publish_diagnostics(params)
        if self.checker.problem != self._said:
            self._said = self.checker.problem
            if self._said:
                self.server.say(self._said)
        self.server.refresh_lenses()

    def _check_file(self, path: str) -> Mapping[str, list[types.Diagnostic]] | None:
        if not self.findings and not self.checker.overlays:
            self.checker.update()
        found = self.checker.check_file(path)
        if found is None:
            return None
        checked = {path: found}
        if source_job(path) is None:  # an overlay decides about the open jobs, too
            jobs = [one for one in sorted(self.open) if source_job(one) is not None]
            checked.update((job, own) for job in jobs if (own := self.checker.check_file(job)) is not None)
        self.findings = {**self.findings, **checked}
        return {one: self._converted(one, items) for one, items in checked.items()}

    def _check_all(self, version: int) -> Mapping[str, list[types.Diagnostic]] | None:
        found = self.checker.check_all(lambda: self._version != version, sorted(self.open))
        if found is None:
            return None
        self.findings = found
        converted = {path: self._converted(path, items) for path, items in found.items()}
        return {**{path: [] for path in self._shown if path not in found}, **converted}

    def _converted(self, path: str, items: Iterable[Diagnostic]) -> list[types.Diagnostic]:
        view = self.view(path)
        return [shown(item, view, self.view, self.root, self.server.site) for item in items]

    def view(self, path: str) -> View | None:
        """A file as the checker has it; None if it cannot be read."""
        codec, schemas = self.server.workspace.position_codec, self.server.schemas
        text = self.checker.workspace.texts.get(path)
        if text is None:
            folder = self.checker.workspace.copy if is_input(path) else self.root
            try:
                text = read_regular(folder / path, MAX_BYTES).decode("utf-8", "replace")
            except OSError:
                return None
        return View(path, text, self.checker, schemas, codec)


def _resolved(uri: str) -> Path:
    path = Path(uris.to_fs_path(uri) or "/")
    return path.parent.resolve() / path.name


class Server(LanguageServer):
    """A language server for the repositories of the files that an editor opens."""

    def __init__(self, site: Documentation, plan: PlanText, pin: Pin) -> None:
        super().__init__("gen", __version__, max_workers=2)
        self.site, self.plan, self.pin = site, plan, pin
        self.schemas: dict[str, Fields] = {}
        self.repositories: dict[Path, Repository] = {}
        self._said: set[str] = set()

    async def in_worker(self, work: Callable[..., T], *arguments: object) -> T:
        """Run work in the thread that checks files: memory of C libraries is kept for each thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread_pool, work, *arguments)

    def repository(self, uri: str) -> Repository | None:
        """The repository of a file; None for files outside of one."""
        if not uri.startswith("file:"):
            return None
        with suppress(OSError, ValueError):
            file = _resolved(uri)
            try:
                root = find_root(file.parent)
                if root not in self.repositories:
                    check_version(root)
            except UsageError as error:
                self._refuse(file, error)
                return None
            if root not in self.repositories:
                self.repositories[root] = Repository(root, self)
            return self.repositories[root]
        return None

    def _refuse(self, file: Path, error: UsageError) -> None:
        """Say once why a file that looks like one of a repository is not checked."""
        parts = file.parts[-3:]
        if not is_input("/".join(parts)):
            return
        other = next(name for name in (JOBS, OVERLAYS) if name != parts[0])
        text = str(error)
        if not (file.parents[2] / other).exists():
            text = f"there is no folder {other}/ beside {parts[0]}/, so nothing is checked; `gen init` makes one"
        if text not in self._said:
            self._said.add(text)
            self.say(text)

    def view(self, uri: str) -> View | None:
        """An open file with the text that the editor has now."""
        repository = self.repository(uri)
        if repository is None:
            return None
        self.read_schemas()
        text = self.workspace.get_text_document(uri).source
        codec = self.workspace.position_codec
        return View(repository.path(uri), text, repository.checker, self.schemas, codec)

    def read_schemas(self) -> None:
        """Build the schemas, which takes as long as rendering hundreds of jobs; later calls do nothing."""
        for name, schema in SCHEMAS.items():
            if name not in self.schemas:
                self.schemas[name] = Fields(schema())

    def say(self, text: str, *, kind: types.MessageType = types.MessageType.Warning) -> None:
        """A message in the editor."""
        inactive = text.replace("](", "] (")  # VS Code makes links of it, also to its commands
        self.window_show_message(types.ShowMessageParams(type=kind, message=f"gen: {inactive}"))

    def close(self) -> None:
        for repository in self.repositories.values():
            repository.checker.close()

    def refresh_lenses(self) -> None:
        capabilities = self.client_capabilities.workspace
        if capabilities is not None and capabilities.code_lens is not None and capabilities.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    @property
    def has_snippets(self) -> bool:
        try:
            return bool(self.client_capabilities.text_document.completion.completion_item.snippet_support)  # type: ignore[union-attr] # any part can be missing
        except AttributeError:
            return False


async def _initialized(ls: Server, _: types.InitializedParams) -> None:
    capabilities = ls.client_capabilities.workspace
    watched = capabilities.did_change_watched_files if capabilities is not None else None
    if watched is not None and watched.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration(id="files", method=method, register_options=options)
        await ls.client_register_capability_async(types.RegistrationParams(registrations=[registration]))


async def _changed(ls: Server, uri: str, text: str | None) -> None:
    repository = ls.repository(uri)
    if repository is None:
        return
    path = repository.path(uri)
    if is_input(path):
        repository.set_text(path, text)
        await repository.changed(path if text is not None else None)


async def _opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    await _changed(ls, params.text_document.uri, params.text_document.text)


async def _edited(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    await _changed(ls, uri, ls.workspace.get_text_document(uri).source)


async def _closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    await _changed(ls, params.text_document.uri, None)


async def _saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    if (repository := ls.repository(params.text_document.uri)) is not None:
        await repository.changed()


async def _on_disk(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    for repository in {one for change in params.changes if (one := ls.repository(change.uri)) is not None}:
        rendered = any(
            ls.repository(one.uri) is repository and not is_input(repository.path(one.uri)) for one in params.changes
        )
        await (repository.committed_changed() if rendered else repository.changed())


def _of_view(feature: Callable[[Server, View, Any], Any]) -> Callable[[Server, Any], Any]:
    """A request about a file, which nothing answers for files outside of repositories."""

    def answer(ls: Server, params: Any) -> Any:
        view = ls.view(params.text_document.uri)
        return feature(ls, view, params) if view is not None else None

    return answer


def _complete(ls: Server, view: View, params: types.CompletionParams) -> list[types.CompletionItem]:
    return completion.completions(view, *view.from_client(params.position), snippets=ls.has_snippets)


def _hover(_: Server, view: View, params: types.HoverParams) -> types.Hover | None:
    return hover.hover(view, *view.from_client(params.position), datetime.now(UTC))


def _define(_: Server, view: View, params: types.DefinitionParams) -> list[types.Location]:
    root = view.checker.root
    line, column = view.from_client(params.position)
    if (source := effects.source_of_rendered(view, line)) is not None:
        other = view.other(source.file)
        where = other.word_at(source) if other is not None else view.range(0, 0, 0)
        return [types.Location(uri=(root / source.file).as_uri(), range=where)]
    found = names.definitions(view, line, column)
    if not found and view.document.value("kind") and line == 0:
        top = view.range(0, 0, 0)
        return [types.Location(uri=(root / path).as_uri(), range=top) for path in effects.rendered_files(view)]
    return [names.target(root, one) for one in found]


def _refer(_: Server, view: View, params: types.ReferenceParams) -> list[types.Location]:
    declaration = params.context.include_declaration
    found = names.references(view, *view.from_client(params.position), declaration=declaration)
    return [names.target(view.checker.root, one) for one in found]


def _rename(_: Server, view: View, params: types.RenameParams) -> types.WorkspaceEdit | None:
    try:
        return names.rename(view, *view.from_client(params.position), params.new_name)
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _act(ls: Server, view: View, params: types.CodeActionParams) -> list[types.CodeAction]:
    repository = ls.repository(params.text_document.uri)
    found = repository.findings.get(view.path, ()) if repository is not None else ()
    lines = range(params.range.start.line, params.range.end.line + 1)
    return actions.actions(view, lines, found, params.context.diagnostics)


def _lens(_: Server, view: View, __: types.CodeLensParams) -> list[types.CodeLens]:
    return effects.lenses(view)


def _rendered(ls: Server, uri: str) -> str:
    view = ls.view(uri)
    return effects.rendered_text(view) if view is not None else ""


async def _plan(ls: Server, uri: str) -> str:
    repository = ls.repository(uri)
    if repository is None:
        return ""
    try:
        return await asyncio.to_thread(ls.plan, repository.root)
    except UsageError as error:
        return f"{error}\n"


async def _pin(ls: Server, uri: str) -> None:
    """Pin the images and the code of the saved file, and show the result as a message."""
    repository, view = ls.repository(uri), ls.view(uri)
    if repository is None or view is None:
        return
    text, kind = "save the file first: `gen pin` reads saved files", types.MessageType.Error
    with suppress(OSError):
        if (repository.root / view.path).read_text("utf-8", "replace") == view.text:
            try:
                text, kind = await asyncio.to_thread(ls.pin, repository.root, view.job.key), types.MessageType.Info
            except UsageError as error:
                text = str(error)
    ls.say(text, kind=kind)
    await repository.changed()


FEATURES: Final[Mapping[str, tuple[Callable[..., Any], Any]]] = {
    types.INITIALIZED: (_initialized, None),
    types.TEXT_DOCUMENT_DID_OPEN: (_opened, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (_edited, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (_closed, None),
    types.TEXT_DOCUMENT_DID_SAVE: (_saved, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_on_disk, None),
    types.TEXT_DOCUMENT_COMPLETION: (_of_view(_complete), _COMPLETION),
    types.TEXT_DOCUMENT_HOVER: (_of_view(_hover), None),
    types.TEXT_DOCUMENT_DEFINITION: (_of_view(_define), None),
    types.TEXT_DOCUMENT_REFERENCES: (_of_view(_refer), None),
    types.TEXT_DOCUMENT_RENAME: (_of_view(_rename), None),
    types.TEXT_DOCUMENT_CODE_ACTION: (_of_view(_act), _ACTIONS),
    types.TEXT_DOCUMENT_CODE_LENS: (_of_view(_lens), None),
}
"""What answers a request or a notification, with its options."""
COMMANDS: Final[Mapping[str, Callable[..., Any]]] = {
    effects.SHOW_RENDERED: _rendered,
    effects.SHOW_PLAN: _plan,
    actions.PIN: _pin,
}


def make_server(site: Documentation, plan: PlanText, pin: Pin) -> Server:
    """The server with all its features. Only `pin` uses a network, when an author chooses it."""
    server = Server(site, plan, pin)
    for method, (function, options) in FEATURES.items():
        server.feature(method, options)(function)
    for name, function in COMMANDS.items():
        server.command(name)(function)
    return server
