"""The write stage: compare `rendered/` with the result of a run, and update it. The only stage that writes."""

from gen.render.write.compare import Change, Comparison, Status, compare
from gen.render.write.swap import apply

__all__ = ["Change", "Comparison", "Status", "apply", "compare"]
