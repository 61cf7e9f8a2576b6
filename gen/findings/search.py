"""Finding codes for searches."""

from __future__ import annotations

from gen.findings.code import Code

INVALID_SEARCH = Code(
    "invalid-search",
    "Katib cannot run a search, or could not read its metric: an unknown algorithm or setting, a space that does not "
    "fit the algorithm, a parameter that no trial uses, or a kind that cannot be a trial.",
    "Katib rejects the Experiment, or creates it and lets it fail.",
    "Correct the field; the finding names the accepted values.",
)
