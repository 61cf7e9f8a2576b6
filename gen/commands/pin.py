"""`gen pin`: write the digests of images and the commits of code into the locks of jobs. It changes no job.

The images and refs are those that the runs of a job look up in its lock, in all overlays. Nothing is rendered.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from gen.base import Findings, UsageError, counted
from gen.base.codes.files import NOT_A_FILE
from gen.base.codes.pins import MOVED_PIN, MUTABLE_REF
from gen.base.engines import RECORDS
from gen.base.repository.files import MAX_BYTES, read_regular
from gen.base.repository.job_files import all_jobs, chosen_jobs
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import read
from gen.commands import common
from gen.overlay import load_extensions
from gen.overlay.overlay import Overlay, selects
from gen.overlay.read import OverlayReader
from gen.pins.job_pins import JobPins, LockChange, PinChange
from gen.pins.lock import Lock, Pins, read_lock, short_pin
from gen.render.expand import expand, run_values
from gen.render.model import read_job
from gen.render.stages import plan_run
from gen.report.formats import Report


class Request(Struct, frozen=True, kw_only=True):
    jobs: common.Jobs = ()
    check: Annotated[
        bool, typer.Option("--check", help="Compare the pins with registries and Git servers, and change no file.")
    ] = False
    update: Annotated[bool, typer.Option("--update", help="Move existing pins, too, which starts new runs.")] = False
    asking: Annotated[bool, typer.Option("--asking", help="Only jobs with `updates: true` in their lock.")] = False
    platform: Annotated[
        tuple[str, ...],
        typer.Option(
            "--platform",
            metavar="OS/ARCH",
            help="Platform that each image must have; may be repeated. "
            "[default: linux, with `kubernetes.io/arch` of the nodes that the job chooses, or amd64]",
        ),
    ] = ()
    message: common.Message = None
    request_timeout: common.RequestTimeout = common.DEFAULT_SECONDS
    root: common.Root = None


def run(request: Request) -> common.Result[Report]:
    """Exit code 1 if a pin moved under `--check`, or one is missing; all others are written even then."""
    if request.check and request.update:
        raise UsageError("--check changes no pin; use either --check or --update")
    root = common.repository(request.root)
    from gen.base.repository.files import create_files, replace_files
    from gen.pins.job_pins import ask, check_pins, lock_changes, questions

    found = Findings()
    jobs = chosen(root, request.jobs, found, asking=request.asking, strict=request.check)
    replies = ask(questions(jobs, update=request.update, check=request.check), request.request_timeout)
    if request.check:
        check_pins(jobs, replies, request.platform, found)
        failed = found.failed() or any(item.code == MOVED_PIN.name for item in found)
        summary = f"checked the pins of {counted(len(jobs), 'job')}"
        return common.Result(
            output=Report(tuple(found), (), summary, root=root), exit_code=common.VIOLATIONS if failed else common.CLEAN
        )
    done = lock_changes(jobs, replies, request.platform, found, update=request.update)
    texts = {one.file: one.text.encode() for one in done}
    create_files(root, {file: raw for file, raw in texts.items() if not os.path.lexists(root / file)})
    replace_files(root, {file: raw for file, raw in texts.items() if os.path.lexists(root / file)})
    text = message(done)
    if request.message is not None:
        request.message.write_text(text, "utf-8")
    output = Report(tuple(found), (), text.rstrip("\n") or _nothing(found), root=root)
    return common.Result(output=output, exit_code=common.VIOLATIONS if found.failed() else common.CLEAN)


def _nothing(found: Findings) -> str:
    return "no pin was changed" if found.failed() else "all pins are up to date"


def message(done: Sequence[LockChange]) -> str:
    """A commit message: the pins that were added, moved and removed. Empty without any."""
    if not done:
        return ""
    verb = "Move" if any(moved.old and moved.new for one in done for moved in one.moved) else "Pin images and code"
    what = f"{verb} pins" if verb == "Move" else verb
    subject = f"{what} of {done[0].job.key if len(done) == 1 else counted(len(done), 'job')}"
    return common.commit_message(subject, [f"{one.job.key}: {_line(moved)}" for one in done for moved in one.moved])


def _line(moved: PinChange) -> str:
    """`train:1.5: sha256:2c26… → sha256:fcde…`, and the page that compares commits."""
    change = " → ".join(short_pin(one) for one in (moved.old, moved.new) if one)
    gone = "" if moved.new else " (removed)"
    name = moved.name.replace("`", "'")  # it becomes the text of a pull request, where names of people have an effect
    return f"`{name}`: `{change}`{gone}{f' {moved.link}' if moved.link else ''}"


def pinnable(root: Path, job: JobFile, overlays: Sequence[Overlay], lock: Lock, found: Findings) -> Pins | None:
    """None for a job with errors, which are reported, for one that no overlay selects, and for a finished one."""
    own = Findings()
    source = read(root, job.file, own)
    if source is None:
        found.extend(own.items)
        return None
    pins = Pins(lock=lock)
    selected = [one for one in overlays if selects(one, job.key, source.data)]
    for overlay in selected:
        written = read_job(source, job.namespace, overlay, own)
        for run in expand(written, run_values(written, overlay, own)) if written is not None else ():
            plan = plan_run(run, overlay, pins)
            own.extend(run.found.items)
            pins.finished = pins.finished or (plan is not None and plan.state in RECORDS)
    errors = [item for item in own if item.is_error and item.code != MUTABLE_REF.name]
    found.extend(errors)
    return pins if selected and not errors and not pins.finished else None


def chosen(root: Path, patterns: Sequence[str], found: Findings, *, asking: bool, strict: bool) -> list[JobPins]:
    """The jobs that patterns name, or all. An invalid lock counts as empty, unless `strict` or a link."""
    load_extensions(root)
    overlays = OverlayReader(root, found).read()
    files = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    jobs = []
    for job in files:
        own = Findings()
        lock = read_lock(root, job, own)
        kept = strict or asking or any(item.code == NOT_A_FILE.name for item in own)
        if lock is None and kept:
            found.extend(own.items)
            continue
        if asking and not (lock is not None and lock.updates):
            continue
        pins = pinnable(root, job, overlays, lock or Lock(file=job.lock), found)
        if pins is not None:
            jobs.append(JobPins(job=job, pins=pins, text=_text(root, job) if lock is not None else ""))
    return jobs


def _text(root: Path, job: JobFile) -> str:
    """The text of a valid lock; empty if there is none."""
    try:
        return read_regular(root / job.lock, MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
