"""A plan belongs to its merge: the tree that it judged, other paths of a change, and quotas after merges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from gen.base.findings import UsageError
from gen.commands.plan import Request as PlanRequest
from gen.commands.plan import review
from gen.commands.plan import run as run_plan
from gen.render import run as rendering
from gen.report.formats import PLAN_REPORTERS, REPORTERS
from tests.history import reported

if TYPE_CHECKING:
    from pathlib import Path

    from tests.history import History

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\ngpus: 8\ntimeout: 1h\n"
LIMITED = """\
kubernetes: "1.34"
accelerators: {gpu: {nvidia: {}}}
namespaces: {team: {gpus: 16}, other: {gpus: 16}}
"""


@pytest.fixture
def shop(history: History) -> History:
    """A repository with a committed job."""
    history.overlay(LIMITED)
    history.job(JOB, "first")
    history.commit()
    history.git("branch", "start")
    return history


def test_the_plan_names_the_other_paths_at_its_top(shop: History) -> None:
    shop.git("checkout", "--quiet", "-b", "change")
    shop.job(JOB, "second")
    for path in ("ci/check.sh", "jobs/README", ".venv/x.pth", "overlays/dev/patches/a.yaml", "a`b"):
        shop.write(path, "x\n")
    shop.commit()
    plan = shop.plan(base="start")
    others = (".venv/x.pth", "a`b", "ci/check.sh", "jobs/README", "overlays/dev/patches/a.yaml")
    assert plan.others == others
    lines = reported("markdown", plan).splitlines()
    assert lines[3].startswith("**Also changes:** `.venv/x.pth`, ``a`b``, `ci/check.sh`, ")
    assert "\nalso changes .venv/x.pth, " in reported("text", plan).partition("\n\n")[0]
    assert json.loads(reported("json", plan))["otherChanges"] == list(others)


def test_many_paths_hide_none_that_the_checks_could_read(shop: History) -> None:
    """A comment names 20 paths: new files and texts come after those that exist, and after those of hosts and tools."""
    shop.write("ci/check.sh", "x\n")
    shop.commit("base")
    for number in range(40):
        shop.write(f"Abc/{number}.txt", "x\n")
        shop.write(f"docs/{number}.md", "x\n")
        shop.write(f"overlays/dev/patches/{number}.yaml", "{}\n")
    for path in ("ci/check.sh", ".github/workflows/z.yml"):
        shop.write(path, "y\n")
    shop.commit()
    plan = shop.plan(base="HEAD^")
    assert plan.others[:3] == ("ci/check.sh", ".github/workflows/z.yml", "Abc/0.txt")
    assert len(plan.others) == 122
    assert "**Also changes:** `ci/check.sh`, `.github/workflows/z.yml`, " in reported("markdown", plan)


def test_a_plan_of_jobs_names_no_other_paths(shop: History) -> None:
    shop.job(JOB, "second")
    shop.commit()
    assert shop.plan(base="start").others == ()
    assert "Also changes" not in reported("markdown", shop.plan(base="start"))


def test_the_plan_has_the_tree_that_it_judged(shop: History) -> None:
    shop.job(JOB, "second")
    shop.commit()
    tree = shop.git("rev-parse", "HEAD^{tree}")
    assert shop.plan(base="start").tree == tree
    text = reported("markdown", shop.plan(base="start"))
    assert f"Judged tree: `{tree}`; after the merge, `gen check --merged {tree[:12]}` lists" in text
    shop.write("new.txt", "x")
    assert shop.plan(base="start").tree == "", "no commit has these files"


def test_what_was_merged_besides_is_listed(shop: History) -> None:
    shop.git("checkout", "--quiet", "-b", "change")
    shop.job(JOB, "second")
    shop.commit()
    shop.git("checkout", "--quiet", "-b", "judged", "start")
    shop.git("merge", "--quiet", "--no-ff", "--no-edit", "change")
    tree = shop.git("rev-parse", "HEAD^{tree}")
    report, code = shop.check(merged=tree[:12])
    assert (code, [one.code for one in report.findings]) == (0, [])
    shop.write("docs/a.md", "x\n")
    shop.job(JOB.replace("train.py", "other.py"), "second")
    shop.commit()
    report, code = shop.check(merged=tree)
    rendered = "rendered/dev/jobs/team/second"
    assert code == 1
    assert [(one.code, one.place.file) for one in report.findings] == [
        ("not-as-approved", "docs/a.md"),
        ("not-as-approved", "jobs/team/second.yaml"),
        ("not-as-approved", f"{rendered}/job-second.yaml"),
        ("not-as-approved", f"{rendered}/service-second.yaml"),
    ]
    with pytest.raises(UsageError, match="unknown tree `0123`; fetch the commit that was checked"):
        shop.check(merged="0123")


def test_two_changes_that_exceed_a_quota_together_stop_only_their_namespace(shop: History) -> None:
    """Each fits; the merge queue judges them together; without one, other namespaces still render."""
    for name in ("second", "third"):
        shop.git("checkout", "--quiet", "-b", name, "start")
        shop.job(JOB, name)
        shop.commit()
    shop.git("checkout", "--quiet", "-b", "queue", "second")
    shop.git("merge", "--quiet", "--no-edit", "third")
    # as `merge_group` of GitHub and merge trains of GitLab: the result of both, compared with the target branch
    report, code = shop.check(base="start")
    assert (code, [one.code for one in report.findings if one.is_error]) == (1, ["over-quota"])
    assert [one.code for one in shop.plan(base="start").findings if one.is_error] == ["over-quota"]
    # as the target branch, if both were merged nevertheless
    shop.git("checkout", "--quiet", "-B", "main")
    shop.git("checkout", "--quiet", "-b", "others")
    shop.job(JOB, "fourth", namespace="other")
    report, code = shop.render()
    assert code == 0
    assert [(one.code, one.severity.value) for one in report.findings] == [("over-quota", "warning")]
    shares = "`team/first` 8, `team/second` 8, `team/third` 8"
    assert f"its quota is 16: {shares}; this change does not raise it" in str(report)
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "Other")
    assert shop.check(base="main")[1] == 0
    assert [one.code for one in shop.plan(base="main").findings if one.is_error] == []
    # a change that raises the use, and one in a repository without a base
    shop.job(JOB, "fifth")
    report, code = shop.render()
    assert (code, [one.code for one in report.findings if one.is_error]) == (1, ["over-quota"])


def test_the_use_of_a_namespace_may_decrease_above_its_quota(shop: History) -> None:
    shop.job(JOB, "second")
    shop.commit()
    shop.overlay(LIMITED.replace("team: {gpus: 16}", "team: {gpus: 4}"))
    shop.job(JOB + "state: suspended\n", "second")
    shop.git("checkout", "--quiet", "-b", "change")
    report, code = shop.render()
    assert (code, [one.severity.value for one in report.findings]) == (0, ["warning"])


def test_without_git_an_exceeded_quota_is_an_error(shop: History) -> None:
    shop.job(JOB.replace("gpus: 8", "gpus: 24"), "second")
    (shop.root / ".git").rename(shop.root.parent / "elsewhere")
    assert shop.render()[1] == 1


def test_the_base_of_a_plan_is_that_of_its_quotas(shop: History) -> None:
    shop.job(JOB.replace("gpus: 8", "gpus: 16"), "second")
    found = review(PlanRequest(root=shop.root, base="start")).findings
    assert [one.code for one in found if one.is_error] == ["over-quota"]


@pytest.fixture
def renders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """One entry for each render, without a cache from before."""
    done: list[object] = []
    real = rendering.render

    def counted(*arguments: Any, **options: Any) -> Any:
        done.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(rendering, "render", counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return done


@pytest.mark.parametrize("mistake", ["", "wrokers: 2\n", "runs: 3\n"])
def test_a_plan_and_its_check_share_one_render(
    shop: History, renders: list[object], tmp_path: Path, mistake: str
) -> None:
    """With errors, too: then no cache is written that another command could read."""
    shop.job(JOB, "second")
    if not mistake:
        shop.commit()
    shop.job(JOB + mistake, "third")
    report, code = shop.check(base="start")
    plan = shop.plan(base="start")
    renders.clear()
    done = run_plan(PlanRequest(root=shop.root, base="start", check=True, save=tmp_path / "saved"))
    assert len(renders) == 1
    assert code == done.exit_code == 1, "nothing is rendered for the last job"
    text = PLAN_REPORTERS["text"](replace(done.output, terminal=None))
    assert text.startswith(REPORTERS["text"](report))
    assert text.endswith(reported("text", plan))
    assert json.loads(PLAN_REPORTERS["json"](done.output))["check"]["summary"] == report.summary
    assert PLAN_REPORTERS["github"](done.output).startswith(REPORTERS["github"](report).rpartition(report.summary)[0])
    saved = {path.name: path.read_text("utf-8") for path in (tmp_path / "saved").iterdir()}
    assert saved["plan.md"] == REPORTERS["markdown"](report) + "\n" + reported("markdown", plan)
    assert saved["junit.xml"] == PLAN_REPORTERS["junit"](done.output)
    assert saved["plan.html"] == reported("html", plan)


def test_a_clean_check_is_not_a_part_of_the_comment(shop: History, renders: list[object]) -> None:
    shop.job(JOB, "second")
    shop.commit()
    renders.clear()
    done = run_plan(PlanRequest(root=shop.root, base="start", check=True))
    assert (done.exit_code, len(renders)) == (0, 1)
    assert PLAN_REPORTERS["markdown"](done.output) == reported("markdown", done.output.data)


def test_saved_plans_replace_nothing(shop: History, tmp_path: Path) -> None:
    """A folder of CI could come from the change."""
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved/plan.md").write_text("### 0 runs start\n", "utf-8")
    with pytest.raises(UsageError, match=r"plan\.md exists already"):
        run_plan(PlanRequest(root=shop.root, save=tmp_path / "saved"))
