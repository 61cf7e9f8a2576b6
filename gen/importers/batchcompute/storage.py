"""Data of a task: inputs are volumes, outputs and logs are copied to object stores of the overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.importers.draft import label, literal
from gen.regex import regex

if TYPE_CHECKING:
    from gen.diagnostics import Location
    from gen.importers.draft import JobDraft
    from gen.importers.record import Record

_COS: Final = regex(r"cos://(?P<bucket>[a-z0-9.-]+)\.cos\.(?P<region>[a-z0-9-]+)\.myqcloud\.com(?P<path>/.*)?")
_CFS: Final = regex(r"cfs://(?P<host>[A-Za-z0-9.-]+)(?P<path>/.*)?")
_ACCOUNT: Final = "create a Secret `cos` with the keys `SecretId` and `SecretKey` in the namespace"


def carry_storage(draft: JobDraft, task: Record) -> None:
    """Set `data`, `outputs` and `logs`."""
    for number, entry in enumerate(task.records("InputMappings")):
        _input(draft, entry, number)
    for entry in task.records("OutputMappings"):
        place, path = entry.place("DestinationPath"), entry.text("SourcePath")
        target = _store(draft, entry.text("DestinationPath"), place)
        if target is None:
            hint = "write to a volume of the overlay, with `outputs` or `data`"
            draft.drop(place, "`OutputMappings`", "expected a folder in a bucket, `cos://`", hint)
            continue
        draft.set(target, "outputs", literal(path.rstrip("/")), place=place)
        hint = "the files are in a folder with the name of the run below it"
        draft.drop(place, "the exact folder of the output", "each run has its own", hint)
    redirect = task.record("RedirectInfo")
    paths = [redirect.text(name) for name in ("StdoutRedirectPath", "StderrRedirectPath")]
    for path in dict.fromkeys(one for one in paths if one):
        target = _store(draft, path, redirect.place())
        if target is not None and "logs" not in draft.fields:
            draft.set(target, "logs", place=redirect.place())
        else:
            hint = "set `logs` of the job to one folder of an object store or a volume"
            draft.drop(redirect.place(), f"the log folder `{path}`", "a job has one folder for logs", hint)


def _store(draft: JobDraft, url: str, place: Location) -> dict[str, str] | None:
    """The folder of a bucket, as a store of the overlay; None for other places."""
    cos = _COS.fullmatch(url)
    folder = (cos["path"] or "").strip("/") if cos is not None else ""
    if cos is None or not folder:
        return None
    name = label(cos["bucket"], "bucket")
    profile = {"cos": cos["region"], "bucket": cos["bucket"], "secret": "cos"}
    if draft.overlay.get("stores", {}).get(name) != profile:
        draft.need(profile, "stores", name)
        draft.drop(place, "the account of the bucket", "the overlay names a Secret for it", _ACCOUNT)
    return {"store": name, "path": literal(folder)}


def _input(draft: JobDraft, entry: Record, number: int) -> None:
    """A bucket or a file system as a volume of the overlay."""
    source, path = entry.text("SourcePath"), entry.text("DestinationPath")
    volume = label(path, f"input-{number}")
    if (cos := _COS.fullmatch(source)) is not None:
        profile = {
            "bucket": cos["bucket"],
            "url": f"http://cos.{cos['region']}.myqcloud.com",
            "path": f"/{(cos['path'] or '').strip('/')}",
            "secret": "cos",
        }
        name = draft.volume(volume, {"cos": profile, "size": "1Ti", "readOnly": True})
        draft.drop(
            entry.place("SourcePath"), "the account of the bucket", "the overlay names a Secret for it", _ACCOUNT
        )
    elif (cfs := _CFS.fullmatch(source)) is not None:
        profile = {"host": cfs["host"], "path": f"/{(cfs['path'] or '').strip('/')}"}
        name = draft.volume(volume, {"cfs": profile, "size": "1Ti"})
    else:
        hint = "declare the source as a volume of the overlay, and mount it with `data`"
        draft.drop(entry.place("SourcePath"), "`InputMappings`", "expected a source `cos://` or `cfs://`", hint)
        return
    draft.set(literal(path), "data", name, place=entry.place("DestinationPath"))
    if entry.text("MountType") == "GooseFS-Lite" and "cos" in draft.overlay["volumes"][name]:
        draft.overlay["volumes"][name]["cos"]["mounter"] = "goosefs-lite"
