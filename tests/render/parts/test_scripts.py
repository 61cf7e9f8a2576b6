"""Scripts of pods, run in real shells: the command, its signals and its logs."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.render.parts.containers import script, source
from tests.render.parts.pod import ODD, Pod

if TYPE_CHECKING:
    import subprocess


def test_the_kubelet_restores_the_text_of_a_script() -> None:
    """It replaces `$$` by `$` and keeps the rest, without a reference to a variable."""
    for name in ("run.sh", "copy_in.sh"):
        escaped = script(name)
        assert "$(" not in escaped.replace("$$", "")
        assert escaped.replace("$$", "$") == source(name)


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_the_exit_code_is_that_of_the_command(code: int, shell: list[str], tmp_path: Path) -> None:
    pod = Pod(tmp_path, shell)
    logs = tmp_path / "logs"
    command = ("sh", "-c", f"echo out; echo err >&2; exit {code}")
    assert pod.run(["--log", str(logs), ""], *command) == (code, "out\n", "err\n")
    assert pod.logs(logs, "stdout") == "out\n"
    assert pod.logs(logs, "stderr") == "err\n"


def test_arguments_reach_the_command_unchanged(shell: list[str], tmp_path: Path) -> None:
    pod = Pod(tmp_path, shell)
    words = [ODD, "", "-n", "--", "a\nb", "$HOME", "--output"]
    code, out, _ = pod.run([], "printf", "%s|", *words)
    assert (code, out) == (0, "".join(f"{word}|" for word in words))
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_is_missing_fails(shell: list[str], tmp_path: Path) -> None:
    code, _, err = Pod(tmp_path, shell).run([], "no-such-program")
    assert code == 127
    assert "no-such-program" in err


def test_much_text_is_neither_lost_nor_mixed(shell: list[str], tmp_path: Path) -> None:
    pod, logs = Pod(tmp_path, shell), tmp_path / ODD.replace("/", "")
    code, out, err = pod.run(["--log", str(logs), ""], "sh", "-c", "seq 200000; seq 100000 >&2")
    assert code == 0
    assert out.split() == [str(n) for n in range(1, 200001)]
    assert err.split() == [str(n) for n in range(1, 100001)]
    assert (pod.logs(logs, "stdout"), pod.logs(logs, "stderr")) == (out, err)


def test_a_folder_that_cannot_be_written_fails_before_the_command(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    pod = Pod(tmp_path, shell)
    code, out, err = pod.run(["--log", str(tmp_path / "file/logs"), ""], "echo", "started")
    assert (code, out) == (1, "")
    assert "cannot write logs" in err


@pytest.mark.parametrize("stopped", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("log", [True, False])
@pytest.mark.slow
def test_signals_reach_the_command_and_its_code_is_kept(
    stopped: signal.Signals, log: bool, shell: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys, time\n"
        "def end(number, frame):\n"
        "    print('saved', number, flush=True)\n"
        "    sys.exit(42)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "signal.signal(signal.SIGINT, end)\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    pod, logs = Pod(tmp_path, shell), tmp_path / "logs"
    process = pod.start(["--log", str(logs), ""] if log else [], "python3", str(program))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(stopped)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (42, f"saved {int(stopped)}\n")


@pytest.mark.slow
def test_a_signal_reaches_the_program_below_a_shell(shell: list[str], tmp_path: Path) -> None:
    pod = Pod(tmp_path, shell)
    program = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); "
    program += "print('ready', flush=True); time.sleep(60)"
    process = pod.start([], "sh", "-c", f'python3 -c "{program}"; code=$?; echo after; exit $code')
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (7, "after\n")


SAVES = """\
import signal, sys, time
def save(number, frame):
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""
"""A program that a second signal would let save twice."""
TRAPS = {
    "no trap": ("python3 saves.py; code=$?; echo after; exit $code", 7, ["saved", "after"]),
    "below another shell": ("(python3 saves.py; exit $?); exit $?", 7, ["saved"]),
    "in a pipeline": ("{ python3 saves.py; echo code $?; } | cat; exit 4", 4, ["saved", "code 7"]),
    "program in front": (
        "trap 'echo trapped $code; exit 9' TERM; code=; python3 saves.py; code=$?; sleep 60",
        9,
        ["saved", "trapped"],
    ),
    "program in the background": (
        "trap 'kill $pid; wait $pid; echo trapped $?; exit 9' TERM; python3 saves.py & pid=$!; wait",
        9,
        ["saved", "trapped 7"],
    ),
    "trap without a program": ("trap 'echo trapped; exit 9' TERM; echo ready; while :; do :; done", 9, ["trapped"]),
    "program in the background without a trap": ("python3 saves.py & wait $!", 7, ["saved"]),
}
"""Commands, their exit codes, and their output after the signal."""


@pytest.mark.slow
@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("case", TRAPS)
def test_a_signal_reaches_what_the_author_wrote(case: str, log: bool, shell: list[str], tmp_path: Path) -> None:
    text, code, lines = TRAPS[case]
    pod = Pod(tmp_path, shell)
    (tmp_path / "saves.py").write_text(SAVES)
    process = pod.start(["--log", str(tmp_path / "logs"), ""] if log else [], *shell, "-c", text)
    assert (_stopped(process), process.returncode) == (lines, code)


def _stopped(process: subprocess.Popen[str]) -> list[str]:
    """Output of a command after a signal."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=30)[0].splitlines()


@pytest.mark.slow  # waits for the program
def test_a_program_saves_before_the_copy_after_its_shell_has_ended(tmp_path: Path) -> None:
    """Bash ends at once if it has a trap for its end, and none for the signal."""
    if shutil.which("bash") is None:
        pytest.skip("bash is missing")
    pod = Pod(tmp_path, ["sh"])
    (tmp_path / "saves.py").write_text(SAVES)
    options = ["--log", str(tmp_path / "logs"), ""]
    process = pod.start(options, "bash", "-c", "trap 'echo end' EXIT; python3 saves.py; echo after")
    assert sorted(_stopped(process)) == ["end", "saved"]
    assert sorted(pod.logs(tmp_path / "logs", "stdout").splitlines()) == ["end", "ready", "saved"]


@pytest.mark.slow
@pytest.mark.parametrize("user", [0, 65534])
@pytest.mark.parametrize("writable", [True, False])
def test_signals_with_other_rights(user: int, writable: bool, shell: list[str]) -> None:
    """As another user, and with a root file system that cannot be written."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("changes users and mounts, as root, with `setpriv` of util-linux")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        _signals_with_other_rights(user, writable, shell, Path(folder))


def _signals_with_other_rights(user: int, writable: bool, shell: list[str], tmp_path: Path) -> None:
    pod = Pod(tmp_path, shell)
    (tmp_path / "saves.py").write_text(SAVES)
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)
    pod.home.chmod(0o777)
    text, code, lines = TRAPS["program in front"]
    mount = "" if writable else 'mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro / && '
    reduced = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all", "--"]
    start = ["unshare", "--mount", "sh", "-c", f'{mount}shift && exec "$@"', "sh", str(pod.home), *reduced]
    pod.shell = [*start, *shell]
    process = pod.start(["--log", str(pod.home / "logs"), ""], *shell, "-c", f"touch {tmp_path}/x; {text}")
    assert (_stopped(process), process.returncode) == (lines, code)
    assert pod.logs(pod.home / "logs", "stdout").splitlines() == ["ready", *lines]
    assert (tmp_path / "x").exists() == (writable and user == 0)


@pytest.mark.slow
def test_a_program_left_behind_does_not_keep_the_pod(shell: list[str], tmp_path: Path) -> None:
    pod, logs = Pod(tmp_path, shell), tmp_path / "logs"
    process = pod.start(["--log", str(logs), ""], "sh", "-c", "sleep 40 & echo done")
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"
    assert process.wait(timeout=30) == 0
    process.kill()
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


def test_the_command_does_not_see_the_credentials(shell: list[str], tmp_path: Path) -> None:
    pod = Pod(tmp_path, shell, {"RCLONE_CONFIG_S0_SECRET_ACCESS_KEY": "hidden", "TOKEN": "a\nRCLONE_X; touch pwned=1"})
    code, out, _ = pod.run([], "env")
    assert code == 0
    assert "hidden" not in out
    assert "TOKEN=a" in out
    assert not (tmp_path / "pwned").exists()
