"""Queues of an overlay: `queues.<name>`, each of one scheduler."""

# no postponed annotations here: pydantic would compile each of them again when the program starts
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from gen.model.base import Model
from gen.model.profile import chosen, require_one, with_profiles
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
        require_one(self, QUEUES, "scheduler")
        return self


def queue_model() -> type[QueueFields]:
    """The model with a field for each scheduler that is registered."""
    return with_profiles(QueueFields, "Queue", QUEUES)


if TYPE_CHECKING:
    from typing import TypeAlias

    Queue: TypeAlias = QueueFields
else:
    Queue = queue_model()
