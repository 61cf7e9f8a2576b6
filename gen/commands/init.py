"""`gen init`: create a working repository with CI. Existing files are never overwritten.

`--update` updates the files of an older gen: a three-way merge, by `git merge-file`, of the file as it was
written, the file of today and the user's own. What was written is in `gen.yaml`, and in the history of Git.

CI installs gen from a pinned source, a commit or a file with its digest: the owner of a name in an index chooses what a
version installs. If the source is a commit of a repository, the action for GitHub there, or the component for GitLab,
replaces steps and scripts.
"""

from __future__ import annotations

import json
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from msgspec.structs import replace

from gen import __version__
from gen.base import BugError, Findings, Location, UsageError, regex
from gen.base.codes.files import IN_THE_WAY, KEPT
from gen.base.repository.files import create_files, refuse_links, replace_files
from gen.base.repository.git import in_git
from gen.base.repository.layout import (
    FREE,
    JOBS,
    OVERLAY_FILE,
    OVERLAYS,
    RENDERED,
    JobFile,
    checked_root,
    is_job,
    overlay_file,
)
from gen.base.repository.settings import SETTINGS_FILE, Settings, admits, blob_name, read_settings, update_files
from gen.commands.common import CLEAN, VIOLATIONS, Result
from gen.commands.environment import documentation
from gen.commands.new import job_text
from gen.commands.render import Request as RenderRequest
from gen.commands.render import render
from gen.job.kinds import ALL_KINDS
from gen.report.formats import Report
from gen.report.schemas import SCHEMAS, schema_text

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DISTRIBUTION: Final = "gitops-gen"
_HOST_AND_PATH: Final = r"(?:git@)?(?!-)[-\w.]*(?::\d+)?/[-\w.~/%+]+"
_GIT: Final = regex(rf"git\+(?:https|ssh|file)://{_HOST_AND_PATH}@(?:[0-9a-f]{{64}}|[0-9a-f]{{40}})", re.ASCII)
_SHARED: Final = regex(r"git\+https://([-\w.]+(?::\d+)?)/([-\w.~/]+?)(?:\.git)?@([0-9a-f]+)", re.ASCII)
_GITHUB: Final = "github.com"
_SCRIPTS: Final = {"action": "ci/github_comment.py", "component": "ci/gitlab_comment.py"}
"""Scripts of repositories without the action or the component that has them."""
_ARCHIVE: Final = regex(rf"(?:https|file)://{_HOST_AND_PATH}#sha256=[0-9a-f]{{64}}", re.ASCII)


def checked_source(source: str) -> str:
    """A source that always installs the same content. UsageError for any other."""
    if not _is_pinned(source):
        raise UsageError(
            "invalid --source: expected `git+https://HOST/PATH@COMMIT` with a full commit, or "
            "`https://HOST/FILE.whl#sha256=DIGEST`, without credentials"
        )
    return _with_host(source)


def installed_source() -> str:
    """The source that the running gen was installed from, or empty if it is unknown or not pinned (PEP 610)."""
    try:
        record = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    source = _source(json.loads(record)) if record else ""
    return _with_host(source) if _is_pinned(source) else ""


def _named_source(root: Path) -> str:
    """The pinned source in the requirements of a repository. Empty if they have none."""
    try:
        text = (root / REQUIREMENTS).read_text("utf-8")
    except (OSError, ValueError):
        return ""
    named = re.findall(rf"(?m)^{DISTRIBUTION}(?:\[\w+\])? @ (\S+)", text)
    return named[0] if named and _is_pinned(named[0]) else ""


def _shared(source: str) -> dict[str, str]:
    """The action or the component in the repository that a source names, and its commit. Both are empty for others.

    Repositories on github.com have the action. Others may be on GitLab, which uses components of its own instance only.
    """
    match = _SHARED.fullmatch(source)
    host, path, commit = match.groups() if match else ("", "", "")
    is_action = host == _GITHUB and path.count("/") == 1
    return {
        "action": path if is_action else "",
        "component": f"{host}/{path}" if path and host != _GITHUB else "",
        "commit": commit,
    }


def _source(record: dict[str, dict[str, str]]) -> str:
    url = str(record.get("url", ""))
    if git := record.get("vcs_info"):
        return f"{git.get('vcs')}+{url}@{git.get('commit_id')}"
    digest = record.get("archive_info", {}).get("hash", "")
    return f"{url}#{digest}" if not url.startswith("file:") else ""


def _is_pinned(source: str) -> bool:
    return bool(_GIT.fullmatch(source) or _ARCHIVE.fullmatch(source))


def _with_host(source: str) -> str:
    """Pip reads no requirement with `git+file:` and an empty host."""
    return source.replace("git+file:///", "git+file://localhost/")


FIRST_JOB = "hello"
REQUIREMENTS = "requirements.txt"
TEMPLATES = "templates/init"
OPTIONAL = ("retire", "live", "pins", "vendor", "renovate")
"""Parts that a flag of the same name adds, from a folder of templates of the same name."""
_NAME = regex(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_OWNER = regex(r"@@?[-A-Za-z0-9_./]{1,200}|[-A-Za-z0-9_.+]{1,100}@[-A-Za-z0-9.]{1,100}")
"""An account, group or role, or an address."""
_NO_SOURCE = "CI fails until requirements.txt has a source of gen: add one there, as its comments show"


class Request(Struct, frozen=True, kw_only=True):
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to fill; created if missing.")]
    update: Annotated[
        bool, typer.Option("--update", help="Merge what this gen writes into the files that an older one wrote.")
    ] = False
    namespace: Annotated[str, typer.Option("--namespace", metavar="NAMESPACE", help="Namespace of the first job.")] = (
        "team-a"
    )
    overlay: Annotated[str, typer.Option("--overlay", metavar="OVERLAY", help="Name of the first cluster.")] = (
        "production"
    )
    owner: Annotated[
        str, typer.Option("--owner", metavar="OWNER", help="Owner of overlays and CI, for CODEOWNERS.")
    ] = "@your-org/platform"
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="URL",
            help="Source of gen for CI: `git+https://…@COMMIT` or `https://….whl#sha256=DIGEST`. "
            "[default: where this gen was installed from]",
        ),
    ] = None

    retire: Annotated[
        bool,
        typer.Option(
            "--retire", help="Add a nightly CI job for `gen retire`, which needs credentials of the clusters."
        ),
    ] = False

    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Add a CI job for `gen plan --live`, which needs read-only credentials of the clusters."
        ),
    ] = False

    pins: Annotated[
        bool, typer.Option("--pins", help="Add a nightly CI job for `gen pin`, for jobs that ask for updates of pins.")
    ] = False
    vendor: Annotated[
        bool,
        typer.Option("--vendor", help="Add a nightly CI job for `gen vendor`, for overlays of other repositories."),
    ] = False
    renovate: Annotated[
        bool, typer.Option("--renovate", help="Add a configuration of Renovate that updates the pins of jobs.")
    ] = False

    @property
    def pinned_source(self) -> str:
        """Empty if no source was given and that of the running gen is not pinned."""
        return installed_source() if self.source is None else checked_source(self.source)


_DEFAULTS: Final = Request(folder=Path())


def run(request: Request) -> Result[Report]:
    """Fill a folder. A folder that is a repository already gets everything but the example."""
    root = request.folder
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    if request.update:
        return _updated(request)
    request = _as_before(request, read_settings(root))
    _check(request)
    texts = repository_files(request, example=not all((root / name).exists() for name in (JOBS, OVERLAYS)))
    found = Findings()
    missing = [file for file, raw in texts.items() if not _equal(root, file, raw, found)]
    if found.failed():
        return Result(
            output=Report(tuple(found), (), "the folder has files in the way; nothing was written"),
            exit_code=VIOLATIONS,
        )
    # jobs come last: where a run was cut short, the next one still knows that the example belongs there
    last = sorted(missing, key=lambda file: (is_job(file), file))
    create_files(root, {file: texts[file] for file in last})
    return Result(output=Report(tuple(found), (), _summary(request, len(missing), len(texts) - len(missing))))


def repository_files(request: Request, *, example: bool, source: str | None = None) -> Mapping[str, bytes]:
    """Files by path. `example` adds the first job, its overlay and their rendered files."""
    source = request.pinned_source if source is None else source
    kind = next(iter(ALL_KINDS))
    values = {
        "version": __version__,
        "documentation": documentation().site,
        "distribution": DISTRIBUTION,
        "source": source,
        **_shared(source),
        "namespace": request.namespace,
        "overlay": request.overlay,
        "owner": request.owner,
        "free": FREE,
        "kind": kind,
        "job": FIRST_JOB,
        **{name: getattr(request, name) for name in OPTIONAL},
    }
    texts = dict(_templates(TEMPLATES, values))
    for name in OPTIONAL:
        if values[name]:
            texts |= _templates(f"templates/{name}", values)
    for name, script in _SCRIPTS.items():
        if values[name]:
            del texts[script]
    overlay = texts.pop(OVERLAY_FILE)
    texts |= {f"schemas/{name}.schema.json": schema_text(name).encode() for name in SCHEMAS}
    written = {file: blob_name(raw) for file, raw in texts.items()}
    texts[SETTINGS_FILE] = _settings(request, written, f"=={__version__}").encode()
    if example:
        inputs = {
            overlay_file(request.overlay): overlay,
            JobFile(request.namespace, FIRST_JOB).file: job_text(kind, with_schema=True).encode(),
        }
        texts |= inputs | _rendered(inputs)
    return texts


def _updated(request: Request) -> Result[Report]:
    """Merge the files of today into those of a repository. Its jobs, overlays and rendered files stay."""
    root = checked_root(request.folder)
    if not in_git(root):
        raise UsageError(f"{root} is not in a Git repository: its history has the files of older versions of gen")
    known = read_settings(root)
    request = _as_before(request, known)
    _check(request)
    mine = (REQUIREMENTS,) if request.source is None else ()  # the source of gen is the user's choice
    texts = dict(repository_files(request, example=False, source=_named_source(root) if mine else None))
    written = {file: blob_name(raw) for file, raw in texts.items() if file != SETTINGS_FILE}
    for file in mine:
        del texts[file]
        written[file] = known.files.get(file, "")
    requires = known.requires if known.requires and admits(known.requires) else f"=={__version__}"
    recorded = {file: name for file, name in written.items() if name}
    texts[SETTINGS_FILE] = _settings(request, recorded, requires).encode()
    found = Findings()
    done = update_files(root, texts, known, mine, found)
    create_files(root, done.new)
    replace_files(root, done.changed)
    for file in done.gone:
        (root / file).unlink()
    verbs = (("wrote", done.new), ("changed", done.changed), ("removed", done.gone))
    lines = [f"{verb} {file}" for verb, files in verbs for file in files]
    next_step = "next: read `git diff`, run `gen render`, and commit the result"
    summary = "\n".join((*lines, next_step)) if lines else "all files are those of this version"
    return Result(output=Report(tuple(found), (), summary), exit_code=VIOLATIONS if found.failed() else CLEAN)


def _as_before(request: Request, known: Settings) -> Request:
    """The request with the names and parts of earlier ones, unless it has others."""
    values: dict[str, Any] = {
        name: value for name, value in known.names.items() if getattr(request, name) == getattr(_DEFAULTS, name)
    }
    values |= {name: True for name in OPTIONAL if name in known.parts}
    return replace(request, **values)


def _settings(request: Request, written: Mapping[str, str], requires: str) -> str:
    """The text of `gen.yaml`."""
    return Settings(
        requires=requires,
        names={"namespace": request.namespace, "overlay": request.overlay, "owner": request.owner},
        parts=tuple(name for name in OPTIONAL if getattr(request, name)),
        files=written,
    ).text()


def _check(request: Request) -> None:
    for name in (request.namespace, request.overlay):
        if not _NAME.fullmatch(name):
            raise UsageError(f"`{name}` is not a valid name: use lower-case letters, digits and `-`")
    if not _OWNER.fullmatch(request.owner):
        raise UsageError(f"`{request.owner}` is not a valid owner: write it like `@org/team` or `name@example.com`")


def _templates(folder: str, values: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
    """Files of the package. `dot_` replaces a leading dot, so that tools do not apply the files to this project."""
    environment = Environment(  # noqa: S701 - the output is not HTML
        loader=PackageLoader("gen"), keep_trailing_newline=True, trim_blocks=True, undefined=StrictUndefined
    )
    for path, file in _walk(files("gen").joinpath(folder), ""):
        target = re.sub(r"(^|/)dot_", r"\1.", path)
        if path.endswith(".j2"):
            text: str = environment.get_template(f"{folder.removeprefix('templates/')}/{path}").render(values)
            yield target.removesuffix(".j2"), text.encode()
        else:
            yield target, file.read_bytes()


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _walk(entry, f"{path}{entry.name}/")
        else:
            yield f"{path}{entry.name}", entry


def _rendered(inputs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files that a render of these inputs writes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        create_files(root, inputs)
        result = render(RenderRequest(root=root, parallel=1))
        if result.exit_code != CLEAN:
            raise BugError(f"the first job does not render: {result.output.findings}")
        written: list[Any] = [path for path in (root / RENDERED).rglob("*") if path.is_file()]
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in written}


def _equal(root: Path, file: str, raw: bytes, found: Findings) -> bool:
    """Whether the file exists. A different file, or something that is not a file, is a finding."""
    refuse_links(root, file)
    try:
        status = (root / file).lstat()
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        found.error(IN_THE_WAY, Location(file), "a parent folder of this path is a file", "move the file")
        return False
    if not stat.S_ISREG(status.st_mode):
        found.error(IN_THE_WAY, Location(file), "not a regular file", "move it")
    elif status.st_size != len(raw) or (root / file).read_bytes() != raw:
        hint = "compare it with the file that `gen init` writes to an empty folder"
        found.warning(
            KEPT, Location(file), "the file exists and differs from the one of gen; leaving it unchanged", hint
        )
        return True
    else:
        return True
    return False


def _summary(request: Request, wrote: int, same: int) -> str:
    if not wrote:
        return f"{request.folder} already has all {same} files; nothing was written"
    return "\n".join(
        (
            f"wrote {wrote} files to {request.folder}" + (f", {same} already existed" if same else ""),
            f"next: cd {request.folder} && git init && git add . && git commit -m 'Start'; then read README.md there:",
            "it lists the values to fill in (requirements.txt, CODEOWNERS, the overlay) and the steps to add a job",
            *(() if request.pinned_source else (_NO_SOURCE,)),
        )
    )
