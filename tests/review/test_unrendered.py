"""`gen plan` reports every object that gen did not render, with its pods and GPUs, in its first line."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
import yaml

from gen.render import run
from gen.render.run import render
from tests.adversary.miner import MINER
from tests.history import JOB, History, branch, reported
from tests.render.write.test_foreign import FORGED_JOB, forged, stage

if TYPE_CHECKING:
    from gen.review.result import Review

RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
CLAIM = "rendered/dev/storage/team/persistentvolumeclaim-nas.yaml"


@pytest.fixture
def merged(history: History) -> History:
    history.job(JOB + "data: {nas: /data}\n")
    branch(history)
    return history


def found(plan: Review) -> set[tuple[str, str]]:
    return {(f.code, f.place.file) for f in plan.findings if f.severity.value == "error"}


def headline(plan: Review) -> str:
    first = reported("text", plan).splitlines()[0]
    second = reported("markdown", plan).splitlines()[1]
    assert second.replace("`", "").removeprefix("### ").lower() == first.lower()
    assert second.startswith("### Refused: ") is plan.refused
    return first


def test_a1_a_foreign_object_is_refused_and_counted(merged: History) -> None:
    path = "rendered/dev/jobs/team/zz/deployment-zz.yaml"
    merged.write(path, MINER)
    plan = merged.plan()
    assert plan.refused
    assert found(plan) == {("foreign-file", path)}
    assert headline(plan).startswith(
        "refused: foreign-file; 1 object not rendered by gen (50 pods, 400 GPUs), no run starts"
    )
    assert [(row.before.gpus, row.after.gpus) for row in plan.usage] == [(24, 424)]
    said = json.loads(reported("json", plan))
    assert said["unrendered"] == [{"path": path, "object": "Deployment team/zz", "pods": 50, "gpus": 400}]


def test_a1_a_foreign_object_that_was_merged_before_is_still_refused(merged: History) -> None:
    merged.write("rendered/dev/x.yaml", MINER)
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "merged")
    assert found(merged.plan(base="HEAD")) == {("foreign-file", "rendered/dev/x.yaml")}


def test_a1_an_amount_that_cannot_be_read_hides_no_other_object(merged: History) -> None:
    """The API server rejects an object with such an amount."""
    invalid = MINER.replace("name: zz", "name: yy").replace("nvidia.com/gpu: 8", "nvidia.com/gpu: many")
    assert "many" in invalid
    merged.write("rendered/dev/jobs/team/zz/deployment-zz.yaml", f"{invalid}---\n{MINER}")
    assert headline(merged.plan()).startswith(
        "refused: foreign-file, many-documents; 2 objects not rendered by gen (100 pods, 400 GPUs)"
    )


def test_a1_a_forged_header_changes_nothing(merged: History) -> None:
    path = "rendered/dev/jobs/team/demo/deployment-zz.yaml"
    for source in ("jobs/team/demo.yaml", "overlays/dev/overlay.yaml", "jobs/team/none.yaml", "jobs/../x.yaml"):
        merged.write(path, forged(MINER, source))
        plan = merged.plan()
        assert found(plan) == {("foreign-file", path)}
        assert "(50 pods, 400 GPUs)" in headline(plan)


def test_a1_an_edited_object_with_a_valid_header_is_refused(merged: History) -> None:
    text = (merged.root / RUN).read_text().split("\n", 1)[1].replace("train:1", "evil:1")
    merged.write(RUN, forged(text, "jobs/team/demo.yaml"))
    assert ("stale", RUN) in found(merged.plan())
    merged.write(RUN, (merged.root / RUN).read_text().replace("evil:1", "evil:2"))
    assert ("hand-edited", RUN) in found(merged.plan())


def test_a1_objects_in_lists_and_in_further_documents_count(merged: History) -> None:
    body = yaml.safe_load(MINER)
    merged.write("rendered/dev/a.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [body, body]}))
    merged.write("rendered/dev/b.yaml", f"a: b\n---\n{MINER}")
    assert headline(merged.plan()).startswith(
        "refused: foreign-file, not-a-manifest, many-documents; 4 objects not rendered by gen (150 pods, 1,200 GPUs)"
    )


def test_a1_a_listed_file_is_no_object(merged: History) -> None:
    overlay = merged.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + "rendered: {keep: [README.md]}\n")
    merged.write("rendered/README.md", "# about\n")
    assert merged.codes() == []
    assert merged.plan().unrendered == ()


def test_only_a_change_that_a_render_would_write_asks_for_a_render(merged: History) -> None:
    overlay = merged.root / "overlays/dev/overlay.yaml"
    granted = overlay.read_text()
    overlay.write_text(granted.replace("namespaces:", "namespaces:\n  other: {gpus: 8}", 1))
    assert merged.codes() == [], "a grant is in no rendered file"
    overlay.write_text(granted + "unknown: 1\n")
    assert ("not-rendered", "warning") in merged.codes(), "a render fails"
    overlay.write_text(granted)
    merged.job(JOB + "env: {LR: 1e-3}\n")
    assert merged.codes() == [("not-rendered", "warning")]


def test_a_job_that_is_not_rendered_is_named_beside_one_that_is(merged: History) -> None:
    for name in ("old", "bert", "gpt"):
        merged.job(JOB, name=name)
    merged.rendering()
    merged.git("add", "--all")
    merged.git("commit", "--quiet", "--message", "jobs")
    merged.job(JOB + "env: {LR: 1e-3}\n", name="bert")
    merged.rendering()
    merged.job(JOB + "attempt: 2\n", name="gpt")
    (merged.root / "rendered/dev/jobs/team/old").rename(merged.root / "old")
    plan = merged.plan(base="HEAD")
    assert headline(plan).startswith("no errors: incomplete plan, because changes are not rendered, ")
    (finding,) = plan.findings
    assert (finding.code, finding.severity.value) == ("not-rendered", "warning")
    assert "gen renders from `jobs/team/gpt.yaml`, `jobs/team/old.yaml`" in finding.message


def test_a1_what_gen_rendered_is_accepted(merged: History) -> None:
    merged.job(JOB, name="more")
    merged.rendering()
    plan = merged.plan()
    assert (plan.findings, plan.unrendered) == ((), ())
    assert headline(plan) == "no errors: 1 run starts (3 pods, 24 GPUs), no run stops, no data is lost"


def test_a2_forged_unused_storage_is_refused(merged: History) -> None:
    path = "rendered/dev/storage/team/job-zz.yaml"
    merged.write(path, forged(FORGED_JOB))
    plan = merged.plan()
    assert found(plan) == {("foreign-file", path)}
    assert headline(plan).startswith(
        "refused: foreign-file; 1 object not rendered by gen (1 pod, 0 GPUs), 1 run starts (1 pod, 0 GPUs)"
    )


def test_a2_added_data_that_no_overlay_renders_is_refused(merged: History) -> None:
    text = (merged.root / CLAIM).read_text().split("\n", 1)[1].replace("name: nas", "name: zz")
    path = CLAIM.replace("-nas", "-zz")
    merged.write(path, forged(text))
    assert merged.check()[1] == 0, "without Git, it could be data that is no longer used"
    assert found(merged.plan()) == {("foreign-file", path)}
    (finding,) = merged.plan().findings
    assert finding.hint == "run `gen render --prune-storage`, or delete the file"
    merged.render(prune_storage=True)
    assert merged.plan().findings == ()


def test_a2_unused_data_is_accepted_if_it_is_the_same_at_the_base(merged: History) -> None:
    merged.job(JOB)
    merged.rendering()
    assert merged.plan().findings == ()
    merged.write(CLAIM, (merged.root / CLAIM).read_text() + "# x\n")
    assert found(merged.plan()) == {("foreign-file", CLAIM)}


def test_a3_a_submodule_is_refused(merged: History) -> None:
    stage(merged, "160000", "rendered/dev/jobs/team/sub")
    assert found(merged.plan()) == {("submodule", "rendered/dev/jobs/team/sub")}
    (merged.root / "rendered/dev/jobs/team/sub").mkdir()
    assert ("empty-folder", "rendered/dev/jobs/team/sub") in found(merged.plan())
    assert headline(merged.plan()).startswith("refused: ")


@pytest.mark.parametrize(
    ("mode", "path", "code"),
    [
        ("100644", ".gitmodules", "control-file"),
        ("100755", RUN, "executable-file"),
        ("100644", "rendered/.gen.tmp/0", "temporary-files"),
    ],
)
def test_a3_modes_and_files_of_git_are_refused(merged: History, mode: str, path: str, code: str) -> None:
    stage(merged, mode, path)
    assert code in {code for code, _ in found(merged.plan())}


KINDS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("v1", "ReplicationController"),
    ("example.com/v1", "Unknown"),
)
GPUS = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "nvidia.com/mig-1g.5gb", "huawei.com/Ascend910")


def malicious(choice: random.Random, name: str) -> tuple[dict[str, Any], int, int]:
    """An object of any kind with its pods and GPUs."""
    version, kind = choice.choice(KINDS)
    pods, gpus = choice.randint(1, 300), choice.randint(0, 16)
    container: dict[str, Any] = {"name": "x", "image": "x:1", "securityContext": {"privileged": choice.random() < 0.5}}
    if gpus:
        container["resources"] = {choice.choice(("limits", "requests")): {choice.choice(GPUS): gpus}}
    spec: dict[str, Any] = {"template": {"spec": {"containers": [container]}}}
    spec["parallelism" if kind == "Job" else "replicas"] = pods
    if choice.random() < 0.2:
        version, kind, spec, pods = "v1", "Pod", spec["template"]["spec"], 1
    metadata: dict[str, Any] = {"name": name, "namespace": choice.choice(("team", "kube-system"))}
    if choice.random() < 0.5:
        metadata["annotations"] = {"argocd.argoproj.io/hook": "Skip", "kind": "PersistentVolume"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}, pods, pods * gpus


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_every_pod_gpu_and_volume_of_malicious_plans_is_in_the_first_line(merged: History, seed: int) -> None:
    """Forged headers, any kind, place and form: 400 objects in 40 plans; a third of the plans removes data, too."""
    choice = random.Random(seed)  # noqa: S311 - reproducible
    pods = gpus = 0
    paths = set()
    for number in range(10):
        body, its_pods, its_gpus = malicious(choice, f"x{number}")
        pods, gpus = pods + its_pods, gpus + its_gpus
        text = choice.choice((yaml.safe_dump, json.dumps))(body)
        if choice.random() < 0.6:
            text = forged(text, choice.choice(("jobs/team/demo.yaml", "overlays/dev/overlay.yaml", "jobs/a/b.yaml")))
        folders = ("jobs/team/demo", f"jobs/team/x{number}", "storage/team", "x", f"jobs/kube-system/{number}")
        folder = choice.choice(folders)
        ending = choice.choice(("yaml", "yml", "json"))
        path = f"rendered/dev/{folder}/{body['kind'].lower()}-x{number}.{ending}"
        merged.write(path, text)
        paths.add(path)
    removed = choice.choice((0, 0, 1, 2))
    for data in sorted((merged.root / "rendered/dev/storage/team").glob("persistent*-*nas.yaml"))[:removed]:
        data.unlink()
    plan = merged.plan()
    first = headline(plan)
    numbers = re.match(r"refused: [a-z, -]+; 10 objects not rendered by gen \(([\d,]+) pods, ([\d,]+) GPUs?\), ", first)
    assert numbers is not None, first
    assert tuple(int(one.replace(",", "")) for one in numbers.groups()) == (pods, gpus)
    lost = f"{removed} data object{'' if removed == 1 else 's'} removed" if removed else "no data is lost"
    assert lost in first
    assert paths <= {path for _, path in found(plan)}


def test_a_plan_renders_what_changed_once(merged: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again for the files that differ from the base, nor for the texts of runs that are behind."""
    overlay = merged.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text() + "defaults: {env: {A: b}}\n")
    merged.job(JOB, name="more")
    merged.rendering()
    renders = Mock(wraps=render)
    monkeypatch.setattr(run, "render", renders)
    plan = merged.plan()
    assert (plan.findings, plan.unrendered, len(plan.behind), renders.call_count) == ((), (), 1, 1)
    again = merged.plan()
    assert (again.findings, again.unrendered, len(again.behind)) == ((), (), 1)
    assert renders.call_args.args[2] == ["jobs/team/demo.yaml"], "only the run that is behind has no text in the cache"


def test_a_file_with_the_header_of_the_cache_and_another_body_is_refused(merged: History) -> None:
    """The plan before has written the cache, and the first line of a file has a part of the digest only."""
    merged.job(JOB, name="more")
    merged.rendering()
    assert merged.plan().findings == ()
    path = RUN.replace("demo", "more")
    first, _, text = (merged.root / path).read_text().partition("\n")
    merged.write(path, f"{first}\n{text.replace('train:1', 'evil:1')}")
    assert found(merged.plan()) == {("hand-edited", path)}
