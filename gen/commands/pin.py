"""`gen pin`: write the digests of images and the commits of code into the locks of jobs. It changes no job."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import repository
from gen.commands.message import commit_message
from gen.commands.options import DEFAULT_SECONDS, Jobs, Message, RequestTimeout, Root
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.diagnostics import Findings, UsageError, counted
from gen.findings.pins import MOVED_PIN
from gen.pins.lock import short_pin
from gen.report.formats import REPORTERS
from gen.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.edit.pinning import Moved, Pinned

FORMATS = REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen pin`."""

    jobs: Jobs = ()
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
    message: Message = None
    request_timeout: RequestTimeout = DEFAULT_SECONDS
    root: Root = None


def run(request: Request) -> Result[Report]:
    """Exit code 1 if a pin moved under `--check`, or one is missing; all others are written even then."""
    if request.check and request.update:
        raise UsageError("--check changes no pin; use either --check or --update")
    root = repository(request.root)
    from gen.commands.pinned_jobs import chosen  # noqa: PLC0415 - `gen pin --help` does not need it
    from gen.edit.pinning import checked, pinned, questions  # noqa: PLC0415 - as above
    from gen.remote.resolve import ask  # noqa: PLC0415 - needs the client
    from gen.repository.place_files import create_files, replace_files  # noqa: PLC0415 - as above

    found = Findings()
    jobs = chosen(root, request.jobs, found, asking=request.asking, strict=request.check)
    replies = ask(questions(jobs, update=request.update, check=request.check), request.request_timeout)
    if request.check:
        checked(jobs, replies, request.platform, found)
        failed = found.failed() or any(item.code == MOVED_PIN.name for item in found)
        summary = f"checked the pins of {counted(len(jobs), 'job')}"
        return Result(output=Report(tuple(found), (), summary, root=root), exit_code=VIOLATIONS if failed else CLEAN)
    done = pinned(jobs, replies, request.platform, found, update=request.update)
    texts = {one.file: one.text.encode() for one in done}
    create_files(root, {file: raw for file, raw in texts.items() if not os.path.lexists(root / file)})
    replace_files(root, {file: raw for file, raw in texts.items() if os.path.lexists(root / file)})
    text = message(done)
    if request.message is not None:
        request.message.write_text(text, "utf-8")
    output = Report(tuple(found), (), text.rstrip("\n") or _nothing(found), root=root)
    return Result(output=output, exit_code=VIOLATIONS if found.failed() else CLEAN)


def _nothing(found: Findings) -> str:
    return "no pin was changed" if found.failed() else "all pins are up to date"


def message(done: Sequence[Pinned]) -> str:
    """A commit message: the pins that were added, moved and removed. Empty without any."""
    if not done:
        return ""
    verb = "Move" if any(moved.old and moved.new for one in done for moved in one.moved) else "Pin images and code"
    what = f"{verb} pins" if verb == "Move" else verb
    subject = f"{what} of {done[0].job.key if len(done) == 1 else counted(len(done), 'job')}"
    return commit_message(subject, [f"{one.job.key}: {_line(moved)}" for one in done for moved in one.moved])


def _line(moved: Moved) -> str:
    """`train:1.5: sha256:2c26… → sha256:fcde…`, and the page that compares commits."""
    change = " → ".join(short_pin(one) for one in (moved.old, moved.new) if one)
    gone = "" if moved.new else " (removed)"
    name = moved.name.replace("`", "'")  # it becomes the text of a pull request, where names of people have an effect
    return f"`{name}`: `{change}`{gone}{f' {moved.link}' if moved.link else ''}"
