"""Hints about unknown fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.job import synonyms
from gen.job.kinds import KINDS
from gen.job.model import Model, fields_at, reachable
from gen.job.suggest import suggest
from gen.overlay.check import of_jobs
from gen.overlay.fields import OverlayFields, overlay_fields
from tests.cases import for_each

if TYPE_CHECKING:
    from gen.base.findings import Route

MODELS = [model for model in reachable([*KINDS.values(), overlay_fields()]) if issubclass(model, Model)]


@for_each(
    ("route", "value", "hint"),
    [
        (("gpu",), "8", "did you mean `gpus`?"),
        (("working_dir",), "/root", "did you mean `workingDir`?"),
        (("nodeSelector",), {}, "write `placement: {nodeSelector: …}` instead"),
        (("gpuModel",), "A100", "write `placement: {gpuModel: …}` instead"),
        (("logdir",), "/logs", "write `tensorboard: {logdir: …}` instead"),
        (("mounts",), {}, "mount volumes of the overlay with `data: {<volume>: <path>}` instead"),
        (("worker",), "3", "did you mean `workers`?"),
        (("worker",), {"gpus": "8"}, "write `roles: {worker: …}` instead"),
        (("roles", "workers"), {"gpus": "8"}, "did you mean `worker`?"),
        (("roles", "worker", "workers"), "3", "move `workers` out of `roles.worker`, to the top level"),
        (("roles", "worker", "data"), {}, "move `data` out of `roles.worker`, to the top level"),
        (("data", "nas", "mountPath"), "/data", "did you mean `path`?"),
        (("env", "A", "value"), "b", "write the value itself, without `value`"),
        (("resources",), {}, "set `gpus`, `cpu` and `memory` instead; each is the request and the limit"),
    ],
)
def test_an_unknown_field_has_a_remedy(route: Route, value: object, hint: str) -> None:
    assert suggest(KINDS["pytorch"], route, value).hint == hint


def test_a_name_that_means_nothing_names_the_command_that_lists_the_fields() -> None:
    both = "remove it, or correct it; `gen explain pytorch` and `gen explain job` list the fields"
    assert suggest(KINDS["pytorch"], ("frobnicate",)).hint == both
    one = "remove it, or correct it; `gen explain overlay` lists the fields"
    assert suggest(OverlayFields, ("frobnicate",)).hint == one
    assert suggest(KINDS["pytorch"], ("code", "frobnicate")).hint.startswith("expected one of `credentials`")


@for_each(
    ("route", "hint"),
    [
        (("rayStartParams",), "write `roles: {<name>: {rayStartParams: …}}` instead"),
        (("roles", "worker", "max"), "did you mean `maxReplicas`?"),
        (("autoscaler", "min"), "write `roles: {worker: {minReplicas: …}}` instead"),
        (("autoscaler", "max"), "write `roles: {worker: {maxReplicas: …}}` instead"),
    ],
)
def test_a_field_of_a_role_of_ray_is_found(route: tuple[str, ...], hint: str) -> None:
    assert suggest(KINDS["ray"], route).hint == hint


@for_each(
    ("name", "hint"),
    [
        ("imagePullSecret", "write `defaults: {imagePullSecrets: …}` instead, for jobs that do not set it"),
        ("nodeSelector", "write `defaults: {placement: {nodeSelector: …}}` instead, for jobs that do not set it"),
        ("schedulerName", "set it with a patch under `patches`"),
        ("frobnicate", ""),
        ("sweep", ""),
    ],
)
def test_a_field_of_jobs_in_an_overlay_belongs_in_the_defaults(name: str, hint: str) -> None:
    assert of_jobs(name) == hint


def test_a_synonym_of_a_field_that_the_kind_lacks_is_not_suggested() -> None:
    assert "cleanup" in fields_at(KINDS["pytorch"], ())
    assert suggest(KINDS["pytorch"], ("cleanPodPolicy",)).meant == "cleanup"
    assert suggest(KINDS["batch"], ("cleanPodPolicy",)).meant == ""


def test_a_synonym_is_not_taken_for_a_field_that_looks_like_it() -> None:
    assert suggest(KINDS["pytorch"], ("minWorkers",)).hint == "write `elastic: {min: …}` instead"
    for kind in ("mpi", "batch", "tensorflow"):
        found = suggest(KINDS[kind], ("minWorkers",))
        assert (found.hint, found.meant, found.certain) == (
            "remove it; jobs of this kind have no `elastic`",
            "",
            None,
        )


DEFINING = {
    base.__name__: base
    for model in MODELS
    for base in model.__mro__
    if issubclass(base, Model) and base is not Model and "synonyms" in vars(base)
}


@for_each("model", DEFINING.values(), ids=DEFINING)
def test_no_synonym_is_a_field(model: type[Model]) -> None:
    fields = {synonyms.normal(name) for name in fields_at(model, ())}
    assert fields & model.synonyms.keys() == set()


def test_every_path_of_a_synonym_exists_in_some_model() -> None:
    for model in MODELS:
        for name, path in ((name, path) for name, path in model.synonyms.items() if " " not in path):
            *above, last = path.split(".")
            relatives = [other for other in MODELS if other.synonyms.get(name) == path]
            assert any(last in fields_at(other, tuple(above)) for other in relatives), f"{model.__name__}: {path}"


def test_the_main_field_of_a_model_exists() -> None:
    assert [model for model in MODELS if model.main and model.main not in fields_at(model, ())] == []
