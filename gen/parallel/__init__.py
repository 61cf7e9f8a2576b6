"""Work in several processes, and work in the background."""

from gen.parallel.background import can_fork, in_background
from gen.parallel.spread import Progress, map_parallel

__all__ = ["Progress", "can_fork", "in_background", "map_parallel"]
