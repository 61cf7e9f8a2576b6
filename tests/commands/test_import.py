"""`gen import` on a repository: written files, output, and a render of the result."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.base.findings import Severity, UsageError
from gen.commands.check import Request as CheckRequest
from gen.commands.check import check
from gen.importers.arena.submission import BY_NAME, TYPES
from gen.report.findings.text import text
from tests.commands.imports import LINE, errors
from tests.importers.arena.samples import NEEDED, sample
from tests.importers.arena.test_documents import ALL_REDUCE, BENCHMARK, MNIST, PYTORCH
from tests.importers.support import run_import, script
from tests.support import Repository, initialised, opened, rendered, validated

if TYPE_CHECKING:
    from pathlib import Path


GIT = "--sync-mode=git --sync-source=https://"


def test_a_script_of_the_documents_renders_checks_and_validates(fresh: Path) -> None:
    file = script(fresh.parent, PYTORCH, BENCHMARK, ALL_REDUCE, MNIST)
    report, code = run_import(fresh, file, overlay="production", yes=True)
    assert (errors(report), code) == ([], 0)
    assert [change.path for change in report.changes][:-1] == [
        f"jobs/team-a/{name}.yaml" for name in ("pytorch-dist", "tf-eni", "all-reduce", "mnist-simple-gpu-dist")
    ]
    assert rendered(fresh)[1] == 0
    assert opened(check(CheckRequest(root=fresh, parallel=1), None))[1] == 0
    assert errors(validated(fresh / "rendered")[0]) == []


def test_a_command_line_and_standard_input_are_read_too(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["arena", "submit", "tf", "--name=words", "--image=a:1", "echo $X; a 'b'"]
    assert run_import(fresh, *words)[1] == 0
    assert "command: echo $X; a 'b'\n" in (fresh / "jobs/team-a/words.yaml").read_text()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINE.encode())))
    assert run_import(fresh, "-")[1] == 0
    assert (fresh / "jobs/team-a/new.yaml").exists()


def test_a_script_without_submissions_is_not_ready(fresh: Path) -> None:
    report, code = run_import(fresh, script(fresh, "arena cron list -A"))
    assert (code, report.summary) == (0, "no jobs found; nothing was written")


def test_the_namespace_is_that_of_the_option_the_flag_or_the_repository(fresh: Path) -> None:
    line = LINE.replace("--name=new", "--name={} {}")
    file = script(fresh.parent, line.format("a", "-n vision"), line.format("b", ""))
    report, _ = run_import(fresh, file)
    assert [change.path for change in report.changes] == ["jobs/vision/a.yaml", "jobs/team-a/b.yaml"]
    report, _ = run_import(fresh, file, namespace="other")
    assert [change.path for change in report.changes] == ["jobs/other/a.yaml", "jobs/other/b.yaml"]


@pytest.mark.parametrize(
    ("lines", "code", "message"),
    [
        (["arena submit tfjob --image=a 'x'"], "invalid-command-line", "`--name` is missing"),
        (["arena submit tfjbo --name=a 'x'"], "invalid-command-line", "unknown job type `tfjbo`"),
        (["arena submit tf --name=a --worker=2 'x'"], "invalid-command-line", "unknown flag `--worker`"),
        (["arena submit tf --name=a python x.py --lr 1"], "invalid-command-line", "unknown flag `--lr`"),
        (["arena submit tf --name=a --gpus"], "invalid-command-line", "`--gpus` has no value"),
        (["arena submit tf --name=a --gang=maybe 'x'"], "invalid-command-line", "expected `true` or `false`"),
        (["arena submit tf --name=a --data=claim 'x'"], "invalid-command-line", "expected `CLAIM:/PATH`"),
        (["arena submit tf --name=a --data=c:/x --data=c:/y 'x'"], "invalid-command-line", "has the claim `c` twice"),
        (["arena submit tf --name=a --running-timeout=1d 'x'"], "invalid-command-line", "expected a duration"),
        (["arena submit tf --name=a --gpus=many 'x'"], "invalid-value", "`gpus`: expected an integer"),
        (["arena submit pytorch --name=a --memory=4GB 'x'"], "invalid-value", "expected an amount of memory"),
        (["arena submit tf --name=../../x 'x'"], "invalid-name", "is not a valid name of a job"),
        (["arena submit tf --name=a -n ../b 'x'"], "invalid-name", "is not a valid name of a job"),
        (["arena submit tf --name=$JOB 'x'"], "unsupported-shell", "`JOB` is not set in the script"),
        (["arena submit spark --name=a"], "invalid-command-line", "gen has no kind of job for a `sparkjob`"),
        ([LINE, LINE], "already-there", "two jobs have the name `new`"),
        (["arena submit tf --name=hello 'x'"], "already-there", "the file exists"),
        (["echo 'arena'"], "invalid-command-line", "no `arena` command found"),
        (["arena submit tf --name=a 'curl -H ghp_" + "a" * 36 + "'"], "secret-value", "what looks like a GitHub token"),
    ],
)
def test_an_error_is_reported_and_nothing_is_written(fresh: Path, lines: list[str], code: str, message: str) -> None:
    before = sorted(fresh.rglob("*"))
    first = "# all is well" if lines[0].startswith("echo") else LINE.replace("=new", "=good")
    report, exit_code = run_import(fresh, script(fresh.parent, first, *lines))
    (error,) = errors(report)
    assert error.startswith(f"{code}: ")
    assert message in error
    assert exit_code == 1
    (finding,) = [item for item in report.findings if item.severity is Severity.ERROR]
    assert finding.hint
    assert finding.place.line == (1 if lines[0].startswith("echo") else len(lines) + 1)
    assert "ghp_" not in text(report)
    assert sorted(fresh.rglob("*")) == before


@pytest.mark.parametrize(
    ("flags", "field", "secret"),
    [
        (f"--env=WANDB_API_KEY={'0123456789' * 4}", "env:\n  WANDB_API_KEY:\n    secret: new-env", "0123456789"),
        ("--env=X=ghp_" + "a" * 36, "env:\n  X:\n    secret: new-env\n    key: X", "ghp_"),
        (f"{GIT}me:hunter2@example.com/a.git", "credentials: new-git", "hunter2"),
        (
            f"{GIT}example.com/a.git --env=GIT_SYNC_USERNAME=me --env=GIT_SYNC_PASSWORD=hunter2",
            "credentials: new-git",
            "hunter2",
        ),
    ],
)
def test_a_secret_becomes_the_name_of_a_secret(fresh: Path, flags: str, field: str, secret: str) -> None:
    report, code = run_import(fresh, script(fresh.parent, LINE.replace("'python", f"{flags} 'python")))
    written = (fresh / "jobs/team-a/new.yaml").read_text()
    assert code == 0
    assert field in written
    assert secret not in written
    assert secret not in text(report)
    assert {item.code for item in report.findings} == {"needs-secret", "not-carried"}  # the variable without GPUs


def test_unknown_names_are_refused(fresh: Path) -> None:
    with pytest.raises(UsageError, match=r"no overlays/prod/overlay.yaml found: did you mean `production`\?"):
        run_import(fresh, script(fresh.parent, LINE), overlay="prod")
    with pytest.raises(UsageError, match=r"missing.sh: No such file"):
        run_import(fresh, "missing.sh")


def test_a_gang_has_the_labels_that_arena_writes(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    file = script(repo.root.parent, LINE.replace("--name", "--gang --workers=3 --name"))
    assert run_import(repo.root, file, namespace="team", overlay="dev", yes=True)[1] == 0
    roles = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]
    for role in roles.values():
        labels = role["template"]["metadata"]["labels"]
        assert labels["pod-group.scheduling.sigs.k8s.io/min-available"] == "3"
        assert labels["pod-group.scheduling.sigs.k8s.io/name"].startswith("new-")


ANNOTATED = "arena submit etjob --name=new --image=a/b:1 --workers=2 --annotation=a=common --annotation=b=common {} 'x'"


@pytest.mark.parametrize(
    ("flags", "launcher", "worker"),
    [
        ("", {}, {}),
        ("--launcher-annotation=b=own", {"b": "own"}, {}),
        ("--worker-annotation=c=own", {}, {"c": "own"}),
        ("--launcher-annotation=b=own --worker-annotation=c=own", {"b": "own"}, {"c": "own"}),
    ],
)
def test_annotations_of_a_role_are_added_to_the_common_ones(
    repo: Repository, flags: str, launcher: dict[str, str], worker: dict[str, str]
) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    file = script(repo.root.parent, ANNOTATED.format(flags))
    assert run_import(repo.root, file, namespace="team", overlay="dev", yes=True)[1] == 0
    roles = repo.one("MPIJob")["spec"]["mpiReplicaSpecs"]
    for role, own in (("Launcher", launcher), ("Worker", worker)):
        annotations = roles[role]["template"]["metadata"]["annotations"]
        assert {key: annotations.get(key) for key in "abc" if key in annotations} == {
            "a": "common",
            "b": "common",
            **own,
        }


VOLCANO = ("volcanojob", *next(kind.aliases for kind in TYPES if kind.name == "volcanojob"))
COMMANDS = st.text(
    st.sampled_from("abc XYZ019 '\"$`\\|&;<>(){}[]#*?~!=%-_.:/@\n\té训{}{%"), min_size=1, max_size=40
).filter(lambda text: text.strip() and not text.startswith("-") and text != "==")
"""Not `==`, for which the grammar needs another word on the same line, if it has no quotes; gen reports it."""


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A valid command with any flags of a type and any command."""
    kind = draw(st.sampled_from([kind for kind in TYPES if kind.kind]))
    flags = draw(st.lists(st.sampled_from(kind.flags), unique_by=lambda flag: flag.name, max_size=12))
    words = ["arena", "submit", draw(st.sampled_from([name for name, one in BY_NAME.items() if one is kind]))]
    words += ["--name=generated"]
    for flag in flags:
        needed = NEEDED.get(flag.name, "").split()
        words += [word for word in needed if word.partition("=")[0] not in {one.partition("=")[0] for one in words}]
        if flag.name not in ("name", *(word.partition("=")[0].removeprefix("--") for word in words)):
            words.append(f"--{flag.name}={sample(flag)}")
    named = {word.partition("=")[0] for word in words}
    if kind.name != "volcanojob" and "--image" not in named:
        words.append("--image=a/b:1")
    return [*words, draw(COMMANDS)]


@pytest.mark.slow
def test_command_lines_import_and_render(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("generated")
    root = folder / "repo"
    initialised(root, namespace="team-a")
    overlay = root / "overlays/production/overlay.yaml"
    plain = overlay.read_text().replace("gpus: 32", "gpus: 1000000")
    job = root / "jobs/team-a/generated.yaml"

    @settings(max_examples=120)  # two renders each
    @given(command_lines())
    def check_one(words: list[str]) -> None:
        # no default of a field that a kind rejects
        overlay.write_text(plain.replace("  timeout: 7d", "  retries: 0") if words[2] in VOLCANO else plain)
        job.unlink(missing_ok=True)
        report, code = run_import(root, script(folder, words), overlay="production", yes=True)
        of_programs = ("ends-at-once", "cut-command", "cannot-start", "missing-field: `command`")
        failed = [one for one in errors(report) if not one.startswith(of_programs)]  # such as `a &`, `'` or `""`
        assert failed == [], words
        assert job.exists() == (errors(report) == [])
        if job.exists():
            cannot_run = "renders, but cannot run" in report.summary
            assert (code, errors(rendered(root)[0])) == (int(cannot_run), []), (words, job.read_text())
        rest = {word.partition("=")[0].removeprefix("--") for word in words[4:-1]}
        assert rest <= {flag.name for flag in BY_NAME[words[2]].flags}

    check_one()
