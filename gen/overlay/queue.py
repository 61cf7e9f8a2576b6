"""Queues of an overlay: `queues.<name>`, each of one scheduler."""

# no postponed annotations here: pydantic would compile each of them again when the program starts
from typing import TYPE_CHECKING, Self

from pydantic import create_model, model_validator

from gen.model.base import Model
from gen.model.profile import chosen, profile_fields
from gen.model.scalars import conflict
from gen.queues import QUEUES, QueueProfile


class QueueFields(Model):
    """Queue that jobs can use by name: one scheduler."""

    @property
    def given(self) -> dict[str, QueueProfile]:
        """The profile by its key."""
        return chosen(self, QUEUES)

    @property
    def profile(self) -> QueueProfile:
        return next(iter(self.given.values()))

    @model_validator(mode="after")
    def _one_scheduler(self) -> Self:
        if len(given := chosen(self, QUEUES)) != 1:
            names = " and ".join(f"`{key}`" for key in given) or "none"
            remedy = "declare one queue for each scheduler" if given else "set one of " + _listed()
            raise conflict(f"expected exactly one scheduler, got {names}", remedy)
        return self


def _listed() -> str:
    return ", ".join(f"`{key}`" for key in sorted(QUEUES))


def queue_model() -> type[QueueFields]:
    """The model with a field for each scheduler that is registered."""
    fields = profile_fields(QUEUES)
    return create_model("Queue", __base__=QueueFields, __doc__=QueueFields.__doc__, **fields)


if TYPE_CHECKING:
    from typing import TypeAlias

    Queue: TypeAlias = QueueFields
else:
    Queue = queue_model()
