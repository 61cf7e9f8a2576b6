"""The interface for Python gives the results of the command line, and its examples run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING

import pytest

from examples import web_form
from gen.api import Repository, UsageError
from tests.commands.init.support import committed, git
from tests.processes import gen
from tests.support import PROJECT, initialised, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gen.api import Answer

JOB = "team-a/hello"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api") / "repository"
    assert initialised(folder)[1] == 0
    return committed(folder)


@pytest.fixture
def two(original: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two equal clones: one for the command line, one for Python."""
    for name in ("line", "python"):
        git("clone", "--quiet", original, tmp_path / name, cwd=tmp_path)
    return tmp_path / "line", tmp_path / "python"


CALLS: dict[str, tuple[tuple[str, ...], Callable[[Repository], Answer]]] = {
    "list": (("list",), lambda repository: repository.list()),
    "list-of-a-state": (("list", "--state", "stopped"), lambda repository: repository.list(states=["stopped"])),
    "set": (
        ("set", JOB, "gpus=2", "env.DEBUG=on", "env.FAST=true", "metrics=[loss]", "--unset", "timeout"),
        lambda repository: repository.set(
            JOB, {"gpus": 2, "env.DEBUG": "on", "env.FAST": True, "metrics": ["loss"], "timeout": None}
        ),
    ),
    "set-refused": (("set", JOB, "gpus=many"), lambda repository: repository.set(JOB, {"gpus": "many"})),
    "stop": (("stop", JOB), lambda repository: repository.change("stop", JOB)),
    "rerun-dry": (("rerun", "--dry-run", JOB), lambda repository: repository.change("rerun", JOB, dry_run=True)),
    "render": (("render",), lambda repository: repository.render()),
    "render-invalid": (("render",), lambda repository: repository.render()),
    "check-invalid": (("check",), lambda repository: repository.check()),
    "plan-invalid": (("plan", "--check"), lambda repository: repository.plan(check=True)),
    "check": (("check",), lambda repository: repository.check()),
    "check-of-a-job": (("check", JOB), lambda repository: repository.check(JOB)),
    "plan": (("plan", "--base", "HEAD"), lambda repository: repository.plan("HEAD")),
    "plan-checked": (("plan", "--check"), lambda repository: repository.plan(check=True)),
}
FORMATS = {
    "list": ("text", "json", "csv", "markdown"),
    "plan": ("text", "json", "markdown", "html", "github"),
    "check": ("text", "json", "sarif", "junit", "github", "markdown", "concise"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_bytes_are_those_of_the_command_line(name: str, two: tuple[Path, Path]) -> None:
    """After a change that render, check and plan have something to say about."""
    line, python = two
    arguments, call = CALLS[name]
    for root in two:
        assert gen("stop", JOB, cwd=root).returncode == 0
        if "invalid" in name:
            (root / "jobs/team-a/wrong.yaml").write_text("kind: pytorch\nimag: a:1\n")
    repository = Repository(python)
    formats = FORMATS.get(arguments[0], ("text", "json"))
    said = []
    for output in formats[:1] if arguments[0] in {"set", "stop", "render"} else formats:
        done = gen(*arguments, "--output", output, cwd=line)
        answer: Answer = call(repository)
        said.append(done.stdout)
        assert (answer.text(output), answer.exit_code) == (done.stdout.replace(str(line), str(python)), done.returncode)
    assert all(said)
    assert tree(python / "rendered") == tree(line / "rendered")
    assert tree(python / "jobs") == tree(line / "jobs")


def test_findings_and_files_are_values(two: tuple[Path, Path]) -> None:
    _, root = two
    repository = Repository(root)
    assert repository.new("more", kind="pytorch", namespace="team-a") == root / "jobs/team-a/more.yaml"
    refused = repository.set("more", {"gpuz": 1})
    assert [(one.code, one.place.file) for one in refused.findings] == [("unknown-field", "jobs/team-a/more.yaml")]
    assert (refused.ok, refused.exit_code, refused.data()["findings"][0]["code"]) == (False, 1, "unknown-field")
    expected = {file.path: file.new for file in repository.check().files}
    assert repository.render().ok
    assert {path: (root / path).read_text() for path in expected} == expected
    assert not repository.check().files
    assert str(repository.check()) == gen("check", cwd=root).stdout


def test_mistakes_are_usage_errors(two: tuple[Path, Path], tmp_path: Path) -> None:
    repository = Repository(two[1])
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: Repository(tmp_path), "jobs"),
        (lambda: repository.new("a", namespace="team-a"), "name either a kind or a template"),
        (lambda: repository.new("hello", kind="pytorch"), "already exists"),
        (lambda: repository.plan("nowhere"), "nowhere"),
        (lambda: repository.list().text("sarif"), "has no format `sarif`; expected one of"),
        (lambda: repository.validate([], "prod"), "did you mean `production`"),
    ]
    for call, message in wrong:
        with pytest.raises(UsageError, match=message):
            call()


def test_objects_are_those_of_the_cluster_of_an_overlay(two: tuple[Path, Path]) -> None:
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}
"""
    root = two[1]
    (root / "overlays/production/crds").mkdir(exist_ok=True)
    (root / "overlays/production/crds/widget.yaml").write_text(definition)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "a"}}
    repository = Repository(root)
    assert repository.validate([widget], "production") == []
    (found,) = repository.validate([{**widget, "size": "1"}], "production")
    assert "size" in found.message


def test_calls_of_threads_take_turns(two: tuple[Path, Path]) -> None:
    repository, texts = Repository(two[1]), list[str]()
    threads = [threading.Thread(target=lambda: texts.append(repository.check().text())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [gen("check", cwd=two[0]).stdout] * 4


def test_importing_it_loads_neither_models_nor_schemas() -> None:
    unwanted = {"pydantic", "jinja2", "gen.job", "gen.kubernetes.schemas", "gen.render.run"}
    program = f"import sys, gen.api; print(*{unwanted} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.split() == []


def test_the_example_of_the_documentation_prints_what_it_shows(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (PROJECT / "docs/python.md").read_text("utf-8")
    shown = re.search(r"(?s)```python\n(from gen\.api.*?)```.*?```text\n(.*?)```", text)
    assert shown is not None
    example, output = shown.groups()
    monkeypatch.chdir(two[1])
    exec(example, {})  # noqa: S102 - our own documentation
    assert capsys.readouterr().out == output


def test_the_documentation_names_every_method() -> None:
    body = ast.parse((PROJECT / "gen/api.py").read_text("utf-8")).body
    (repository,) = [one for one in body if isinstance(one, ast.ClassDef) and one.name == "Repository"]
    methods = {one.name for one in repository.body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"}
    table = (PROJECT / "docs/python.md").read_text("utf-8").partition("\n| attribute")[0]
    assert methods == set(re.findall(r"^\| `(\w+)\(", table, re.MULTILINE))


@pytest.fixture
def form(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The address of the form, and the repository that it pushes to."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.com")
    git("clone", "--quiet", "--bare", original, tmp_path / "origin", cwd=tmp_path)
    git("clone", "--quiet", tmp_path / "origin", tmp_path / "clone", cwd=tmp_path)
    with web_form.server(tmp_path / "clone", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", tmp_path / "origin"
        server.shutdown()
        thread.join()


def sent(address: str, fields: dict[str, str] | None, origin: str = "") -> tuple[int, str]:
    """Status and page."""
    body = urllib.parse.urlencode(fields).encode() if fields is not None else None
    request = urllib.request.Request(address, body, {"Origin": origin or address})  # noqa: S310 - the form of the test
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.slow
def test_the_web_form_opens_a_branch(form: tuple[str, Path]) -> None:
    address, origin = form
    job = {"namespace": "team-a", "name": "mnist", "kind": "pytorch", "fields": "gpus=2\nenv.DEBUG=on\n"}
    assert "<form" in sent(address, None)[1]
    assert sent(address, job, "http://elsewhere.example.com")[0] == 403
    status, page = sent(address, job | {"fields": "gpus=<b>"})
    assert (status, "Nothing to merge yet" in page, "&lt;b&gt;" in page) == (422, True, True)
    assert "is not a valid job name" in sent(address, job | {"name": "../x"})[1]
    assert git("branch", "--format=%(refname:short)", cwd=origin) == "main"
    status, page = sent(address, job)
    assert (status, "1 run starts" in page) == (200, True), page
    assert "gpus: 2\n" in git("show", "jobs/team-a/mnist:jobs/team-a/mnist.yaml", cwd=origin) + "\n"
    work = git("clone", "--quiet", "--branch", "jobs/team-a/mnist", origin, origin.parent / "work", cwd=origin.parent)
    assert gen("check", cwd=origin.parent / "work").returncode == 0, work
    assert "already exists" not in sent(address, job)[1], "the branch is not merged: the push is refused"
    assert git("worktree", "list", cwd=origin.parent / "clone").count("\n") == 0


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_prints(request: pytest.FixtureRequest) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    file = PROJECT / "examples/repository.ipynb"
    notebook = nbformat.read(file, as_version=4)
    before = [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]
    client.NotebookClient(
        notebook, timeout=120, coalesce_streams=True, resources={"metadata": {"path": str(file.parent)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    if request.config.getoption("--update-golden"):
        nbformat.write(notebook, file)
    else:
        assert [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells] == before
