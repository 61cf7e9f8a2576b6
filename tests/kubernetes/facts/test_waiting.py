"""Conditions for the end of each kind, in the form that Argo Workflows reads; `tests/e2e` evaluates them."""

from __future__ import annotations

import re

from msgspec.structs import replace

from gen.job.kinds import KINDS
from gen.kubernetes.facts.base import Conditions, Phase, Phases
from gen.kubernetes.facts.builtin import JOB
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.ray import RAYJOB
from gen.kubernetes.facts.state import MOST_CONDITIONS, waiting
from gen.kubernetes.facts.trainer import TRAINJOB
from gen.kubernetes.facts.volcano import VOLCANO_JOB
from tests.cases import for_each

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_REQUIREMENT = rf"{_NAME}(?: == {_NAME}| in \({_NAME}(?:,{_NAME})*\))?"
SELECTOR = re.compile(rf"{_REQUIREMENT}(?:,{_REQUIREMENT})*")


@for_each("kind", [kind for kind, model in KINDS.items() if not model.own_fields])
def test_every_kind_has_conditions_that_parse(kind: str) -> None:
    found = waiting(KINDS[kind].facts)
    assert found is not None
    assert SELECTOR.fullmatch(found.success), found.success
    assert SELECTOR.fullmatch(found.failure), found.failure


def test_the_conditions_of_each_form_of_status() -> None:
    job, ray, volcano, train = (waiting(facts) for facts in (JOB, RAYJOB, VOLCANO_JOB, TRAINJOB))
    assert job is not None
    assert ray is not None
    assert volcano is not None
    assert train is not None
    assert job.success == "status.completionTime"
    assert job.failure.count("type == Failed") == MOST_CONDITIONS
    assert ray.success == "status.jobDeploymentStatus == Complete,status.jobStatus == SUCCEEDED"
    assert volcano.failure == "status.state.phase in (Failed,Aborted,Terminated)"
    assert train.of is JOBSET, "it has the name of the TrainJob"


@for_each("word", ["All done", "a,b", "done)", "", "x" * 64, "-a"])
def test_a_word_that_no_condition_can_have(word: str) -> None:
    phases = Phases(
        succeeded=(Phase(field=("status", "phase"), values=(word,)),),
        failed=(Phase(field=("status", "phase"), values=("Failed",)),),
    )
    assert waiting(replace(VOLCANO_JOB, status=phases)) is None
    assert (
        waiting(replace(VOLCANO_JOB, status=replace(phases, succeeded=phases.failed, failed=phases.succeeded))) is None
    )


def test_conditions_without_a_field_for_the_end() -> None:
    assert waiting(replace(JOB, awaited=None)) is None
    assert waiting(replace(VOLCANO_JOB, status=Conditions(succeeded="a", failed="b"))) is None
