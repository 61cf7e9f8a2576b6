"""A committed run of an unchanged job is kept; only metadata and suspension follow the job."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from gen.base.routes import at
from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.render.demo import FOLDER, JOB, behind, codes, rendered, runs
from tests.support import OVERLAY, Repository

MORE = (
    "files: {/etc/a: b}\ndata: {nas: /data}\ntensorboard: true\n"
    f"code: {{git: https://git.example.com/a.git, ref: {'c' * 40}}}\n"
)
BUMP = "codeSync: {gitImage: registry.example.com/git-sync:v5}\ntensorboard: {image: registry.example.com/tb:9}\n"


def content(body: dict[str, Any], suspend: tuple[str, ...] | None) -> dict[str, Any]:
    """The object without metadata but its name, and without the field that suspends it."""
    copied = copy.deepcopy({**body, "metadata": body["metadata"]["name"]})
    if suspend is not None and (holder := at(copied, *suspend[:-1])) is not None:
        holder.pop(suspend[-1], None)
    return copied


def job_of(kind: str) -> str:
    """A job with many fields and a command that runs a script of its code."""
    example = KINDS[kind].example
    more = {k: v for k, v in yaml.safe_load(MORE).items() if k not in KINDS[kind].unsupported_fields()}
    fields = {**example, **more}
    if isinstance(code := example.get("code"), dict):
        fields["code"] = {**more["code"], "git": code["git"]}
    elif "code" in more:
        fields["command"] = fields["command"].replace("main.py", "code/a/main.py")
    return yaml.safe_dump({"kind": kind, **fields}, sort_keys=False)


@for_each("kind", [kind for kind in KINDS if "code" not in KINDS[kind].unsupported_fields()])
def test_suspension_end_and_metadata_follow_the_job(repo: Repository, kind: str) -> None:
    job, facts = job_of(kind), KINDS[kind].facts
    repo.job(job)
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY + BUMP)
    states = {"suspended": True, "active": None, "finished": None}
    for state, suspend in states.items():
        if state == "suspended" and facts.suspend is None:
            continue
        repo.job(f"{job}state: {state}\nlabels: {{cost: {state}}}\nannotations: {{note: {state}}}\n")
        rendered(repo)
        after = runs(repo)
        old, new = ({one: content(body, facts.suspend) for one, body in objects.items()} for objects in (before, after))
        assert new == old
        assert facts.suspend is None or at(after[facts.kind], *facts.suspend) is suspend
        for body in after.values():
            assert body["metadata"]["labels"]["cost"] == state
            assert body["metadata"]["annotations"]["note"] == state
            assert ("argocd.argoproj.io/hook" in body["metadata"]["annotations"]) is (state == "finished")
    repo.job(job)
    rendered(repo)
    names = {kind: body["metadata"]["labels"]["gen/run"] for kind, body in runs(repo).items()}
    assert set(names.values()).isdisjoint(body["metadata"]["labels"]["gen/run"] for body in before.values())
    assert behind(repo) == (), "a finished run that starts again is what the platform is today"


@for_each("kind", list(KINDS))
@for_each("naming", ["hash", "stable"])
def test_what_belongs_to_no_run_follows_the_overlay(repo: Repository, kind: str, naming: str) -> None:
    repo.job(job_of(kind))
    repo.overlay(OVERLAY + f"runs: {{naming: {naming}}}\n")
    rendered(repo)
    before = repo.rendered()
    repo.overlay(
        OVERLAY.replace("size: 10Gi,", "size: 10Gi, mountOptions: [nolock],") + BUMP + f"runs: {{naming: {naming}}}\n"
    )
    rendered(repo)
    changed = {
        path.rpartition("/")[2].partition("-")[0] for path, text in repo.rendered().items() if before[path] != text
    }
    assert changed == {"deployment", "persistentvolume"}
    assert rendered(repo) == []


@pytest.mark.parametrize("change", ["workers: 3\n", "attempt: 2\n", "env: {A: b}\n"])
def test_an_edited_job_gets_the_new_platform(repo: Repository, change: str) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    repo.job(JOB.replace("workers: 2\n", "").format(kind="pytorch") + MORE + change)
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))
    assert behind(repo) == ()


def test_only_the_named_jobs_are_restarted(repo: Repository) -> None:
    for name in ("demo", "other"):
        repo.job(JOB.format(kind="batch") + MORE, name=name)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    rendered(repo)
    before = repo.rendered()
    repo.render("team/demo", restart=True)
    changed = {path for path, text in repo.rendered().items() if text != before.get(path)}
    assert changed == {FOLDER + name for name in ("configmap-demo-files.yaml", "job-demo.yaml", "service-demo.yaml")}
    repo.render(restart=True)
    assert behind(repo) == ()


def test_an_overlay_takes_all_runs_along_but_finished_ones(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    repo.job(JOB.format(kind="pytorch") + MORE + "state: finished\n", name="old")
    rendered(repo)
    before = repo.rendered()["dev/jobs/team/old/pytorchjob-old.yaml"]
    repo.overlay(OVERLAY + BUMP + "runs: {restartedFor: CVE-2026-1234}\n")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))
    assert repo.rendered()["dev/jobs/team/old/pytorchjob-old.yaml"] == before
    repo.overlay(OVERLAY + "runs: {restartedFor: CVE-2026-1234}\n")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo)), "later changes are kept again"


def test_a_job_that_is_removed_and_added_again_starts_a_new_run(repo: Repository) -> None:
    job = repo.job(JOB.format(kind="pytorch") + MORE)
    repo.job(JOB.format(kind="pytorch"), name="other")
    rendered(repo)
    text = job.read_text("utf-8")
    repo.overlay(OVERLAY + BUMP)
    job.unlink()
    rendered(repo)
    job.write_text(text, "utf-8")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))


def test_a_kept_run_keeps_its_queue(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {queue: research}\n")
    repo.job(JOB.format(kind="pytorch"))
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY)
    assert rendered(repo) == []
    assert runs(repo) == before
    repo.job(JOB.format(kind="pytorch") + "state: suspended\n")
    report, code = repo.render()
    assert code == 1
    assert codes(report) == ["suspended-in-queue"]


def test_an_edited_file_stops_the_render_only_if_the_run_is_behind(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    rendered(repo)
    path = repo.root / "rendered" / FOLDER / "pytorchjob-demo.yaml"
    good = path.read_text("utf-8")
    path.write_text(good.replace("a:1", "b:1"), "utf-8")
    rendered(repo)
    assert path.read_text("utf-8") == good
    repo.overlay(OVERLAY + BUMP)
    path.write_text(good.replace("a:1", "b:1"), "utf-8")
    report, code = repo.render()
    assert (code, codes(report)) == (1, ["hand-edited"])
    path.write_bytes(good.replace("\n", "\r\n").encode())
    rendered(repo)
    assert path.read_text("utf-8") == good, "line ends are not an edit"


def test_a_job_of_another_naming_is_kept(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "queue: research\n")
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY + "runs: {naming: stable}\n")
    rendered(repo)
    assert runs(repo) == before


def test_rendering_the_result_again_changes_nothing(repo: Repository) -> None:
    for kind in KINDS:
        repo.job(job_of(kind), name=kind)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    rendered(repo)
    before = repo.rendered()
    rendered(repo)
    assert repo.rendered() == before
    assert repo.render(parallel=2)[1] == 0
    assert repo.rendered() == before
