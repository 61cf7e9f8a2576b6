"""Fluid datasets. Fluid creates the volume and its claim, which have the name of the dataset.

Source: fluid-cloudnative/fluid, `pkg/utils/dataset/volume` and `api/v1alpha1/dataset_types.go`.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar

from gen.job.names import ObjectName
from gen.job.scalars import Truth
from gen.kubernetes.objects import Body
from gen.overlay.profiles.storage import StorageProfile, Volume


class Fluid(StorageProfile):
    """Existing Dataset of Fluid in the job's namespace. Its objects are never rendered."""

    short: ClassVar[str] = "dataset"

    dataset: ObjectName
    """Name of the Dataset."""
    serverless: Truth = False
    """Mount it through a sidecar, for nodes without the driver of Fluid."""

    @property
    def pod_labels(self) -> Mapping[str, str]:
        return {"serverless.fluid.io/inject": "true"} if self.serverless else {}

    def pod_source(self, volume: Volume) -> Body:
        claim: Body = {"claimName": self.dataset}
        return {"persistentVolumeClaim": claim | ({"readOnly": True} if volume.read_only else {})}
