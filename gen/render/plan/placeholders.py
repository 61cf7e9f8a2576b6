"""Places of values that Katib chooses for each trial of a search.

Katib replaces placeholders in the JSON text of a trial, so a value could become anything. Placeholders are only
accepted where a job can write any text, too: in commands, arguments and variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from gen.findings.search import INVALID_SEARCH
from gen.findings.sweeps import SHARED_OUTPUT
from gen.kubernetes import PARAMETER, TRIAL
from gen.regex import regex
from gen.render.plan.context import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gen.diagnostics import Route
    from gen.kinds.plan import PodPlan
    from gen.render.plan.context import Context

_MARK: Final = regex(f"{PARAMETER}([^{PARAMETER}]*){PARAMETER}")
_KATIB: Final = regex(r"\$\{trial(?:Parameters|Spec)\.")


def check_places(context: Context) -> None:
    """Placeholders where Katib would not replace them, or where a value must be known to be checked."""
    for route, text in strings_in(context.given.data):
        if route[0] == "params":
            continue  # checked where they are used
        content = route[0] == "files" and text != route[-1]  # which is in a ConfigMap
        own = _KATIB.search(text) if not content else None
        if own is not None:
            message = f"`{own[0]}…}}` is for Katib, which gen writes the trials for"
            context.error(
                INVALID_SEARCH, route, message, "write `{{ params.<name> }}`, or `{{ run.id }}` for the trial"
            )
        elif (mark := _MARK.search(text)) is not None and not is_free(route):
            message = f"the parameter `{mark[1]}` has no value here: Katib chooses one for each trial"
            context.error(INVALID_SEARCH, route, message, "use it in `command`, `args` or `env`")
        elif TRIAL in text and not (is_free(route) or is_path(route)):
            message = "`run.id` is the name of a trial, which is not known here"
            hint = "use it in `command`, `args`, `env`, `subPath` or `logdir`; `run.hash` is the hash of the search"
            context.error(INVALID_SEARCH, route, message, hint)


def is_free(route: Route) -> bool:
    """Whether a job can write any text there, and trials have it."""
    inner = route[2:] if route[0] == "roles" else route
    return bool(inner) and (inner[0] in PROGRAM or (inner[0] == "env" and len(inner) == 2))  # noqa: PLR2004 - and a name


def is_path(route: Route) -> bool:
    """Whether it is a directory of the run."""
    return (route[0] == "data" and route[-1] == "subPath") or route == ("tensorboard", "logdir")


def strings_in(data: Mapping[str, Any]) -> Iterator[tuple[Route, str]]:
    """Every string in the fields of a job with its route, also the keys of mappings."""
    return _strings(dict(data), ())


def _strings(value: Any, route: Route) -> Iterator[tuple[Route, str]]:
    """Every string in the data, also the keys of mappings."""
    if isinstance(value, str):
        yield route, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield (*route, key), str(key)
            yield from _strings(inner, (*route, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, (*route, index))


def warn_shared_output(context: Context, pods: Iterable[PodPlan], storage: Iterable[str]) -> None:
    """Volumes that trials can write to in the same directory, if no text of the job has the name of the trial."""
    if context.job.search is None or TRIAL.encode() in orjson.dumps(dict(context.given.data)):
        return
    writable = {mount.volume for pod in pods for mount in pod.mounts if not mount.read_only}
    shared = next((name for name in storage if name in writable), None)
    if shared is not None:
        message = f"the trials of the search can write to the same directory of volume `{shared}`"
        path = f"`data: {{{shared}: {{path: …, subPath: '{{{{ run.id }}}}'}}}}`"
        hint = f"write the output below `{{{{ run.id }}}}`, such as with {path}, or mount it with `readOnly: true`"
        context.found.warning(SHARED_OUTPUT, context.place("data", shared, key=True), message, hint)
