"""Job files that another process reads while this one imports the models and the schemas, which takes longer.

Importing this module imports the reader of YAML, and nothing else that is heavy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

from gen.base import Findings
from gen.base.parallel import can_fork, in_background
from gen.base.repository.job_files import all_jobs, has_jobs
from gen.base.yaml.source import Source, read

Sources = dict[str, "Source"]
"""Job files without a finding, by path."""
Ahead = Callable[[], Sources | None]
"""Waits for the files; None if the process was killed."""

MIN_FILES = 200
"""A process for fewer takes longer than it saves."""
MAX_FILES = 1000
"""As many as are read before the imports are done."""


@contextmanager
def read_ahead(root: Path) -> Iterator[Ahead | None]:
    """Begin to read the job files of a repository. Those with findings are left out, so that the run reports them.

    None if there are few files, or if the system cannot fork.
    """
    if not can_fork() or not has_jobs(root, MIN_FILES):
        yield None
        return
    with in_background(partial(_sources, root)) as ahead:
        yield ahead


def _sources(root: Path) -> Sources:
    sources = {}
    for job in islice(all_jobs(root, Findings()), MAX_FILES):
        source = read(root, job.file, found := Findings())
        if source is not None and not found.items:
            sources[job.file] = source
    return sources
