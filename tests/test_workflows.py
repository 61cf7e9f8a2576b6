"""The workflows and actions of the project: linters find nothing, actions have digests, all Pythons are tested."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from scripts.actions import shared_files
from tests.commands.init.support import run
from tests.commands.init.test_linters import tool
from tests.support import PROJECT

FOLDER = PROJECT / ".github/workflows"
ACTIONS = {path: text for path, text in shared_files().items() if path.endswith("action.yml")}
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(TEXTS[name])["jobs"]
    return found


@pytest.mark.slow
def test_linters_find_nothing() -> None:
    done = run(tool("zizmor", "pip install zizmor"), "--offline", "--no-progress", ".github", "actions", cwd=PROJECT)
    assert done.returncode == 0, done.stdout
    remedy = "go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
    done = run(tool("actionlint", remedy), "-no-color", *(str(FOLDER / name) for name in TEXTS), cwd=PROJECT)
    assert done.returncode == 0, done.stdout


def test_every_supported_python_and_the_newest_are_tested() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = {one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)}
    matrix = jobs("test.yml")["test"]["strategy"]["matrix"]
    assert supported | {"3.x"} == set(matrix["python"])
    assert project["requires-python"] == f">={min(supported, key=lambda one: int(one[2:]))}"
    assert {one.partition("-")[0] for one in matrix["runner"]} == {"ubuntu", "macos"}


def test_actions_are_those_of_gen_init_or_have_a_digest() -> None:
    texts = [*TEXTS.values(), *ACTIONS.values()]
    used = [line for text in texts for line in re.findall(r"uses: (.*)", text)]
    assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", line)] == []
    pinned = dict(re.findall(r"uses: ([\w/-]+)@(\S+)", "\n".join(ACTIONS.values())))
    assert pinned
    own = dict(re.findall(r"uses: ([\w/-]+)@(\S+)", "\n".join(TEXTS.values())))
    assert {name: pin for name, pin in pinned.items() if own.get(name, pin) != pin} == {}


def test_only_what_publishes_may_do_more_than_read() -> None:
    """The jobs that build and test have no right that others could use."""
    rights = {
        f"{name} {job}": {right: level for right, level in body["permissions"].items() if level != "read"}
        for name in TEXTS
        for job, body in jobs(name).items()
    }
    assert {job: more for job, more in rights.items() if more} == {
        "docs.yml deploy": {"id-token": "write", "pages": "write"},
        "release.yml attest": {"attestations": "write", "id-token": "write"},
        "release.yml publish": {"id-token": "write"},
        "release.yml publish-image": {"attestations": "write", "id-token": "write", "packages": "write"},
    }
    assert all("secrets." not in text and yaml.safe_load(text)["permissions"] == {} for text in TEXTS.values())


def test_the_action_and_the_component_are_those_of_gen_init() -> None:
    """Remedy: `python -m scripts.actions`."""
    assert {path: (PROJECT / path).read_text("utf-8") for path in shared_files()} == shared_files()


def test_no_expression_is_in_a_script_of_an_action() -> None:
    """An expression in a script is how a title becomes a command."""
    steps = [step for text in ACTIONS.values() for step in yaml.safe_load(text)["runs"]["steps"]]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 4
    assert not any("${{" in script for script in scripts)
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    assert [step["with"]["persist-credentials"] for step in steps if "checkout@" in step.get("uses", "")] == [False]
