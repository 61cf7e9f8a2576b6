"""`gen vendor`: copy overlays of other repositories, which overlays extend, into this one. It renders nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, UsageError, counted, did_you_mean
from gen.base.codes.overlays import EDITED_VENDORED, MOVED_TAG, NEWER_VERSION, REFUSED_TREE, UNKNOWN_OVERLAY
from gen.base.repository.files import (
    EntryType,
    create_files,
    linked_folder,
    printable_path,
    refuse_links,
    replace_files,
    tree_entries,
)
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import (
    ENDING,
    LABEL,
    OVERLAY_FILE,
    TEMPLATES,
    VENDOR,
    overlay_file,
    overlays_path,
    vendor_lock,
)
from gen.base.yaml.source import Source, source_of
from gen.commands import common
from gen.edit.change import Change
from gen.edit.splice import edited
from gen.overlay import vendored
from gen.overlay.files import OverlayFiles, fields_of
from gen.pins.artifact import Artifact, fetched_artifact, find_artifact, is_digest, newest_tag
from gen.pins.git import Commit, File, Ref, comparison, fetched, find_ref, newest_version
from gen.pins.http import RemoteError
from gen.pins.lock import is_full_commit, short_pin
from gen.report.formats import Report

_FORM: Final = "`gen explain overlay.extends` has the form"
_LONGER: Final = 6
"""How many times longer than one answer all files of a commit may take."""


class Remote(Struct, frozen=True, kw_only=True):
    """How the files of an origin are found. The URL is the first argument, and seconds are the last."""

    find: Callable[[str, str, float], Ref]
    newest: Callable[[str, str, float], str]
    fetched: Callable[[str, str, float], AbstractContextManager[Commit | Artifact]]
    is_content: Callable[[str], bool]
    """Whether a ref always has the same content."""


_REMOTES: Final[Mapping[str, Remote]] = {
    "git": Remote(
        find=lambda url, ref, seconds: find_ref(url, ref, seconds, "extends.ref"),
        newest=newest_version,
        fetched=lambda url, commit, seconds: fetched(url, commit, seconds * _LONGER),
        is_content=is_full_commit,
    ),
    "oci": Remote(find=find_artifact, newest=newest_tag, fetched=fetched_artifact, is_content=is_digest),
}
"""By the type of an origin."""


class Request(Struct, frozen=True, kw_only=True):
    overlays: Annotated[
        tuple[str, ...],
        typer.Argument(
            metavar="OVERLAY",
            help="Overlays that extend those of other repositories. [default: all]",
            autocompletion=common.complete_overlays,
        ),
    ] = ()
    check: Annotated[
        bool, typer.Option("--check", help="Compare the files with their repositories, and change nothing.")
    ] = False
    update: Annotated[
        bool, typer.Option("--update", help="Take the highest version, or the newest commit of a branch.")
    ] = False
    message: common.Message = None
    request_timeout: common.RequestTimeout = common.DEFAULT_SECONDS
    root: common.Root = None


class VendoredOverlay(Struct, frozen=True, kw_only=True):
    """An overlay that extends one of another repository, and its lock if that is valid and has the same origin."""

    name: str
    source: Source
    origin: vendored.Origin
    lock: vendored.VendorLock | None

    @property
    def place(self) -> Location:
        return self.source.place(("extends", "ref"))


class Copy(Struct, frozen=True, kw_only=True):
    """The desired files of an overlay below `vendor/`, and its lock."""

    lock: vendored.VendorLock
    texts: Mapping[str, bytes]


def run(request: Request) -> common.Result[Report]:
    """Exit code 1 for a finding, also for a newer version under `--check`."""
    if request.check and request.update:
        raise UsageError("--check changes no file; use either --check or --update")
    root = common.repository(request.root)
    found, lines = Findings(), list[str]()
    overlays = _vendored(root, request.overlays, found)
    for one in overlays:
        if request.check:
            _check(root, one, request.request_timeout, found)
        elif (copy := _wanted(one, request, found)) is not None and _write(root, one, copy):
            lines.append(_line(one, copy))
    failed = found.failed() or any(item.code == NEWER_VERSION.name for item in found)
    if request.check:
        summary = f"compared {counted(len(overlays), 'overlay')} with the repositories"
    else:
        text = common.commit_message("Vendor " + _subject(overlays), lines) if lines else ""
        if request.message is not None:
            request.message.write_text(text, "utf-8")
        summary = text.rstrip("\n") or ("nothing was changed" if found.failed() else "all files are up to date")
    report = Report(tuple(found), (), summary, root=root)
    return common.Result(output=report, exit_code=common.VIOLATIONS if failed else common.CLEAN)


def _subject(overlays: Sequence[VendoredOverlay]) -> str:
    names = sorted({one.origin.name for one in overlays})
    return names[0] if len(names) == 1 else counted(len(names), "repository").replace("repositorys", "repositories")


def _line(one: VendoredOverlay, copy: Copy) -> str:
    """`production: platform v1 → v2`, and the page that compares the commits."""
    old, new = one.lock, copy.lock
    before = f"{old.origin.ref} ({short_pin(old.commit)}) → " if old is not None and old.commit != new.commit else ""
    link = comparison(new.origin.url, old.commit, new.commit) if before and old is not None else ""
    text = f"{one.name}: {new.origin.name} {before}{new.origin.ref} ({short_pin(new.commit)})"
    return f"{text} {link}".rstrip()


def _vendored(root: Path, names: Sequence[str], found: Findings) -> list[VendoredOverlay]:
    existing = overlay_names(root, Findings())
    files, ignored = OverlayFiles(root, Findings()), Findings()
    for name in names:
        if name not in existing:
            raise UsageError(f"no {overlay_file(name)} found: {did_you_mean(name, existing)}")
    overlays = []
    for name in names or existing:
        source = files.source(name)
        extended = fields_of(source).get("extends") if source is not None else None
        origin = vendored.origin_of(extended)
        if source is None or (isinstance(extended, dict) and origin is None):
            hint = f"run `gen check --overlay {name}`, which reports the errors in it"
            found.error(UNKNOWN_OVERLAY, Location(overlay_file(name)), "the overlay cannot be read", hint)
        elif origin is not None:
            read = vendored.read_vendor_lock(root, name, source.place(("extends",)), ignored)
            lock = read[0] if read is not None else None
            overlays.append(VendoredOverlay(name=name, source=source, origin=origin, lock=lock))
        elif name in names:
            raise UsageError(
                f"overlay `{name}` extends none of another repository; `gen explain overlay.extends` has the form"
            )
    if not overlays and not found.failed():
        raise UsageError(f"no overlay extends one of another repository; {_FORM}")
    return overlays


def _wanted(one: VendoredOverlay, request: Request, found: Findings) -> Copy | None:
    """The files of the locked commit, or of a new one. None, with findings, if they cannot be taken."""
    seconds, remote = request.request_timeout, _REMOTES[one.origin.type]
    lock = one.lock if one.lock is not None and one.lock.origin == one.origin else None
    try:
        if lock is not None and not request.update:
            return _copy(one, one.origin, lock.commit, seconds, found)
        if remote.is_content(one.origin.ref):
            return _copy(one, one.origin, one.origin.ref, seconds, found)
        newest = remote.newest(one.origin.url, one.origin.ref, seconds) if request.update else one.origin.ref
        ref = remote.find(one.origin.url, newest, seconds)
        if lock is not None and newest == one.origin.ref and _moved(one, lock, ref, found.error):
            return None
        if lock is not None and newest != one.origin.ref:
            with suppress(RemoteError):  # the earlier tag may be gone
                _moved(one, lock, remote.find(one.origin.url, one.origin.ref, seconds), found.warning)
        return _copy(one, replace(one.origin, ref=newest), ref.commit, seconds, found)
    except RemoteError as error:
        found.error(error.code, one.place, error.message, error.hint)
    return None


def _moved(one: VendoredOverlay, lock: vendored.VendorLock, ref: Ref, report: Callable[..., None]) -> bool:
    """Whether a tag is another commit than before, which is reported."""
    if not ref.is_tag or ref.commit == lock.commit:
        return False
    message = f"the tag `{one.origin.ref}` moved from `{lock.commit}` to `{ref.commit}`"
    hint = f"ask the owners of the repository; name another tag, or remove {vendor_lock(one.name)} to take its content"
    report(MOVED_TAG, one.place, message, hint)
    return True


def _check(root: Path, one: VendoredOverlay, seconds: float, found: Findings) -> None:
    """Compare an overlay with its repository."""
    if vendored.vendored_overlay(root, one.name, one.source, one.origin, found) is None or one.lock is None:
        return
    lock, remote = one.lock, _REMOTES[one.origin.type]
    try:
        copy = _copy(one, one.origin, lock.commit, seconds, found)
        if copy is not None and copy.lock != lock:
            differing = sorted(path for path, _ in copy.lock.files.items() ^ lock.files.items())
            message = f"{vendor_lock(one.name)} has other digests than commit `{lock.commit}`"
            place = Location(overlays_path(one.name, VENDOR, differing[0]))
            found.error(EDITED_VENDORED, place, message, "run `gen vendor`, which restores the files and the lock")
        if remote.is_content(one.origin.ref):
            return
        ref = remote.find(one.origin.url, one.origin.ref, seconds)
        if _moved(one, lock, ref, found.error):
            return
        newest = remote.newest(one.origin.url, one.origin.ref, seconds)
        if newest != one.origin.ref or ref.commit != lock.commit:
            new = newest if newest != one.origin.ref else ref.commit
            message = f"{one.origin.name} has `{new}`, newer than `{one.origin.ref}` ({short_pin(lock.commit)})"
            found.warning(NEWER_VERSION, one.place, message, f"run `gen vendor --update {one.name}`")
    except RemoteError as error:
        found.error(error.code, one.place, error.message, error.hint)


def _copy(one: VendoredOverlay, origin: vendored.Origin, commit: str, seconds: float, found: Findings) -> Copy | None:
    """The files of a commit that an overlay needs; None, with a finding, if any is refused."""
    with _REMOTES[origin.type].fetched(origin.url, commit, seconds) as tree:
        files = _Files(tree, one, found)
        texts = files.needed(origin.path)
    if texts is None:
        return None
    digests = {path: vendored.digest_of(raw) for path, raw in sorted(texts.items())}
    return Copy(lock=vendored.VendorLock(origin, commit, digests), texts=texts)


class _Files(Struct, frozen=True):
    """The files of a commit, with a finding for the first that this repository cannot have."""

    tree: Commit | Artifact
    overlay: VendoredOverlay
    found: Findings

    def needed(self, path: str) -> dict[str, bytes] | None:
        """Those of the overlay, of those that it extends, and templates of jobs."""
        parent = path.rpartition("/")[0]
        texts: dict[str, bytes] = {}
        at: str | None = path
        while at is not None:
            files = self.read(at)
            overlay = f"{at}/{OVERLAY_FILE}"
            if files is None:
                return None
            if overlay not in files:
                message = f"`{self.tree.commit}` has no {overlay}"
                place = self.overlay.source.place(("extends", "path"))
                self.found.error(UNKNOWN_OVERLAY, place, message, "correct `extends.path`, or `extends.ref`")
                return None
            texts |= files
            base = _base(files[overlay], overlay)
            at = "/".join(part for part in (parent, base) if part) if base else None
            at = at if at is None or f"{at}/{OVERLAY_FILE}" not in texts else None
        templates = self.read(TEMPLATES)
        if templates is None:
            return None
        texts |= {file: raw for file, raw in templates.items() if file.endswith(ENDING)}
        return None if self._too_many(len(texts), sum(map(len, texts.values()))) else texts

    def read(self, folder: str) -> dict[str, bytes] | None:
        files = {
            path: file
            for path, file in self.tree.files(folder).items()
            if not any(part.startswith(".") for part in path.split("/"))
        }
        if self._too_many(len(files), sum(file.size for file in files.values())) or any(
            self._refused(path, file) for path, file in files.items()
        ):
            return None
        if len({path.lower() for path in files}) != len(files):
            self._refuse(f"{folder} has names that differ only in upper and lower case")
            return None
        return {path: self.tree.read(file) for path, file in files.items()}

    def _refused(self, path: str, file: File) -> bool:
        why = ""
        if not file.is_regular:
            why = "is a link or a submodule"
        elif not vendored.ORIGIN_PATH.fullmatch(path):
            why = "has a name with other characters than letters, digits, `.`, `_` and `-`"
        elif file.size > vendored.MOST_BYTES:
            why = f"has more than {vendored.MOST_BYTES >> 20} MiB"
        if why:
            self._refuse(f"{printable_path(path)} {why}")
        return bool(why)

    def _too_many(self, number: int, size: int) -> bool:
        if number <= vendored.MOST_FILES and size <= vendored.MOST_BYTES_TOGETHER:
            return False
        self._refuse(f"more than {vendored.MOST_FILES} files or {vendored.MOST_BYTES_TOGETHER >> 20} MiB")
        return True

    def _refuse(self, what: str) -> None:
        one = self.overlay
        message = f"{one.origin.name} `{one.origin.ref}`: {what}"
        hint = "change it in that repository, or name another folder in `extends.path`"
        self.found.error(REFUSED_TREE, one.place, message, hint)


def _base(raw: bytes, file: str) -> str:
    """The overlay in the same folder that one extends; empty if there is none, or it is in its own `vendor/`."""
    source = source_of(raw, file, Findings())
    base = source.data.get("extends") if source is not None and isinstance(source.data, dict) else None
    return base if isinstance(base, str) and LABEL.fullmatch(base) else ""


def _write(root: Path, one: VendoredOverlay, copy: Copy) -> bool:
    """Write the files of an overlay and its lock, and the ref that it extends. Whether anything changed."""
    folder = overlays_path(one.name, VENDOR)
    texts = {f"{folder}/{path}": raw for path, raw in copy.texts.items()}
    texts[vendor_lock(one.name)] = copy.lock.text().encode()
    changed = False
    for path in _in_the_way(root, folder, texts):
        (root / path).unlink()
        changed = True
    if one.origin != copy.lock.origin:
        text = edited(one.source.text, Change(("extends", "ref"), copy.lock.origin.ref))
        texts[one.source.file] = text.encode("utf-8", "surrogateescape")
    new = {file: raw for file, raw in texts.items() if not (root / file).exists()}
    differing = {file: raw for file, raw in texts.items() if file not in new and (root / file).read_bytes() != raw}
    create_files(root, new)
    replace_files(root, differing)
    return changed or bool(new or differing)


def _in_the_way(root: Path, folder: str, texts: Mapping[str, bytes]) -> Iterator[str]:
    """Files and links to remove: those that the other repository does not have."""
    if (link := linked_folder(root, f"{folder}/")) is not None:
        if link != folder:
            refuse_links(root, f"{folder}/")
        yield folder
        return
    for entry in list(tree_entries(root, folder)):
        if entry.type is EntryType.EMPTY_FOLDER:
            (root / entry.path).rmdir()
        elif entry.path not in texts or entry.type is EntryType.OTHER:
            yield entry.path
