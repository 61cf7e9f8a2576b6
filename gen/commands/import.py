"""`gen import`: jobs from the submissions of another tool. Nothing that is imported is run, except with `--prove`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, Severity, UsageError, contained, did_you_mean, quoted, regex
from gen.base.codes.files import INVALID_NAME
from gen.base.codes.imports import ALREADY_THERE, NOT_CARRIED, OTHER_VALUE
from gen.base.repository.files import MAX_BYTES, create_files, replace_files, unusable
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import LABEL, JobFile, overlay_file
from gen.base.yaml.user_text import with_additions, written
from gen.commands.common import VIOLATIONS, Result, Root, complete_namespaces, repository
from gen.commands.environment import progress_bar, reads_terminal
from gen.commands.new import SCHEMA_FILE, only_namespace
from gen.commands.rendering import refused
from gen.edit.checks import check_quota
from gen.importers import IMPORTERS, OPTIONS, ImportedJob, Importer, ImportInput, overlay_needs, proof, renders, sandbox
from gen.importers.draft import check_text, text_of
from gen.job.names import JOB_NAME
from gen.kubernetes.manifests.files import STDIN, named_files, read_bytes, unpacked
from gen.overlay import load_extensions
from gen.overlay.files import OverlayFiles
from gen.overlay.overlay import Overlay
from gen.overlay.read import OverlayReader, merged_fields
from gen.render.write.compare import Change, Status
from gen.report.formats import Report

MAX_FILES = 1000
"""Maximum number of files of one import; they are in memory together."""


def _tools(incomplete: str) -> list[str]:
    return [name for name in IMPORTERS if name.startswith(incomplete)]


def _having(option: str) -> str:
    """The tools with an option, for its help."""
    return ", ".join(name for name in IMPORTERS if option in IMPORTERS[name].options)


class Request(Struct, frozen=True, kw_only=True):
    importer: Annotated[
        str, typer.Argument(help=f"Other tool: {', '.join(IMPORTERS)}.", metavar="TOOL", autocompletion=_tools)
    ]
    source: Annotated[
        tuple[str, ...],
        typer.Argument(
            help="File, folder, `-` for standard input, or after `--` a command. [default: -]",
            metavar="PATH|-|-- COMMAND",
        ),
    ] = ()
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            metavar="NAMESPACE",
            help="Namespace of all jobs. [default: that of the submission]",
            autocompletion=complete_namespaces,
        ),
    ] = None
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="IMAGE", help=f"Image of jobs without their own, for {_having('image')}."),
    ] = None
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help=f"Name of the job, for {_having('name')}.")
    ] = None
    define: Annotated[
        tuple[str, ...],
        typer.Option("--define", metavar="NAME=VALUE", help=f"Value of a variable, for {_having('define')}."),
    ] = ()
    site: Annotated[
        Path | None,
        typer.Option(
            "--site", metavar="FILE", help=f"Meanings of partitions, accounts and paths, for {_having('site')}."
        ),
    ] = None
    site_template: Annotated[
        bool,
        typer.Option(
            "--site-template",
            help=f"Print a site file for scripts in files and folders, for {_having('site_template')}.",
        ),
    ] = False
    overlay: Annotated[
        str | None,
        typer.Option("--overlay", metavar="OVERLAY", help="Add what the jobs need to this overlay, after --yes."),
    ] = None
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help=f"Run the input and its job in a sandbox without their programs, and compare, for {_having('prove')}.",
        ),
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Write the change of the overlay.")] = False
    root: Root = None


def run(request: Request) -> Result[Report]:
    """Write all jobs, or none if one has an error. UsageError for an unknown tool or overlay."""
    if (
        request.site_template
        and request.importer in IMPORTERS
        and "site_template" in IMPORTERS[request.importer].options
    ):
        return _template(request)  # without a repository
    root = repository(request.root)
    overlay_findings = load_extensions(root)
    if request.importer not in IMPORTERS:
        raise UsageError(f"unknown tool `{request.importer}`: {did_you_mean(request.importer, IMPORTERS)}")
    overlays = overlay_names(root, Findings())
    if request.overlay is not None and request.overlay not in overlays:
        raise UsageError(f"no {overlay_file(request.overlay)} found: {did_you_mean(request.overlay, overlays)}")
    found = Findings()
    importer = IMPORTERS[request.importer]
    given = _given_files(root, request) if importer.reads_files else _given(root, request)
    named = request.overlay or (overlays[0] if len(overlays) == 1 else None)
    jobs = _with_accelerators(root, named, _read(importer(), given, overlay_findings, found))
    texts = _texts(root, jobs, found, _remedy(request))
    for job, route, other in overlay_needs.clashes(jobs):
        message = f"`{'.'.join(map(str, route))}` of job `{job.name}` is not that of job `{other.name}`"
        hint = "import the two on their own, for different overlays, or change the name of one claim or folder"
        found.error(OTHER_VALUE, job.place, message, hint)
    needed = overlay_needs.fragment(jobs)
    change = _overlay_change(root, request.overlay, jobs, needed, found)
    lacking = overlay_needs.lacking(jobs, known := _known(root, named))
    overlay = named or proof.NAME, _judged_text(root, named, needed, lacking)
    unready = [] if request.overlay and request.yes else [one for one in jobs if overlay_needs.lacking([one], known)]
    proofs, verdicts = ([], []) if found.failed() else _judged(root, overlay, jobs, unready, found)
    verdicts = _with_quotas(root, overlay, verdicts, found)
    if found.failed():
        result = refused(found, Path(), in_files=False)
        lines = [one.line for one in verdicts]
        return replace(result, output=replace(result.output, summary="\n".join([*lines, result.output.summary])))
    comparisons = (
        [_task_comparison(root, overlay, given, importer(), job, found) for job in jobs] if request.prove else []
    )
    said = [line for line, _ in comparisons]
    final = [*(one.job for one in verdicts), *(one.job for one in proofs)]  # the later ones replace the others
    texts |= {JobFile(job.namespace, job.name).file: text_of(job, _schema(root)) for job in final}
    changes = [Change(file, Status.MISSING, None, text) for file, text in texts.items()]
    changes += [change] if change is not None else []
    if change is not None and not request.yes:
        again = "nothing was written; run it again with --yes to write the jobs and the change of the overlay"
        text = "\n".join([*(one.line for one in verdicts if one.why), *said, again, *proof.proof_lines(proofs)])
        report = Report(tuple(found), tuple(changes), text, done=False, diff=True, root=Path())
        return Result(output=report, exit_code=VIOLATIONS)
    create_files(root, {file: text.encode() for file, text in texts.items()})
    if change is not None and change.new is not None:
        replace_files(root, {change.path: change.new.encode()})
    lines = proof.summary(verdicts, found)
    if request.overlay is None and lacking:
        where = f"{overlay_file(named)} lacks" if named is not None else "the overlays of the jobs need"
        again = f"{where} these fields; `--overlay {named or 'NAME'} --yes` adds them:"
        lines += [again, *(f"  {line}" for line in written(lacking).splitlines())]
        lines += ["`*` admits all other namespaces, as before"] if "*" in lacking.get("namespaces", ()) else []
    text = "\n".join([*lines, *said, *proof.proof_lines(proofs)])
    failed = not all(same for _, same in comparisons) or any(
        one.outcome not in (proof.Outcome.READY, proof.Outcome.NEEDS) for one in verdicts
    )
    report = Report(tuple(found), tuple(changes), text, root=Path())  # places are as files were named
    return Result(output=report, exit_code=VIOLATIONS if failed else 0)


def _read(importer: Importer, given: ImportInput, of_overlays: Findings, found: Findings) -> Sequence[ImportedJob]:
    """The jobs of the input. Errors of overlays explain why kinds that they declare are unknown."""
    jobs: Sequence[ImportedJob] = ()
    with contained(found, Location(given.file), "import the input"):
        jobs = overlay_needs.with_frameworks(overlay_needs.with_accelerators(importer.read(given, found)))
    if found.failed():
        found.extend([item for item in of_overlays if item.is_error])
    if importer.defines_names:
        _report_unknown(given, found)
    return jobs


def _with_accelerators(root: Path, name: str | None, jobs: Sequence[ImportedJob]) -> Sequence[ImportedJob]:
    """The jobs with the accelerators of an overlay in place of new ones for the same devices."""
    if name is None:
        return jobs

    def parse(fields: Mapping[str, object]) -> Overlay | None:
        return OverlayReader(root, Findings()).of_text(proof.NAME, proof.overlay_text(fields))

    known = OverlayReader(root, Findings()).of_text(name, (root / overlay_file(name)).read_text("utf-8"))
    return overlay_needs.with_known_accelerators(jobs, known, parse)


def _report_unknown(given: ImportInput, found: Findings) -> None:
    """Report values of `--define` for names that no input has."""
    for name in given.define:
        form = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])".encode())
        with suppress(ValueError):  # an archive that the importer has refused
            if not any(form.search(unpacked(raw)) for _, raw in given.files):
                message = f"`--define {name}=…` is not carried: the input has no `{name}`"
                found.warning(NOT_CARRIED, Location(given.file), message, "correct the name, or remove the option")


def _known(root: Path, name: str | None) -> Mapping[str, object]:
    """The fields of an overlay; none without one."""
    return merged_fields(OverlayFiles(root, Findings()).chain(name).sources) if name is not None else {}


def _judged_text(root: Path, name: str | None, needed: Mapping[str, object], lacking: Mapping[str, object]) -> str:
    """The text of the overlay with all that the jobs need."""
    if name is None:
        return proof.overlay_text(needed)
    text = (root / overlay_file(name)).read_text("utf-8")
    return with_additions(text, lacking) if lacking else text


def _judged(
    root: Path,
    overlay: tuple[str, str],
    jobs: Sequence[ImportedJob],
    lacking: Sequence[ImportedJob],
    found: Findings,
) -> tuple[list[proof.Proof], list[proof.Verdict]]:
    """Proofs of the jobs with originals, and the verdicts on all, in an overlay with this name and text. The overlay of
    the user lacks fields for the jobs in `lacking`.
    """
    proofs: list[proof.Proof] = []
    verdicts: list[proof.Verdict] = []
    with progress_bar("rendering jobs in memory") as progress:
        for number, job in enumerate(jobs, 1):
            with contained(found, job.place, f"render job `{job.name}`"):
                own, differences, proven = Findings(), Findings(), list[proof.Proof]()
                verdict = proof.judge(root, job, *overlay, lacks=job in lacking, found=own)
                found.extend(own)
                if not own.failed():
                    verdict = replace(verdict, job=proof.without_defaults(root, job, *overlay))
                    proven = list(proof.prove(root, verdict.job, *overlay, found))
                    for one in proven:
                        proof.report_proof(one, differences)
                    proofs += proven
                found.extend(differences)
                verdicts.append(proof.with_proofs(verdict, proven, differences))
            if progress is not None:
                progress(number, len(jobs))
    return proofs, verdicts


def _with_quotas(
    root: Path, overlay: tuple[str, str], verdicts: Sequence[proof.Verdict], found: Findings
) -> list[proof.Verdict]:
    """The verdicts. Jobs that exceed a quota together with those of the repository need a larger one."""
    files = {JobFile(one.job.namespace, one.job.name): text_of(one.job, "").encode() for one in verdicts}
    known, own = OverlayReader(root, Findings()).of_text(*overlay), Findings()
    if known is not None and not found.failed():
        check_quota(root, files, [known], own)
    judged = []
    for one in verdicts:
        file = JobFile(one.job.namespace, one.job.name).file
        place = one.job.places.get("gpus", one.job.place)
        over = tuple(replace(item, place=place, severity=Severity.WARNING) for item in own if item.place.file == file)
        found.extend(over)
        fine = one.outcome in (proof.Outcome.READY, proof.Outcome.NEEDS)
        judged.append(proof.Verdict(one.job, proof.Outcome.OVER_QUOTA, over) if over and fine else one)
    return judged


def _task_comparison(
    root: Path, overlay: tuple[str, str], given: ImportInput, importer: Importer, job: ImportedJob, found: Findings
) -> tuple[str, bool]:
    """The result of the comparison in a sandbox, and whether nothing differs."""
    with contained(found, job.place, f"prove job `{job.name}`"):
        return importer.compare_tasks(given, job, renders.run_objects(root, job, *overlay), found)
    return f"{job.namespace}/{job.name} is not proven", False


def _given_files(root: Path, request: Request) -> ImportInput:
    """Input files, with paths as given."""
    try:
        files = tuple((file, read_bytes(file)) for file in named_files(request.source or (STDIN,)))
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from error
    if len(files) > MAX_FILES:
        raise UsageError(f"more than {MAX_FILES} files; import the folders one by one")
    return replace(_common(root, request), file=files[0][0] if files else STDIN, files=files)


def _common(root: Path, request: Request) -> ImportInput:
    """Namespace and image of jobs without their own. A namespace that is unclear is empty."""
    namespace = request.namespace or ""
    if namespace and not LABEL.fullmatch(namespace):
        raise UsageError(f"`{namespace}` is not a valid namespace name")
    otherwise = ""
    with suppress(UsageError):
        otherwise = only_namespace(root)
    if not request.source and reads_terminal():
        raise UsageError("missing argument: name a file, or `-` for standard input; `gen import --help` lists more")
    used = [name for name in OPTIONS if getattr(request, name)]
    if request.prove and (why := sandbox.refusal()) is not None:
        raise UsageError(f"`--prove` needs a sandbox, which is not possible here: {why}")
    if other := [name for name in used if name not in IMPORTERS[request.importer].options]:
        option = f"--{other[0].replace('_', '-')}"
        raise UsageError(f"`{option}` is not an option of `gen import {request.importer}`; remove it")
    return ImportInput(
        file=STDIN,
        namespace=namespace,
        otherwise=otherwise,
        image=request.image or "",
        name=request.name or "",
        define=dict(_pair(one) for one in request.define),
        site=(str(request.site), _bytes(str(request.site))) if request.site is not None else None,
    )


_VARIABLE = regex(r"[\w.-]+")
"""A variable, an argument of a script by its number, or a parameter of a pipeline."""


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise UsageError(f"`--define {text}`: expected NAME=VALUE")
    return name, value


def _bytes(file: str) -> bytes:
    try:
        return read_bytes(file)
    except OSError as error:
        raise unusable(file, error, "name a readable file") from error


def _below(names: Sequence[str]) -> list[str]:
    """Files, and all files in folders."""
    files: list[str] = []
    for name in names:
        inner = sorted(Path(name).rglob("*"))
        regular = [str(one) for one in inner if one.is_file() and not one.is_symlink()]
        files += regular if Path(name).is_dir() else [name]
        if len(files) > MAX_FILES:
            raise UsageError(f"more than {MAX_FILES} files; name fewer")
    return files


def _template(request: Request) -> Result[Report]:
    """A site file for scripts."""
    from gen.importers.slurm.site_template import site_template

    scripts = []
    for file in _below(request.source):
        raw = _bytes(file)
        if b"#SBATCH" in raw and len(raw) <= MAX_BYTES:
            scripts.append((file, raw.decode("utf-8", "replace")))
    if not scripts:
        raise UsageError("no script with `#SBATCH` lines found; name files or folders with some")
    text = site_template(scripts)
    return Result(output=Report((), (), text.rstrip("\n"), root=Path()))


def _given(root: Path, request: Request) -> ImportInput:
    words = request.source
    common = _common(root, request)
    if len(words) > 1:
        return replace(common, words=words)
    file = words[0] if words else STDIN
    raw = _bytes(file)
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{file}: larger than {MAX_BYTES} bytes; split it")
    return replace(common, file=file, text=raw.decode("utf-8", "replace"), files=((file, raw),))


def _schema(root: Path) -> str:
    """Path of the JSON Schema from a job file; empty if the repository has none."""
    return f"../../{SCHEMA_FILE}" if (root / SCHEMA_FILE).exists() else ""


def _remedy(request: Request) -> str:
    """What to do about a job that is there already."""
    if "name" in IMPORTERS[request.importer].options:
        return "change `--name`, or remove the file"
    if request.namespace:
        return "import it without `--namespace` if the objects are in several, rename one, or remove the file"
    return "rename one, or remove the file"


def _texts(root: Path, jobs: Sequence[ImportedJob], found: Findings, remedy: str) -> dict[str, str]:
    """Texts of the job files by path."""
    schema = _schema(root)
    texts: dict[str, str] = {}
    made: dict[str, ImportedJob] = {}
    for job in jobs:
        if not JOB_NAME.fullmatch(job.name) or not LABEL.fullmatch(job.namespace):
            hint = "use lower-case letters, digits and `-`, and start the name of a job with a letter"
            found.error(INVALID_NAME, job.place, f"`{job.namespace}/{job.name}` is not a valid name of a job", hint)
            continue
        file = JobFile(job.namespace, job.name).file
        if file in made:
            message = f"two jobs have the name `{job.name}`, and {file} would be that of {made[file].place}"
            found.error(ALREADY_THERE, job.place, message, remedy)
            continue
        if (root / file).exists():
            found.error(ALREADY_THERE, job.place, f"{file} is there already: the file exists", remedy)
            continue
        made[file] = job
        texts[file] = text_of(job, schema)
        check_text(job, texts[file], found)
    return texts


def _overlay_change(
    root: Path, name: str | None, jobs: Sequence[ImportedJob], needed: Mapping[str, object], found: Findings
) -> Change | None:
    """The change of an overlay file; None if it has everything, and without a name."""
    if name is None:
        return None
    own = Findings()
    chain = OverlayFiles(root, own).chain(name)
    if own.failed() or not chain.sources:
        found.extend(own.items)
        return None
    data = merged_fields(chain.sources)
    for route in overlay_needs.conflicts(needed, data):
        place = Location(overlay_file(name))
        dotted = ".".join(map(str, route))
        message = f"`{dotted}` has another value than the imported jobs had"
        found.warning(OTHER_VALUE, place, message, "set the field in the jobs, if they need their former value")
    if names := overlay_needs.undeclared(needed, data):
        message = f"the overlay grants {quoted(names)} without `queues`; with it, all are declared"
        found.error(
            OTHER_VALUE, Location(overlay_file(name)), message, "declare them under `queues` of the overlay first"
        )
    if len(names := overlay_needs.new_accelerators(needed, data)) == 1:
        message = f"`{names[0]}` is the first accelerator of the overlay: all its jobs with `gpus` use it from now on"
        hint = "declare theirs under `accelerators`, too, such as `gpu: {nvidia: {}}`, and name one in each job"
        found.warning(OTHER_VALUE, Location(overlay_file(name)), message, hint)
    lacking = overlay_needs.missing(needed, data, overlay_needs.uses(jobs))
    if not lacking:
        return None
    text = chain.sources[0].text
    return Change(overlay_file(name), Status.STALE, text, with_additions(text, lacking))
