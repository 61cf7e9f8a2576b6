"""Base class of network profiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from gen.model.profile import Profile

if TYPE_CHECKING:
    from gen.model.effect import Effect


class NetworkProfile(Profile, ABC):
    """Network profile: a way to connect pods."""

    excludes: ClassVar[frozenset[str]] = frozenset()
    """Profiles that cannot be combined with this one."""

    @abstractmethod
    def effect(self) -> Effect:
        """Changes to the pods of a job."""
