"""A throw-away repository of a user, and what tests ask of it."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml

from gen.commands import check, init, render, validate
from gen.commands import set as set_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.commands.common import Result
    from gen.report.formats import Report

HERE = Path(__file__).parent
PROJECT = HERE.parent
SHARED = PROJECT.parent / "shared"

OVERLAY = """\
kubernetes: "1.34"
namespaces:
  "*":
    queues: [research]
    priorities: [high]
    serviceAccounts: [trainer]
    metadata: ["example.com/*", "sidecar.istio.io/*", app, run, team, a, b]
    allow: [hostNetwork, hostPath]
    nodeLabels: ["*"]
    taints: ["*"]
volumes:
  data: {claim: data}
  nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}
  scratch: {emptyDir: {}}
networks:
  host: {hostNetwork: true}
  eni: {terway: {version: "1.0.10"}}
pipelines: {argo: {serviceAccount: gen-pipeline, reader: "registry.example.com/tools:1"}}
runtimes: {torch-distributed: {}}
"""


@dataclass(frozen=True)
class Repository:
    """A repository with one overlay `dev` that grants everything a test may want."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Self:
        (root / "jobs").mkdir(parents=True)
        repository = cls(root)
        repository.overlay(OVERLAY)
        return repository

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def overlay(self, text: str, name: str = "dev") -> Path:
        return self.write(f"overlays/{name}/overlay.yaml", text)

    def job(self, text: str, name: str = "demo", namespace: str = "team") -> Path:
        return self.write(f"jobs/{namespace}/{name}.yaml", text)

    def render(self, *jobs: str, **options: Any) -> tuple[Report, int]:
        return rendered(self.root, *jobs, **options)

    def check(self, *jobs: str, **options: Any) -> tuple[Report, int]:
        cache = options.pop("cache", None)
        request = check.Request(root=self.root, jobs=jobs, parallel=options.pop("parallel", 1), **options)
        return opened(check.check(request, cache))

    def rendered(self) -> dict[str, str]:
        """Every file below `rendered/` with its text."""
        return tree(self.root / "rendered")

    def objects(self, overlay: str = "dev") -> list[dict[str, Any]]:
        """Every object of an overlay, read by PyYAML, after a render that must succeed."""
        report, code = self.render()
        assert code == 0, report
        return list(self._objects(overlay))

    def _objects(self, overlay: str) -> Iterator[dict[str, Any]]:
        for path, text in self.rendered().items():
            if path.startswith(f"{overlay}/"):
                yield yaml.safe_load(text)

    def one(self, kind: str, overlay: str = "dev") -> dict[str, Any]:
        """The only object of a kind."""
        (found,) = [body for body in self.objects(overlay) if body["kind"] == kind]
        return found

    def codes(self) -> list[str]:
        """Codes of the findings of a render."""
        return [finding.code for finding in self.render()[0].findings]


def opened(result: Result[Report]) -> tuple[Report, int]:
    """Report and exit code."""
    return result.output, result.exit_code


def rendered(root: Path, *jobs: str, **options: Any) -> tuple[Report, int]:
    """`gen render` in this process, without a cache unless its folder is given."""
    cache = options.pop("cache", None)
    request = render.Request(root=root, jobs=jobs, parallel=options.pop("parallel", 1), **options)
    return opened(render.render(request, cache))


def validated(*paths: str | Path, **options: Any) -> tuple[Report, int]:
    """`gen validate` in this process."""
    request = validate.Request(paths=tuple(map(str, paths)), parallel=options.pop("parallel", 1), **options)
    return opened(validate.run(request))


def initialised(folder: Path, **options: Any) -> tuple[Report, int]:
    """`gen init` in this process."""
    return opened(init.run(init.Request(folder=folder, **options)))


def set_fields(
    root: Path, jobs: str, assignments: tuple[str, ...] = (), unset: tuple[str, ...] = ()
) -> tuple[Report, int]:
    """`gen set` in this process."""
    return opened(set_command.run(set_command.Request(root=root, jobs=jobs, assignments=assignments, unset=unset)))


def tree(folder: Path) -> dict[str, str]:
    """Path below the folder to text, for every file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def copy_case(case: Path, root: Path) -> Repository:
    """The inputs of a case folder; one without overlays gets the ordinary one."""
    repository = Repository(root)
    for name in ("jobs", "overlays"):
        if (case / name).exists():
            shutil.copytree(case / name, root / name)
    (root / "jobs").mkdir(parents=True, exist_ok=True)
    if not (case / "overlays").exists():
        repository.overlay(OVERLAY)
    return repository


def installed(source: Path, folder: Path) -> Path:
    """A plugin with its metadata, as pip writes it, in a folder for `sys.path`."""
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(source / "acme_gen", folder / "acme_gen")
    metadata = folder / f"acme_gen-{project['version']}.dist-info"
    metadata.mkdir()
    name = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(name, "utf-8")
    groups = (
        "".join((f"[{group}]\n", *(f"{key} = {value}\n" for key, value in entries.items())))
        for group, entries in project["entry-points"].items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups), "utf-8")
    return folder


def cases(folder: str) -> list[Path]:
    """The case folders below `tests/<folder>`."""
    return sorted(path for path in (HERE / folder).iterdir() if path.is_dir())


def first_job() -> str:
    """The job in the picture of the README."""
    lines = re.findall(r"(?m)^ │ ([^│]*)│", (PROJECT / "README.md").read_text("utf-8"))
    return "".join(f"{line.rstrip()}\n" for line in lines).replace("…", "example.com/team")
