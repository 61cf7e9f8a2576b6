"""The last stage: what is on disk against what should be there, and making it so. The only stage that writes."""

from gen.render.write.compare import Change, Comparison, Status, compare
from gen.render.write.swap import apply

__all__ = ["Change", "Comparison", "Status", "apply", "compare"]
