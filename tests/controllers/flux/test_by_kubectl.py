"""Fields that Git does not have, set by hand."""

from __future__ import annotations

import pytest

from tests.controllers.flux.world import BATCH, World


@pytest.mark.parametrize(("manager", "undone"), [("kubectl-patch", True), ("kubectl-edit", True), ("k9s", False)])
def test_flux_undoes_what_kubectl_adds_to_a_run(world: World, manager: str, *, undone: bool) -> None:
    """It takes over the fields of kubectl (`fluxcd/pkg` `ssa/patch.go`), and leaves those of other programs alone."""
    world.job("one", BATCH)
    world.start()
    (name,) = runs = world.runs()
    path = f"{world.path('Job', name, 'batch')}?fieldManager={manager}"
    assert world.cluster.client.merge(path, {"spec": {"suspend": True}}).status == 200
    world.intervals()
    assert world.live("Job", group="batch")[name]["spec"]["suspend"] is not undone
    assert world.runs() == runs
    world.rests()
