"""Write the action for GitHub and the component for GitLab: `python -m scripts.actions`.

They are the steps, jobs and scripts that `gen init` writes to repositories that can use neither.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Final

from gen.commands.init import Request, repository_files

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT: Final = Path(__file__).parents[1]
_HEAD: Final = "# Written by `python -m scripts.actions`, from gen/templates/init.\n"
_ACTION: Final = """\
{head}# {note}
name: {name}
description: {description}
runs:
  using: composite
  steps:
{steps}"""


def shared_files() -> Mapping[str, str]:
    """Texts by path in the project."""
    raw = repository_files(Request(folder=Path()), example=False, source="")
    check, comment = (_steps(raw[f".github/workflows/{name}.yml"].decode()) for name in ("check", "comment"))
    script = raw["ci/github_comment.py"].decode()
    return {
        "actions/check/action.yml": _ACTION.format(
            head=_HEAD,
            note="The job may read contents, and nothing else.",
            name="gen check",
            description="Check a change with gen of the base branch, and keep its plan",
            steps=check,
        ),
        "actions/comment/action.yml": _ACTION.format(
            head=_HEAD,
            note="For the event `workflow_run`. Nothing is checked out: the script is the one in this folder.",
            name="gen comment",
            description="Post the plan that a run of gen check kept",
            steps=comment[comment.index("    - name: Comment\n") :].replace(
                "python3 -I ci/github_comment.py", 'python3 -I "$GITHUB_ACTION_PATH/comment.py"'
            ),
        ),
        "actions/comment/comment.py": _HEAD + script,
        "templates/check.yml": _component(raw[".gitlab-ci.yml"].decode(), raw["ci/gitlab_comment.py"].decode()),
    }


def _steps(workflow: str) -> str:
    """The steps of the only job, indented as those of an action."""
    steps = workflow.partition("    steps:\n")[2]
    return "".join(line.removeprefix("  ") for line in steps.splitlines(keepends=True))


def _component(jobs: str, script: str) -> str:
    """The jobs, with the script of the comment in its job: a component has no files."""
    before, name, comment = jobs[jobs.index(".base: ") :].partition("\ncomment:\n")
    call = '    - python3 -I "$tools/ci/gitlab_comment.py" gen-report/plan.md\n'
    inline = f"    - |\n      python3 -I - gen-report/plan.md << 'EOF'\n{indent(script, '      ')}      EOF\n"
    assert call in comment
    return _HEAD + before + name + comment.replace("    - *base\n", "").replace(call, inline)


def main() -> None:
    for path, text in shared_files().items():
        (PROJECT / path).parent.mkdir(parents=True, exist_ok=True)
        (PROJECT / path).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
