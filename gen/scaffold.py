"""The first version of a job file: what its kind needs, and as comments what most jobs want next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gen.diagnostics import UsageError, did_you_mean
from gen.emit import to_yaml
from gen.kinds import KINDS
from gen.model.docs import field_docs
from gen.workspace import JOBS, JobFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
"""Fields that are shown as comments, with a value that is of the right form."""

_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")


def new_job(root: Path, kind: str, name: str, namespace: str | None) -> JobFile:
    """Write a job file and say which. UsageError for an unknown kind, an impossible name, or a file that exists."""
    if kind not in KINDS:
        raise UsageError(f"there is no kind of job `{kind}`: {did_you_mean(kind, KINDS)}")
    job = JobFile(namespace or _only_namespace(root), name)
    for text in (job.namespace, job.stem):
        if not _NAME.fullmatch(text):
            raise UsageError(f"`{text}` cannot be a name: use lower-case letters, digits and `-`, with a letter first")
    path = root / job.file
    if path.exists():
        raise UsageError(f"{job.file} exists already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(job_text(kind, with_schema=(root / SCHEMA_FILE).exists()), "utf-8")
    return job


def job_text(kind: str, *, with_schema: bool) -> str:
    """The text of a new job file."""
    model = KINDS[kind]
    docs = {field.alias or name: field_docs(model)[name] for name, field in model.model_fields.items()}
    options = [{"about": docs[field], "fields": _commented(field, value)} for field, value in OPTIONAL.items()]
    text: str = _template().render(
        schema=f"../../{SCHEMA_FILE}" if with_schema else "",
        about=" ".join((model.__doc__ or "").split()),
        fields=to_yaml({"kind": kind, **model.example}),
        options=options,
    )
    return text


def _template() -> Any:
    environment = Environment(  # noqa: S701 - the result is no HTML
        loader=PackageLoader("gen"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("job.yaml.j2")


def _commented(field: str, value: Any) -> str:
    return "".join(f"# {line}\n" for line in to_yaml({field: value}).splitlines())


def _only_namespace(root: Path) -> str:
    names = sorted(entry.name for entry in (root / JOBS).iterdir() if entry.is_dir())
    if len(names) == 1:
        return names[0]
    known = f" ({', '.join(names)})" if names else ""
    raise UsageError(f"which namespace? Name it with --namespace{known}")
