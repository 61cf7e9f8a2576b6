"""Evaluation of the expressions of a job: the values available to them, and the handling of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct, field

from gen.findings.jobs import INVALID_EXPRESSION
from gen.kubernetes import RUN
from gen.regex import regex
from gen.render.parse.expression import LITERAL, ExpressionError, FollowingError, Values, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Layers
    from gen.overlay.overlay import Overlay

MAX_INSERTED = 1 << 20
"""Characters that the expressions of one job may insert."""
_TOO_LONG = f"the expressions of the job insert more than {MAX_INSERTED} characters"
MAX_REPORTED = 100
"""Findings of one job. More would not help, and a file can be constructed to have ten thousand: no expression is
evaluated after them."""
_FIXED = frozenset({"params", "name", "kind", "steps"})
"""Fields without expressions, or evaluated before the others, or for each step of its own."""


_FOREIGN = (
    (
        regex(r"\{%[-+]?\s*(?:if|elif|else|endif|for|endfor|set|block|include|import|macro|raw|with|filter|call)\b"),
        "template statements (`{%`) are not supported",
        "remove it; set what differs between overlays in their `params`; to write `{%` itself, write `{{ '{%' }}`",
    ),
    (
        regex(r"(?<!\$)\{#[^\n#]*#\}"),
        "template comments (`{#`) are not supported",
        "remove it; to write `{#` itself, write `{{ '{#' }}`",
    ),
    (
        regex(r"\$\{\{"),
        "`${{ … }}` inserts a `$` before the value",
        "remove the `$`; to write `$` itself, write `{{ '$' }}`",
    ),
)
"""Syntax of Jinja that gen does not have, and of GitHub Actions: pattern, message, hint."""


class _Undecided(dict[str, str | None]):
    """Values that only an overlay can provide: every name is defined, and its value is unknown."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        return None


class Evaluated(Struct, frozen=True):
    """The data of a job, with all expressions replaced except those that failed."""

    data: dict[str, Data]
    failed: frozenset[Route]
    """Routes of strings that still contain expressions. Their errors are reported here or in an overlay."""


class _Evaluation(Struct):
    """Evaluates the expressions in every string of nested data, and reports errors."""

    values: Values
    layers: Layers
    found: Findings
    room: int = MAX_INSERTED
    failed: list[Route] = field(default_factory=list)
    reported: int = 0

    def of(self, data: Data, route: Route) -> Data:
        if isinstance(data, str):
            if "{" not in data:
                return data
            if "{%" in data or "{#" in data or "${{" in data:
                self._foreign(data, route)
            return self._text(data, route) if "{{" in data else data
        if isinstance(data, dict):
            return {key: self.of(value, (*route, key)) for key, value in data.items()}
        return [self.of(value, (*route, index)) for index, value in enumerate(data)]

    def _foreign(self, text: str, route: Route) -> None:
        """Report syntax of other template languages. The text of a file may be a template itself."""
        for pattern, message, hint in _FOREIGN if route[0] != "files" else ():
            if (match := pattern.search(text)) is not None:
                self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, match[0]), message, hint)

    def _text(self, text: str, route: Route) -> str:
        if self.room >= 0 and self.reported <= MAX_REPORTED:
            try:
                result = evaluate(text, self.values)
            except FollowingError:
                pass
            except ExpressionError as error:
                self._report(error, text, route)
            else:
                self.room -= len(result) - len(text)
                if self.room >= 0:
                    return result
                self._report(ExpressionError(_TOO_LONG, "keep long texts in `files` or on a volume"), text, route)
        self.failed.append(route)
        return text

    def _report(self, error: ExpressionError, text: str, route: Route) -> None:
        self.reported += 1
        if self.reported > MAX_REPORTED:
            return
        hint = f"{error.hint}; {LITERAL}" if error.hint else LITERAL
        start = text[error.offset :].split("\n", 1)[0].split("\r", 1)[0]
        part = start[: start.find("}}") + 2] if "}}" in start else start
        self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, part), error.message, hint)


def evaluated(
    data: dict[str, Data],
    job: Mapping[str, str],
    run: str,
    values: Mapping[str, str | None],
    overlay: Overlay | None,
    layers: Layers,
    found: Findings,
) -> Evaluated:
    """The data with its expressions replaced; `job` contains the values of `{{ job.… }}`.

    `run` is the name of the run, `values` are the parameters that a sweep or a search sets for it.

    Parameters are evaluated first, and cannot refer to each other. Without an overlay, expressions that depend on one
    are left unevaluated.
    """
    scopes = {
        "job": job,
        "run": {"id": run, "hash": RUN},
        "overlay": {"name": overlay.name} if overlay else _Undecided(),
    }
    evaluation = _Evaluation(scopes, layers, found)
    params = _params(evaluation, data.get("params", {}))
    if overlay is not None:
        params |= _params(_Evaluation(scopes, overlay.layers, found), cast("Data", overlay.fields.params))
    evaluation.values = {**scopes, "params": {**params, **values} if overlay else _Undecided()}
    result = {name: value if name in _FIXED else evaluation.of(value, (name,)) for name, value in data.items()}
    return Evaluated(result, frozenset(evaluation.failed))


def _params(evaluation: _Evaluation, params: Data) -> dict[str, str | None]:
    """Value by name, without values of other types, which the model reports."""
    if not isinstance(params, dict):
        return {}
    texts = cast("dict[str, Data]", evaluation.of(params, ("params",)))
    failed = {route[1] for route in evaluation.failed}
    return {name: text if isinstance(text, str) and name not in failed else None for name, text in texts.items()}
