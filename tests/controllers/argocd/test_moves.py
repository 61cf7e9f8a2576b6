"""The commands of `gen move`, which give the objects of a namespace to the Applications of another overlay."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gen.commands.move import Request, run
from tests.controllers.argocd.applications import errors, state
from tests.controllers.argocd.argo_cd import NAMESPACE
from tests.controllers.argocd.delivery import DATA, GIVEN, JOB, OVERLAY, Delivery, quiet

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


def test_split(delivery: Delivery) -> None:
    """No run starts again, and no volume is left to the Application of the old overlay."""
    other, new = f"{delivery.name}-b", f"{delivery.name}-new"
    delivery.grant(other)
    delivery.change(volumes=GIVEN, cluster=delivery.name)
    for namespace in delivery.namespaces:
        delivery.job(JOB + DATA, namespace=namespace)
    delivery.start()
    kept = objects(delivery)
    assert len(kept) == 6, "a run, a claim and a volume of each namespace"

    split(delivery, other, new)
    report, code = delivery.repository.render(prune_storage=True)
    assert code == 0, report
    result = run(Request(root=delivery.repository.root))
    assert result.exit_code == 0, result.output
    for line in result.output.splitlines():
        if line.startswith("# 3."):
            delivery.push()
        if words := shlex.split(line, comments=True):
            in_root = [str(delivery.repository.root / word) if word.startswith("rendered/") else word for word in words]
            delivery.argo.kubectl(*in_root[1:])
    expected = {
        *(f"{delivery.name}{rest}" for rest in ("-root", f"-storage.{delivery.name}", f".{delivery.name}.demo")),
        *(f"{new}{rest}" for rest in ("-root", f"-storage.{other}", f".{other}.demo")),
    }
    delivery.wait(lambda: healthy(delivery) == expected, "Applications in sync")
    quiet()
    assert healthy(delivery) == expected
    assert objects(delivery) == kept

    delivery.remove(namespace=other)
    delivery.commit(prune_storage=True)
    delivery.wait(lambda: delivery.runs(other) == {}, "end of the run that was handed over")
    assert delivery.runs()


def split(delivery: Delivery, namespace: str, overlay: str) -> None:
    """Give a namespace to another overlay, with what is rendered of it."""
    root = delivery.repository.root
    fields = {"url": delivery.git.url(delivery.name), "namespaces": f"  {namespace}: {{}}"}
    settings = f"volumes: {GIVEN}\ncluster: {delivery.name}\nselect: {{include: ['{namespace}/*']}}"
    delivery.repository.overlay(OVERLAY.format(**fields, settings=settings), overlay)
    del delivery.namespaces[namespace]
    delivery.change(select=f"{{exclude: ['{namespace}/*']}}")
    for tree in ("jobs", "storage"):
        source, target = (root / f"rendered/{one}/{tree}/{namespace}" for one in (delivery.name, overlay))
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    delivery.namespaces[namespace] = "{}"


def objects(delivery: Delivery) -> dict[str, str]:
    """Runs, claims and volumes, and their uids."""
    return {name: uid for name, (uid, *_) in delivery.seen().items() if name.startswith(("Job", "PersistentVolume"))}


def healthy(delivery: Delivery) -> set[str]:
    """Names of the Applications of both overlays, if all are in sync and none shares an object with another one."""
    live = [body for body in delivery.argo.cluster.live("argoproj.io", "Application", NAMESPACE) if of(delivery, body)]
    good = all(state(body)[1] == "Synced" and "Shared" not in " ".join(errors(body)) for body in live)
    return {body["metadata"]["name"] for body in live} if good else set()


def of(delivery: Delivery, body: Body) -> bool:
    return bool(body["spec"]["source"]["repoURL"] == delivery.git.url(delivery.name))
