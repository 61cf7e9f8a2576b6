"""`gen new`: write a job file with the required fields of its kind, and common optional fields as comments.

Or a copy of a template: a file in `templates/`, or in that folder of a platform that `gen vendor` copied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from pydantic import ValidationError

from gen.base import Findings, UsageError, as_mapping, did_you_mean
from gen.base.repository.files import EntryType, linked_folder, tree_entries, unusable
from gen.base.repository.job_files import overlay_names
from gen.base.repository.layout import ENDING, JOBS, LABEL, TEMPLATES, VENDOR, JobFile, jobs_path, overlays_path
from gen.base.yaml.source import read, source_of
from gen.commands.common import Result, Root, complete_namespaces, completions, repository
from gen.job.fields import JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.base import Job
from gen.job.model import field_docs, fields_at
from gen.job.names import JOB_NAME
from gen.job.suggest import intended_kind
from gen.kubernetes.objects import MAX_NAME
from gen.overlay import load_extensions
from gen.overlay.files import OverlayFiles, fields_of
from gen.overlay.read import OverlayReader
from gen.overlay.vendored import origin_of
from gen.render.emit import to_yaml
from gen.render.parts.names import longest_name, longest_suffix

_LABEL_FORM = "use at most 63 lower-case letters, digits and `-`"
SCHEMA_FILE = "schemas/job.schema.json"

OPTIONAL: Mapping[str, Any] = {
    "cpu": 8,
    "memory": "64Gi",
    "sharedMemory": "16Gi",
    "env": {"NCCL_DEBUG": "INFO", "WANDB_API_KEY": {"secret": "wandb", "key": "token"}},
    "code": {"git": "https://example.com/team/project.git", "ref": "main"},
    "data": {"training-data": "/data"},
    "files": {"/etc/app/config.yaml": "epochs: 10\n"},
    "tensorboard": {"logdir": "/data/logs"},
    "network": "pod",
    "placement": {"gpuModel": "NVIDIA-H100-80GB-HBM3"},
    "queue": "team-queue",
    "retries": 3,
    "timeout": "12h",
    "params": {"lr": "1e-3"},
}
"""Optional fields, written as comments, with a valid value each."""


def complete_kinds(incomplete: str) -> list[str]:
    return completions(incomplete, ALL_KINDS)


def complete_templates(incomplete: str) -> list[str]:
    with suppress(UsageError):
        return completions(incomplete, templates(repository(None)))
    return []


FORMATS = None
"""The output is text."""


class Request(Struct, frozen=True, kw_only=True):
    """Arguments of `gen new`."""

    kind: Annotated[
        str, typer.Argument(help="Kind of job; not with --from.", metavar="KIND", autocompletion=complete_kinds)
    ]
    name: Annotated[str | None, typer.Argument(help="Name of the job.", metavar="NAME", show_default=False)] = None
    template: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TEMPLATE",
            help="Copy a template, such as `platform/llm-finetune`.",
            autocompletion=complete_templates,
        ),
    ] = None
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            metavar="NAMESPACE",
            help="Namespace. [default: the only one below jobs/]",
            autocompletion=complete_namespaces,
        ),
    ] = None
    root: Root = None


def run(request: Request) -> Result[str]:
    """UsageError if an argument is not valid."""
    root = repository(request.root)
    load_extensions(root)
    if request.template is not None:
        if request.name is not None:
            raise UsageError(f"a template has a kind; use `gen new --from {request.template} NAME`")
        job = create(root, request.kind, None, request.template, request.namespace)
    elif request.name is None:
        raise UsageError("missing a name; use `gen new KIND NAME`, or `gen new --from TEMPLATE NAME`")
    else:
        job = create(root, request.name, request.kind, None, request.namespace)
    return Result(output=f"wrote {job.file}; edit it, then run `gen render`\n")


def create(root: Path, name: str, kind: str | None, template: str | None, namespace: str | None) -> JobFile:
    """Write the file of a job of a kind, or of a copy of a template. UsageError if an argument is not valid."""
    if (kind is None) == (template is None):
        raise UsageError("name either a kind or a template")
    found, text = template_text(root, template) if template is not None else (str(kind), "")
    return new_job(root, found, name, namespace, text)


def templates(root: Path) -> dict[str, dict[str, str]]:
    """Paths of templates by name and overlay: `<repository>/<template>` has one for each overlay that extends it."""
    folders = {"": TEMPLATES}
    found: dict[str, dict[str, str]] = {}
    files = OverlayFiles(root, Findings())
    for overlay in overlay_names(root, Findings()):
        source = files.source(overlay)
        origin = origin_of(fields_of(source).get("extends")) if source is not None else None
        if origin is not None and files.chain(overlay).complete:
            folders[f"{origin.name}/ {overlay}"] = overlays_path(overlay, VENDOR, TEMPLATES)
    for start, folder in folders.items():
        repository, _, overlay = start.partition(" ")
        for entry in tree_entries(root, folder):
            stem = entry.path.removeprefix(f"{folder}/").removesuffix(ENDING)
            if entry.path.endswith(ENDING) and entry.type is not EntryType.OTHER:
                found.setdefault(f"{repository}{stem}", {})[overlay] = entry.path
                if overlay:
                    found.setdefault(f"{overlay}/{stem}", {})[""] = entry.path
    return found


def template_text(root: Path, name: str) -> tuple[str, str]:
    """Kind and text of a template. UsageError for an unknown one."""
    known = templates(root)
    if name not in known:
        raise UsageError(f"unknown template `{name}`: {did_you_mean(name, known, otherwise='no templates exist')}")
    sources = {overlay: read(root, path, Findings()) for overlay, path in known[name].items()}
    texts = {source.text if source is not None else "" for source in sources.values()}
    if len(texts) > 1:
        stem = name.partition("/")[2]
        forms = " or ".join(f"`{overlay}/{stem}`" for overlay in sources)
        raise UsageError(f"the overlays have different versions of `{name}`: write {forms}")
    source = next(iter(sources.values()))
    kind = source.data.get("kind") if source is not None and isinstance(source.data, dict) else None
    if source is None or not isinstance(kind, str) or kind not in ALL_KINDS:
        file = next(iter(known[name].values()))
        raise UsageError(f"{file} is not a job file with a kind of gen; correct it in its repository")
    return kind, source.text


def new_job(root: Path, kind: str, name: str, namespace: str | None, text: str = "") -> JobFile:
    """Write a job file, with the text of a template if there is one.

    UsageError for an unknown kind, an invalid name, a namespace without grants in any overlay, or an existing file.
    """
    if kind not in ALL_KINDS:
        if kind in fields_at(JobFields, ()):
            raise UsageError(f"`{kind}` is a field of jobs, not a kind: see `gen explain {kind}`")
        meant = intended_kind(kind)
        hint = f"did you mean `{meant}`?" if meant else did_you_mean(kind, ALL_KINDS)
        raise UsageError(f"unknown kind `{kind}`: {hint}")
    text = text or job_text(kind, with_schema=(root / SCHEMA_FILE).exists())
    _check_name(kind, name, text)
    job = JobFile(namespace or only_namespace(root), name)
    if not LABEL.fullmatch(job.namespace):
        raise UsageError(f"`{job.namespace}` is not a valid namespace name: {_LABEL_FORM}")
    _check_granted(root, job.namespace)
    try:
        _create(root, job, text)
    except FileExistsError:
        raise UsageError(f"{job.file} already exists") from None
    except OSError as error:
        raise unusable(job.file, error, "check the permissions and the free space") from error
    return job


def _check_name(kind: str, name: str, text: str) -> None:
    """The name must be valid for a job of this kind, including the names that are derived from it."""
    if not JOB_NAME.fullmatch(name):
        raise UsageError(
            f"`{name}` is not a valid job name: start with a letter, use lower-case letters, digits and `-`"
        )
    source = source_of(text.encode(), "", Findings())
    assert source is not None  # gen wrote it, or has read it
    try:
        most = _longest(kind, source.data, name)
    except ValidationError:
        return  # of a template, which `gen render` reports
    if len(name) > most:
        raise UsageError(f"job name `{name}` is too long: at most {most} characters fit in the names of its objects")


def _longest(kind: str, data: Any, name: str) -> int:
    """The longest name of a job; the names of steps are appended to that of a pipeline."""
    model = ALL_KINDS[kind]
    if model.own_fields:
        common = {field: value for field, value in data.items() if field not in model.own_fields}
        known = [  # a template can have steps of any form, which `gen render` reports
            (step, _without(common | fields))
            for step, fields in as_mapping(data.get("steps")).items()
            if isinstance(fields, dict) and str(fields.get("kind")) in ALL_KINDS
        ]
        lengths = (_longest(str(fields["kind"]), fields, name) - len(step) - 1 for step, fields in known)
        return min(lengths, default=MAX_NAME)
    roles = model.model_validate(data).replica_roles(name)
    _, room = longest_suffix(model.facts, roles, hashed=True, tensorboard=False)
    return min(MAX_NAME - room, longest_name(model.facts, hashed=True) or MAX_NAME)


def _without(fields: Mapping[str, object]) -> dict[str, Any]:
    """The fields of a step that a job of its kind has."""
    return {field: value for field, value in fields.items() if field not in ("needs", "when")}


def _check_granted(root: Path, namespace: str) -> None:
    """An overlay must grant the namespace, or the job renders nowhere. `gen render` reports errors in overlays."""
    found = Findings()
    overlays = []
    with suppress(UsageError):  # there is none yet
        overlays = OverlayReader(root, found).read()
    if found.failed() or not overlays or any(overlay.grant(namespace) is not None for overlay in overlays):
        return
    known = sorted({name for overlay in overlays for name in overlay.fields.namespaces if name != "*"})
    hint = did_you_mean(namespace, known, otherwise="ask the platform owner to add it to `namespaces` of an overlay")
    raise UsageError(f"namespace `{namespace}` has no grants in any overlay: {hint}")


def _create(root: Path, job: JobFile, text: str) -> None:
    """Create a file without following links. FileExistsError if it exists."""
    if (linked := linked_folder(root, job.file)) is not None:
        raise UsageError(f"{linked} is a symbolic link; links are not followed: replace it with the folder")
    folder = root / jobs_path(job.namespace)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{jobs_path(job.namespace)} is not a folder; move it")
    folder.mkdir(exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(root / job.file, flags, 0o666), "wb") as stream:
        stream.write(text.encode())


def job_text(kind: str, *, with_schema: bool) -> str:
    """The text of a new job file."""
    model = ALL_KINDS[kind]
    docs = {field.alias or name: field_docs(model)[name] for name, field in model.model_fields.items()}
    options = [{"about": docs[field], "fields": _commented(field, value)} for field, value in optional(model).items()]
    text: str = _template().render(
        schema=f"../../{SCHEMA_FILE}" if with_schema else "",
        about=" ".join((model.__doc__ or "").split()),
        fields=to_yaml({"kind": kind, **model.example}),
        options=options,
    )
    return text


def optional(model: type[Job]) -> Mapping[str, object]:
    """`OPTIONAL` without the fields that a kind cannot express, and those that the job has."""
    left_out = {*model.unsupported_fields(), *model.example}
    return {field: value for field, value in OPTIONAL.items() if field not in left_out}


def _template() -> Any:
    environment = Environment(  # noqa: S701 - the output is not HTML
        loader=PackageLoader("gen"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("job.yaml.j2")


def _commented(field: str, value: object) -> str:
    return "".join(f"# {line}\n" for line in to_yaml({field: value}).splitlines())


def only_namespace(root: Path) -> str:
    folders = (entry for entry in (root / JOBS).iterdir() if entry.is_dir() and not entry.is_symlink())
    names = sorted(entry.name for entry in folders if LABEL.fullmatch(entry.name))
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError("the repository has no jobs yet; choose a namespace with --namespace")
    raise UsageError(f"the repository has several namespaces ({', '.join(names)}); choose one with --namespace")
