"""References of steps to the results of steps before them, such as `{{ steps.train.results.best }}`.

They become placeholders, which the seal stage writes as parameters of Argo Workflows. A value can only be where a job
can write any text, too: in commands, arguments and variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.diagnostics import did_you_mean
from gen.findings.jobs import INVALID_EXPRESSION
from gen.kubernetes import result
from gen.regex import regex
from gen.render.plan.placeholders import is_free

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Layers
    from gen.model.step import Order

_REFERENCE: Final = regex(r"\{\{-?\s*steps\.(?P<step>[A-Za-z0-9_-]+)\.results\.(?P<name>[A-Za-z0-9_-]+)\s*-?\}\}")


class References(Struct, frozen=True, kw_only=True):
    """Results that the texts of a step may use."""

    step: str
    order: Order
    steps: Mapping[str, Data]
    """All steps of the pipeline, as their authors write them."""
    layers: Layers
    found: Findings

    def replaced(self, data: Data, route: Route = ()) -> Data:
        """The data with placeholders for results. Other places keep the expression, which is then invalid."""
        if isinstance(data, str):
            free = "steps." in data and is_free(route)
            return _REFERENCE.sub(lambda match: self._result(match, route), data) if free else data
        if isinstance(data, dict):
            return {key: self.replaced(value, (*route, key)) for key, value in data.items()}
        return [self.replaced(value, (*route, index)) for index, value in enumerate(data)]

    def _result(self, match: re.Match[str], route: Route) -> str:
        step, name = match["step"], match["name"]
        fault = self._fault(step, name)
        if fault is not None:
            self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, match[0]), *fault)
        return result(step, name)

    def _fault(self, step: str, name: str) -> tuple[str, str] | None:
        """Message and hint."""
        others = [other for other in self.steps if other != self.step]
        known = _results(self.steps.get(step))
        if step == self.step:
            return "a step cannot use a result of its own", "remove the expression from the step"
        if step not in self.steps:
            return f"the pipeline has no step `{step}`", did_you_mean(step, others, otherwise="remove the expression")
        if step not in self.order.needs:
            message = f"the step `{self.step}` does not need `{step}`, so that the result is not known when it starts"
            return message, f"add `{step}` to `needs` of the step"
        if self.order.when != "succeeded":
            message = f"the result of `{step}` may not exist with `when: {self.order.when}`"
            return message, "remove `when`, or read the value from a file on a volume"
        if name not in known:
            otherwise = f"add it to `results` of the step `{step}`"
            return f"the step `{step}` has no result `{name}`", did_you_mean(name, known, otherwise=otherwise)
        return None


def _results(step: Data | None) -> list[str]:
    results = step.get("results") if isinstance(step, dict) else None
    return [str(name) for name in results] if isinstance(results, dict) else []
