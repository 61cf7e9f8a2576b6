"""The algorithms of a search: their names, their settings, and the spaces that they can search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

from gen.base import Route, did_you_mean
from gen.base.codes.jobs import INVALID_SEARCH
from gen.job.search import NUMBER, WHOLE, Search, SearchAlgorithm, Space, is_finite, long_algorithm
from gen.kubernetes.facts.katib import ALGORITHMS, DEFAULT_ETA, STOPPERS, Algorithm, Setting
from gen.render.emit import SEARCH
from gen.render.parts.context import Context

_MOST_COMBINATIONS = 1_000_000
_ALGORITHM: Route = (SEARCH, "algorithm")


def check_algorithm(context: Context, wanted: Search) -> SearchAlgorithm:
    """The algorithm in its long form. Reports what its service would reject after the experiment was created."""
    algorithm = long_algorithm(wanted.algorithm)
    facts = _known(context, algorithm, ALGORITHMS, _ALGORITHM, tuple(wanted.params))
    if wanted.early_stopping is not None:
        _known(context, long_algorithm(wanted.early_stopping), STOPPERS, (SEARCH, "earlyStopping"), ())
    if facts is not None:
        _check_spaces(context, wanted, algorithm.name, facts)
        if facts.finite:
            _check_combinations(context, wanted)
        if facts.brackets:
            _check_bracket(context, wanted, algorithm)
    return algorithm


def _known(
    context: Context, given: SearchAlgorithm, known: Mapping[str, Algorithm], route: Route, parameters: tuple[str, ...]
) -> Algorithm | None:
    """The facts of an algorithm; None for an unknown one. Reports invalid settings."""
    name = (*route, "name") if given.settings or isinstance(_at(context, route), dict) else route
    facts = known.get(given.name)
    if facts is None:
        message = f"unknown algorithm `{given.name}`"
        context.error(INVALID_SEARCH, name, message, did_you_mean(given.name, known))
        return None
    for missing in (one for one in facts.needed if one not in given.settings):
        message = f"`{given.name}` needs the setting `{missing}`"
        context.error(INVALID_SEARCH, name, message, f"add `settings: {{{missing}: …}}`")
    for setting, value in given.settings.items():
        here = (*route, "settings", setting)
        if setting not in facts.settings:
            message = f"`{given.name}` has no setting `{setting}`"
            hint = did_you_mean(setting, facts.settings, otherwise="remove it")
            context.error(INVALID_SEARCH, here, message, hint, key=True)
        elif expected := _fault(facts.settings[setting], value, parameters):
            message = f"`{setting}`: expected {expected}, got `{value}`"
            context.error(INVALID_SEARCH, here, message, f"write {expected}")
    return facts


def _at(context: Context, route: Route) -> object:
    search = context.given.data.get(str(route[0]))
    return search.get(str(route[1])) if isinstance(search, dict) else None


def _fault(setting: Setting, value: str, parameters: tuple[str, ...]) -> str:
    """The expected value; empty if the value is valid."""
    if setting.parameter or setting.words:
        words = parameters if setting.parameter else setting.words
        return "" if value in words else f"one of {', '.join(f'`{word}`' for word in words)}"
    pattern = WHOLE if setting.whole else NUMBER
    noun = "an integer" if setting.whole else "a number"
    bounds = f"{'above' if setting.above else 'of at least'} {setting.least:g}"
    bounds += f" and below {setting.below:g}" if setting.below is not None else ""
    if pattern.fullmatch(value) is None or not is_finite(value):
        return f"{noun} {bounds}"
    number = float(value)
    low = number > setting.least if setting.above else number >= setting.least
    return "" if low and (setting.below is None or number < setting.below) else f"{noun} {bounds}"


def _check_spaces(context: Context, wanted: Search, name: str, facts: Algorithm) -> None:
    """Fields of spaces that the algorithm ignores, and spaces that it cannot search."""
    ranges = 0
    for parameter, space in wanted.spaces.items():
        route = (SEARCH, "params", parameter)
        ranges += space.values is None
        if space.step is not None and not facts.steps:
            context.error(INVALID_SEARCH, (*route, "step"), f"`{name}` ignores `step`", "list the numbers in `values`")
        if space.distribution not in ("uniform", *facts.distributions):
            message = f"`{name}` ignores `distribution: {space.distribution}`"
            obeying = [one for one, other in ALGORITHMS.items() if space.distribution in other.distributions]
            hint = f"remove it, or use one of {', '.join(f'`{one}`' for one in obeying)}"
            context.error(INVALID_SEARCH, (*route, "distribution"), message, hint)
        if facts.finite and space.kind == "double" and space.step is None:
            message = f"`{name}` needs the `step` of a range of decimals"
            context.error(INVALID_SEARCH, route, message, "add `step`, or list the numbers in `values`", key=True)
    if ranges < facts.ranges:
        message = f"`{name}` needs {facts.ranges} parameters with a range, and the search has {ranges}"
        context.error(INVALID_SEARCH, _ALGORITHM, message, "use another algorithm, such as `tpe`")


def _check_combinations(context: Context, wanted: Search) -> None:
    """A grid ends with its combinations, so more trials are an error of its service."""
    counts = [_count(space) for space in wanted.spaces.values()]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return
    if (most := math.prod(known)) > _MOST_COMBINATIONS:
        message = f"the grid has more than {_MOST_COMBINATIONS} combinations, and its service lists all of them"
        hint = "write a larger `step`, or use `algorithm: random`"
        context.error(INVALID_SEARCH, (SEARCH, "params"), message, hint, key=True)
    elif wanted.max_trials > most:
        message = f"`maxTrials` is {wanted.max_trials}, and the grid has {most} combinations"
        context.error(INVALID_SEARCH, (SEARCH, "maxTrials"), message, f"write `maxTrials: {most}`, or add values")


def _count(space: Space) -> int | None:
    """Values of a space; None for a range without steps."""
    if space.values is not None:
        return len(space.values)
    step = space.step or ("1" if space.kind == "int" else None)
    if space.min is None or space.max is None or step is None:
        return None
    return int((Decimal(space.max) - Decimal(space.min)) / Decimal(step)) + 1


def _check_bracket(context: Context, wanted: Search, algorithm: SearchAlgorithm) -> None:
    """The trials of a bracket run at the same time (`pkg/suggestion/v1beta1/hyperband/service.py`)."""
    resource, eta = algorithm.settings.get("r_l", ""), algorithm.settings.get("eta", str(DEFAULT_ETA))
    known = ALGORITHMS[algorithm.name].settings
    if _fault(known["r_l"], resource, ()) or _fault(known["eta"], eta, ()):
        return  # an invalid setting, which is reported
    least = int(eta) ** int(math.log(float(resource)) / math.log(int(eta)))
    if wanted.parallel_trials < least:
        message = f"`{algorithm.name}` starts {least} trials at once, and `parallelTrials` is {wanted.parallel_trials}"
        context.error(
            INVALID_SEARCH, (SEARCH, "parallelTrials"), message, f"write `parallelTrials: {least}`, or reduce `r_l`"
        )
