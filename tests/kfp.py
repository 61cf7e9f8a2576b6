"""What Kubeflow Pipelines does with the steps of a rendered pipeline, before their programs start.

From `backend/src/v2/component/launcher_v2.go` of kubeflow/pipelines and from the kubelet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.kubernetes.facts.kfp import OBJECT
from gen.kubernetes.facts.steps import manifest_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes.objects import Body

_INPUT = re.compile(r"\{\{\$\.inputs\.parameters\['(.+?)'\]\}\}")
_OUTPUT = re.compile(r"\{\{\$\.outputs\.parameters\['(.+?)'\]\.output_file\}\}")


@dataclass(frozen=True)
class Step:
    """A task of a pipeline, with its component and its container."""

    name: str
    task: Body
    component: Body
    container: Body

    def __str__(self) -> str:
        return self.name

    @property
    def results(self) -> list[str]:
        return list(self.component.get("outputDefinitions", {}).get("parameters", {}))

    def object(self) -> Body:
        return manifest_body(self.container["args"][OBJECT])

    def command(self, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> list[str]:
        """The words of the program: placeholders of the launcher, then `$$(`, which the kubelet reads as `$(`.

        The kubelet is before the launcher, which no value of a test can show, because the script refuses `$`.
        """
        words = [*self.container["command"], *self.container["args"]]
        words = [word.replace("$$(", "$(") for word in words]
        words = [_INPUT.sub(lambda match: inputs[match[1]], word) for word in words]
        return [_OUTPUT.sub(lambda match: outputs.get(match[1], "/dev/null"), word) for word in words]


def defining(overlay: str) -> str:
    """The overlay of the tests with Kubeflow Pipelines, and a grant for all namespaces."""
    granted = overlay.replace('  "*":\n', '  "*":\n    kfp: true\n')
    return granted.replace("{argo:", "{kfp: {image: tools:1}, argo:")


def steps_of(version: Body) -> dict[str, Step]:
    spec: dict[str, Any] = version["spec"]["pipelineSpec"]
    tasks = spec["root"]["dag"]["tasks"]
    return {
        name: Step(
            name,
            task,
            (component := spec["components"][task["componentRef"]["name"]]),
            spec["deploymentSpec"]["executors"][component["executorLabel"]]["container"],
        )
        for name, task in tasks.items()
    }
