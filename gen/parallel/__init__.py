"""Work in several processes, in steps, and in the background."""

from gen.parallel.background import can_fork, in_background
from gen.parallel.spread import Progress, map_parallel
from gen.parallel.steps import AT_ONCE, Steps, finished, together

__all__ = ["AT_ONCE", "Progress", "Steps", "can_fork", "finished", "in_background", "map_parallel", "together"]
