"""The script of the init container that waits for pods, run by a shell with a `getent` of the test."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from gen.render.parts.containers import source

if TYPE_CHECKING:
    from pathlib import Path

GETENT = """\
#!/bin/sh
# the second question after a name has an answer
echo "$2" >>"$0.asked"
[ "$(grep -c "^$2\\$" "$0.asked")" -gt 1 ]
"""


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", "-c", source("wait_for_pods.sh"), "sh", "run-worker-%d.run", "2"]
    return subprocess.run(command, env={"PATH": f"{folder}:/bin"}, capture_output=True, text=True, check=False)


def test_each_name_is_asked_for_until_it_resolves(tmp_path: Path) -> None:
    getent = tmp_path / "getent"
    getent.write_text(GETENT, "utf-8")
    getent.chmod(0o755)
    pause = tmp_path / "sleep"
    pause.write_text('#!/bin/sh\necho "$1" >>"$0.asked"\n', "utf-8")
    pause.chmod(0o755)
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    asked = (tmp_path / "getent.asked").read_text("utf-8").split()
    assert asked == ["run-worker-0.run"] * 2 + ["run-worker-1.run"] * 2
    assert (tmp_path / "sleep.asked").read_text("utf-8").split() == ["1", "1"], "a pause after each question"


def test_an_image_without_getent_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    command = ["/bin/sh", "-c", source("wait_for_pods.sh"), "sh", "run-worker-%d.run", "2"]
    done = subprocess.run(command, env={"PATH": str(tmp_path / "empty")}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
