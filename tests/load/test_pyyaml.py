"""PyYAML as gen imports it: without its patterns, which are compiled for whoever uses its readers in Python."""

from __future__ import annotations

import subprocess
import sys

import pytest

_COUNT = """
import re, re._compiler, sys
compiled, made = re.compile, []
compile_one = re._compiler.compile
def counted(pattern, flags=0):
    made.append(sys._getframe(3).f_code.co_filename)
    return compile_one(pattern, flags)
re._compiler.compile = counted
"""
_USE = r"""
import datetime, yaml
text = "[1, 0b10, 1.5, yes, null, 2026-01-02, 2026-01-02T03:04:05Z, {<<: {a: b}}, 1:30, word, =]"
print(yaml.load(text.replace(", =", ""), yaml.SafeLoader) == yaml.load(text.replace(", =", ""), yaml.CSafeLoader))
print(yaml.safe_load(text.replace(", =", "")))
for loader in (yaml.SafeLoader, yaml.FullLoader, yaml.Loader, yaml.BaseLoader):
    try: yaml.load("a: \x07", loader)
    except yaml.reader.ReaderError as error: print(error.reason, error.position)
print(yaml.safe_dump(["yes", "1", "2026-01-02", "=", "word"], default_flow_style=True))
"""


def _python(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_no_pattern_of_pyyaml_is_compiled_at_the_start() -> None:
    of_yaml = "print(sum('/yaml/' in name for name in made), re.compile is compiled)"
    assert _python(f"{_COUNT}import gen.load\n{of_yaml}") == ["0 True"]
    without = _python(f"{_COUNT}import yaml\n{of_yaml}")
    assert without != ["0 True"], "PyYAML compiles none: `gen.load.pyyaml` is not necessary any more"


@pytest.mark.parametrize("first", ["gen.load", "gen.load.pyyaml", "yaml, gen.load"])
def test_readers_and_writers_in_python_work_as_ever(first: str) -> None:
    expected = _python(_USE)
    assert expected[0] == "True"
    assert expected.count("special characters are not allowed 3") == 4
    assert _python(f"import {first}\n{_USE}") == expected


def test_re_is_restored_where_pyyaml_cannot_be_imported() -> None:
    script = (
        "import re, sys; compiled = re.compile; sys.modules['yaml'] = None\n"
        "try: import gen.load.pyyaml\n"
        "except ImportError: print(re.compile is compiled)"
    )
    assert _python(script) == ["True"]
