"""Placeholders for values that are known later: the hash of a run, parameters of trials, results of steps."""

from __future__ import annotations

from gen.base.lazy import regex

HASH_LENGTH = 8
"""Hexadecimal digits of a run's hash."""

RUN = "\ufdd0"
"""Placeholder of the run's hash from plan to patch, before the hash is known.

A Unicode noncharacter, which is there for such uses inside a program; no input can hold it.
"""

TRIAL = "\ufdd4"
"""Placeholder of the name of a trial of a search, which Katib chooses."""

PARAMETER = "\ufdd5"
"""Before and after the name of a parameter. Katib chooses its value."""

RESULT = "\ufdd6"
"""Before and after the step and the name of a result, which Argo Workflows knows when the step has ended."""


def with_hash(text: str) -> str:
    """The text with samples instead of `RUN` and `TRIAL`, to check its form: all hashes have the same length."""
    if RUN not in text and TRIAL not in text:
        return text
    return text.replace(RUN, "0" * HASH_LENGTH).replace(TRIAL, f"trial-{'0' * HASH_LENGTH}")


def parameter(name: str) -> str:
    """Placeholder of a value that Katib chooses."""
    return f"{PARAMETER}{name}{PARAMETER}"


def result(step: str, name: str) -> str:
    """Placeholder of a result of a step."""
    return f"{RESULT}{step}/{name}{RESULT}"


_RESULT = regex(f"{RESULT}([^{RESULT}/]*)/([^{RESULT}]*){RESULT}")


def results_in(text: str) -> list[tuple[str, str]]:
    """The results in a text, each a step and a name, sorted."""
    return sorted(set(_RESULT.findall(text))) if RESULT in text else []


def with_results(text: str, form: str) -> str:
    """The text with a replacement for `re.sub` in place of results. Group 1 is the step, group 2 the name."""
    return _RESULT.sub(form, text) if RESULT in text else text


MARKED_PARAMETER = regex(f"{PARAMETER}([^{PARAMETER}]*){PARAMETER}")
"""A parameter in a text. Group 1 is the name."""


def parameters_in(text: str) -> list[str]:
    """The parameters in a text that get their values later, sorted."""
    return sorted(set(MARKED_PARAMETER.findall(text))) if PARAMETER in text else []


def with_parameters(text: str, form: str) -> str:
    """The text with a replacement for `re.sub` in place of such parameters. Group 1 is the name."""
    return MARKED_PARAMETER.sub(form, text) if PARAMETER in text else text


def readable(text: str) -> str:
    """The text with expressions instead of the placeholders of searches and steps, for messages."""
    text = with_results(text, r"{{ steps.\1.results.\2 }}")
    if TRIAL not in text and PARAMETER not in text:
        return text
    return with_parameters(text.replace(TRIAL, "{{ run.id }}"), r"{{ params.\1 }}")
