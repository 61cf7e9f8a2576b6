"""Queues of an overlay: `queues.<name>`, each of one scheduler."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from functools import cached_property
from typing import Self

from pydantic import model_validator

from gen.model.base import Model
from gen.model.profile import chosen, require_one
from gen.queues import QUEUES, QueueProfile


class QueueFields(Model):
    """Queue that jobs can use by name: one scheduler."""

    @cached_property
    def given(self) -> dict[str, QueueProfile]:
        """The profile by its key."""
        return chosen(self, QUEUES)

    @cached_property
    def profile(self) -> QueueProfile:
        return next(iter(self.given.values()))

    @model_validator(mode="after")
    def _one_scheduler(self) -> Self:
        require_one(self, QUEUES, "scheduler")
        return self
