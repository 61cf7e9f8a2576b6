"""`gen move`: the commands of a change that moves objects to another overlay of their cluster, or to another engine.

The change is in the work tree, and rendered. It is compared with the base, as by `gen plan`, which refuses it in one
step.
"""

from __future__ import annotations

from msgspec import Struct

from gen.base import Findings
from gen.base.repository.git import find_base
from gen.commands.common import CLEAN, VIOLATIONS, Base, Result, Root, repository
from gen.overlay import load_extensions
from gen.review.gpus_and_costs import read_overlays
from gen.review.moves import moves, same_clusters, steps, unknown_clusters
from gen.review.rendered_trees import match_objects, read_trees

FORMATS = None


class Request(Struct, frozen=True, kw_only=True):
    base: Base = None
    root: Root = None


def run(request: Request) -> Result[str]:
    """Exit code 1 if `rendered/` cannot be read. UsageError when there is nothing to compare with."""
    root = repository(request.root)
    base = find_base(root, request.base)
    load_extensions(root)
    found = Findings()
    trees = read_trees(root, base, found)
    clusters = same_clusters(trees, read_overlays(root, (), found))
    pairs = match_objects(trees, found, clusters)
    lines = [*steps(moves(pairs, trees)), *unknown_clusters(pairs, clusters)]
    text = "".join(f"{line}\n" for line in lines) or "no object gets another owner\n"
    errors = "".join(f"{one.place}: {one.message}\n" for one in found if one.is_error)
    return Result(output=errors or text, exit_code=VIOLATIONS if errors else CLEAN)
