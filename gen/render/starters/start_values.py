"""Values that are known only when a run starts: its name, parameters that Katib or a person chooses, results of steps.

They have placeholders. Katib and Argo Workflows replace placeholders in the JSON text of an object, so a value
could become anything. They are only accepted where a job can write any text, too: in commands, arguments and variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gen.base import Route, regex
from gen.base.codes.jobs import INVALID_EXPRESSION, INVALID_SEARCH, INVALID_VALUE
from gen.base.placeholders import MARKED_PARAMETER, RUN, TRIAL
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.model import default_of
from gen.job.plan import Plan, StarterPlan
from gen.render.job_run import ExpandedStep
from gen.render.parts.context import PROGRAM, Context

_KATIB: Final = regex(r"\$\{trial(?:Parameters|Spec)\.")
FILES: Final = (
    "the ConfigMap of an earlier version would be removed while a run needs it",
    "put the files into the image or on a volume",
)
"""Why a job with many runs cannot have `files`, and the remedy."""


def once_only(job: Job, fields: Mapping[str, tuple[str, str]], subject: str) -> Iterator[tuple[str, str, str]]:
    """Fields of jobs that run once which a job sets, each with a message and the remedy."""
    for field, (reason, hint) in fields.items():
        if getattr(job, field) != default_of(type(job), field):
            yield field, f"{subject} cannot have `{field}`: {reason}", hint


def is_free(route: Route) -> bool:
    """Whether a job can write any text there, and trials have it."""
    inner = route[2:] if route[0] == "roles" else route
    return bool(inner) and (inner[0] in PROGRAM or (inner[0] == "env" and len(inner) == 2))  # noqa: PLR2004 - and a name


def is_path(route: Route) -> bool:
    """Whether it is a directory of the run."""
    return (route[0] == "data" and route[-1] == "subPath") or route == ("tensorboard", "logdir")


def strings_in(data: Mapping[str, Data]) -> Iterator[tuple[Route, str]]:
    """Every string in the fields of a job with its route, also the keys of mappings."""
    return _strings(dict(data), ())


def _strings(value: Data, route: Route) -> Iterator[tuple[Route, str]]:
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
        elif (mark := MARKED_PARAMETER.search(text)) is not None and not is_free(route):
            message = f"the parameter `{mark[1]}` has no value here: Katib chooses one for each trial"
            context.error(INVALID_SEARCH, route, message, "use it in `command`, `args` or `env`")
        elif TRIAL in text and not (is_free(route) or is_path(route)):
            message = "`run.id` is the name of a trial, which is not known here"
            hint = "use it in `command`, `args`, `env`, `subPath` or `logdir`; `run.hash` is the hash of the search"
            context.error(INVALID_SEARCH, route, message, hint)


def check_run_names(context: Context, starter: type[StarterPlan]) -> None:
    """Report names of the run in places where they must be known."""
    texts = [*strings_in({name: value for name, value in context.given.data.items() if name != "steps"})]
    with_time = " with its time" if starter.repeats else ""
    route = next((route for route, text in texts if RUN in text), None)
    if route is not None and TRIAL in context.object_name:
        message = f"`run.hash` has no value {starter.where}"
        hint = f"use `run.id`, which is the name of the run{with_time}"
        context.error(INVALID_EXPRESSION, route, message, hint)
    elif route is not None:
        message = f"`run` has no value {starter.where}"
        hint = "use the variable `JOB_NAME` instead of `run`, such as `$JOB_NAME` in a command of the shell"
        context.error(INVALID_EXPRESSION, route, message, hint)
    unknown = (route for route, text in texts if TRIAL in text)
    route = next((route for route in unknown if not (is_free(route) or is_path(route))), None)
    if route is not None:
        message = f"`run.id` is the name of a run{with_time}, which is not known here"
        hint = "use it in `command`, `args`, `env`, `subPath` or `logdir`"
        context.error(INVALID_EXPRESSION, route, message, hint)


def check_step(step: ExpandedStep, plan: Plan) -> None:
    """Report fields of a step that need an object of each run, for a pipeline with runs that are named later."""
    run = step.run
    if run is None or run.later is None or not run.later.creator:
        return
    job, later = run.given.job, run.later
    if job.files:
        reason, hint = FILES
        message = f"a step of a pipeline with {later.phrase} cannot have `files`: {reason}"
        step.found.error(INVALID_VALUE, run.given.place("files", key=True), message, hint)
    for body in job.companions(plan):
        message = (
            f"{job.facts.noun} with several pods needs a {body['kind']}, "
            f"and {later.creator} creates only one object for a step"
        )
        hint = "remove `workers`, or use a kind with an operator, such as `kind: pytorch`"
        step.found.error(INVALID_VALUE, run.given.place("workers"), message, hint)
