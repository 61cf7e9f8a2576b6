"""The program from outside: commands, formats and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gen import __version__
from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.cli.jobs import JOB
from tests.history import branch
from tests.processes import gen, gen_process
from tests.support import PROJECT, Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.history import History


def test_a_clean_run_exits_with_0_from_any_folder_below(repo: Repository) -> None:
    repo.job(JOB)
    done = gen_process("render", cwd=repo.root / "jobs/team")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "1 job in 1 overlay: wrote 1, removed 0, 0 unchanged"
    assert gen("check", cwd=repo.root).returncode == 0


def test_violations_and_differences_exit_with_1(repo: Repository) -> None:
    repo.job(JOB)
    assert gen("check", cwd=repo.root).returncode == 1
    repo.job(JOB + "gpu: 1\n")
    done = gen("render", cwd=repo.root)
    assert done.returncode == 1
    assert done.stdout.startswith("jobs/team/demo.yaml:4:1: error: unknown field `gpu` [unknown-field]\n")


def test_outside_of_a_repository_nothing_can_be_done(tmp_path: Path) -> None:
    done = gen("render", cwd=tmp_path)
    assert done.returncode == 2
    assert "no jobs/ and overlays/ in" in done.stderr


@pytest.mark.slow
def test_a_working_directory_that_was_removed_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", 'cd "$1" && rmdir "$1" && exec "$0" -P -m gen check', sys.executable, str(gone)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "gen: the working directory was removed; change to another one\n",
    )


def test_a_bug_exits_with_3_and_blames_no_user(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.job(JOB)
    monkeypatch.setattr("gen.render.parts.metadata.job_labels", lambda _plan, _part: {"a": 1})
    done = gen("render", "--no-cache", cwd=repo.root)
    assert done.returncode == 3
    assert "it is a bug of gen" in done.stdout
    assert "[internal-error]" in done.stdout
    assert not (repo.root / "rendered").exists()


def test_json_and_github_have_the_same_content_as_the_text(repo: Repository) -> None:
    repo.job(JOB + "gpu: 1\n")
    document = json.loads(gen("render", "--output", "json", cwd=repo.root).stdout)
    assert document["version"] == 1
    (finding,) = document["findings"]
    place = (finding["file"], finding["line"], finding["column"])
    assert (finding["code"], finding["severity"], *place) == ("unknown-field", "error", "jobs/team/demo.yaml", 4, 1)
    lines = gen("render", "--output", "github", cwd=repo.root).stdout.splitlines()
    assert lines[0] == (
        "::error file=jobs/team/demo.yaml,line=4,col=1,title=unknown-field::unknown field `gpu`%0Adid you mean `gpus`?"
        "%0A`gen check --fix` corrects it"
    )


def test_a_job_cannot_give_commands_to_the_terminal_or_the_workflow(repo: Repository) -> None:
    repo.job(JOB + 'network: "x\\n::warning::\\e[31m"\n')
    text = gen("render", cwd=repo.root).stdout
    assert "\x1b" not in text
    github = gen("render", "--output", "github", cwd=repo.root).stdout
    assert [line for line in github.splitlines() if line.startswith("::warning")] == []


def test_a_terminal_without_all_characters_shows_their_codes(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    repo.job(JOB + 'network: "鯨"\n')
    done = gen_process("check", cwd=repo.root)
    assert (done.returncode, "\\u9be8" in done.stdout, done.stderr) == (1, True, "")


@pytest.mark.slow
def test_a_plan_on_a_terminal_without_all_characters(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    history.job(JOB + "gpus: 2\n")
    branch(history)
    history.job(JOB + "gpus: 4\n")
    history.rendering()
    done = gen_process("plan", cwd=history.root)
    assert (done.returncode, done.stderr) == (0, "")
    assert "GPUs  2 \\u2192 4" in done.stdout


def test_a_narrowed_check_looks_at_the_named_jobs_alone(repo: Repository) -> None:
    repo.job(JOB)
    repo.job(JOB, name="other")
    assert gen("render", "jobs/team/demo.yaml", cwd=repo.root).returncode == 0
    assert gen("check", "team/demo", cwd=repo.root).returncode == 0
    assert gen("check", "team/*", cwd=repo.root).returncode == 1


def test_a_narrowed_overlay_leaves_the_others_alone(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n', name="prod")
    repo.job(JOB)
    gen("render", "--overlay", "prod", cwd=repo.root)
    assert {path.split("/")[0] for path in repo.rendered()} == {"prod"}


@for_each("kind", list(KINDS))
def test_new_writes_a_job_that_renders(repo: Repository, kind: str) -> None:
    assert gen("new", kind, "first", "--namespace", "team", cwd=repo.root).returncode == 0
    assert gen("new", kind, "second", cwd=repo.root).returncode == 0, "the only namespace"
    assert gen("render", cwd=repo.root).returncode == 0


def test_an_unusable_repository_is_reported_without_a_traceback(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.job(JOB)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", "some/file")

    monkeypatch.setattr("gen.commands.rendering.compare", refuse)
    done = gen("render", cwd=repo.root)
    assert (done.returncode, done.stderr.startswith("gen: some/file: Input/output error; ")) == (2, True)


def test_set_changes_a_file_and_names_the_next_command(repo: Repository) -> None:
    path = repo.job(JOB)
    done = gen("set", "team/demo", "attempt=2", "--unset", "retries", cwd=repo.root)
    assert (done.returncode, path.read_text("utf-8")) == (0, JOB + "attempt: 2\n")
    assert "run `gen render`" in done.stdout
    refused = gen("set", "team/demo", "atempt=3", "--output", "github", cwd=repo.root)
    assert refused.returncode == 1
    assert refused.stdout.startswith("::error file=jobs/team/demo.yaml,line=1,col=1,title=unknown-field::")


@pytest.mark.slow
def test_init_makes_a_repository_that_is_clean(tmp_path: Path) -> None:
    assert gen("init", "new", "--namespace", "vision", cwd=tmp_path).returncode == 0
    assert gen("check", cwd=tmp_path / "new").returncode == 0
    assert gen("new", "mpi", "second", cwd=tmp_path / "new").returncode == 0
    assert gen("render", cwd=tmp_path / "new").returncode == 0


def test_schema_prints_what_is_committed() -> None:
    for name in ("job", "overlay"):
        assert gen("schema", name, cwd=PROJECT).stdout == (PROJECT / f"schemas/{name}.schema.json").read_text("utf-8")


def test_version() -> None:
    assert gen("--version", cwd=PROJECT).stdout == f"gen {__version__}\n"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
@pytest.mark.slow
def test_closed_outputs_are_accepted(repo: Repository, closed: str) -> None:
    command = f"{sys.executable} -m gen completion bash {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=repo.root, stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("position", [0, 450])
@pytest.mark.slow
def test_standard_input_is_looked_at_wherever_it_is_named(tmp_path: Path, position: int) -> None:
    good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
    names = [f"{number}.yaml" for number in range(599)]
    for name in names:
        (tmp_path / name).write_text(good % f"a{name}", "utf-8")
    names.insert(position, "-")
    command = [sys.executable, "-m", "gen", "validate", "--parallel", "3", *names]
    done = subprocess.run(command, cwd=tmp_path, input=good % "BAD", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "600 objects in 600 files: 1 error, 0 warnings")


@for_each("pattern", ["team/d*", "d*", "team/demo", "demo", "demo.yaml"])
def test_a_job_is_named_from_its_folder_or_from_the_top(repo: Repository, pattern: str) -> None:
    repo.job(JOB)
    repo.job(JOB, name="other")
    done = gen("render", pattern, cwd=repo.root / "jobs/team")
    assert done.stdout.endswith("1 job in 1 overlay: wrote 1, removed 0, 0 unchanged\n")


def test_an_installed_plugin_of_pydantic_is_not_loaded(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.job(JOB)
    package = tmp_path / "plugin-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[pydantic]\nplugin = plugin:PLUGIN\n")
    (tmp_path / "plugin.py").write_text("print('loaded')\nPLUGIN = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    done = gen_process("render", cwd=repo.root)
    assert (done.returncode, done.stderr) == (0, "")
    assert "loaded" not in done.stdout
