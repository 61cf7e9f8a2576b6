"""Where pods that train together meet, and the variables from which launchers know it.

- `torchrun`, `python -m torch.distributed.run` and `.launch` read an option `--x-y` from `PET_X_Y`
  (`torch/distributed/argparse_util.py`). So does `accelerate launch` for several processes per pod, which sets the port
  to 29500 (`_filter_args` and `prepare_multi_gpu_env` in `accelerate/utils/launch.py`).
- One process per pod reads `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` (`torch/distributed/rendezvous.py`).
  Accelerate, Transformers and DeepSpeed need `LOCAL_RANK`, too (`PartialState` in `accelerate/state.py`,
  `init_distributed` in `deepspeed/comm/comm.py`).
- JAX reads `JAX_COORDINATOR_ADDRESS` (`jax/_src/distributed.py`), and has no variables for the number and the index of
  its processes, of which each pod has one. These are named as by the Kubeflow Trainer
  (`pkg/runtime/framework/plugins/jax`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from gen.kubernetes.objects import Body

PROCESS: Final = "process"
LOCAL: Final = "local"
TORCHRUN: Final = "torchrun"
JAX: Final = "jax"

TORCH_EXAMPLE: Final[Mapping[str, object]] = {
    "image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
    "command": "torchrun code/examples/distributed/ddp-tutorial-series/multinode.py 50 10",
    "code": {"git": "https://github.com/pytorch/examples.git", "ref": "17f4f9a5d66c6da5b348d032cd6a6e2410760952"},
    "workers": 2,
    "gpus": 1,
}
"""A job that trains a small model on data that it makes."""
TORCH_PORT: Final = 29500
"""The default of torchrun."""


def field_variable(name: str, field: str) -> Body:
    """A variable with a field of the pod as its value."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": field}}}


class Rendezvous(Struct, frozen=True, kw_only=True):
    """Pods of a role that train together, and the families of variables that the operator does not set."""

    families: tuple[str, ...] = (LOCAL, TORCHRUN, JAX)
    pods: int
    address: str = ""
    """Host name of the first pod."""
    port: int = TORCH_PORT
    """Port of the first pod."""
    rank: str | None = None
    """Field of a pod with its rank. Without one, torchrun decides the ranks, and JAX has none."""
    is_host: bool | None = None
    """Whether the role is the first pod; None for a role with all pods."""

    def variables(self, gpus: int) -> Iterator[Body]:
        """Variables of a pod with this number of GPUs, which a job can override. One pod on CPUs needs none."""
        if self.pods == 1 and gpus == 0:
            return
        address = self.address if self.pods > 1 else "localhost"
        if PROCESS in self.families and gpus:
            yield from self.processes()
        texts: dict[str, str] = {}
        fields: dict[str, str | None] = {}
        if LOCAL in self.families and self.pods > 1 and gpus == 1:
            texts["LOCAL_RANK"] = "0"
        if TORCHRUN in self.families:
            texts |= {"PET_NNODES": str(self.pods), "PET_NPROC_PER_NODE": str(max(gpus, 1))}
            static = {"PET_MASTER_ADDR": address, "PET_MASTER_PORT": str(self.port)}
            texts |= static if self.rank else self._dynamic(address)
            fields["PET_NODE_RANK"] = self.rank
        if JAX in self.families and self.rank:
            texts |= {"JAX_COORDINATOR_ADDRESS": f"{address}:{self.port}", "JAX_NUM_PROCESSES": str(self.pods)}
            fields["JAX_PROCESS_ID"] = self.rank
        yield from ({"name": name, "value": value} for name, value in texts.items())
        yield from (field_variable(name, field) for name, field in fields.items() if field)

    def _dynamic(self, address: str) -> Mapping[str, str]:
        """The rendezvous that assigns ranks, in the order of host names (`dynamic_rendezvous.py`)."""
        of_host = {} if self.is_host is None else {"PET_RDZV_CONF": f"is_host={int(self.is_host)}"}
        return {"PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": f"{address}:{self.port}", **of_host}

    def processes(self) -> tuple[Body, ...]:
        """Variables of one process per pod; torchrun overrides them for the processes that it starts."""
        texts = {
            "MASTER_ADDR": self.address,
            "MASTER_PORT": str(self.port),
            "WORLD_SIZE": str(self.pods),
            "NNODES": str(self.pods),
        }
        return (
            *({"name": name, "value": value} for name, value in texts.items()),
            *(field_variable(name, self.rank) for name in ("NODE_RANK", "RANK") if self.rank),
        )
