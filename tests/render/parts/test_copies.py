"""Scripts of pods that copy inputs, outputs and logs, with a real object store."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from gen.render.parts.containers import source
from tests.render.parts.pod import ODD, Pod
from tests.render.parts.store_server import RCLONE, StoreServer, pause, served, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

needs_rclone = pytest.mark.skipif(RCLONE is None, reason="no `rclone`; set RCLONE to its path")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    if RCLONE is None:
        pytest.skip("no `rclone`; set RCLONE to its path")
    with served(tmp_path_factory.mktemp("store") / "root") as server:
        yield server


@pytest.fixture
def bucket(store: StoreServer, tmp_path: Path) -> Path:
    """A bucket of its own, by its folder on the disk."""
    folder = store.root / tmp_path.name.replace("_", "-").lower()
    folder.mkdir()
    return folder


@needs_rclone
@pytest.mark.parametrize("code", [0, 5])
def test_outputs_are_copied_after_success_and_failure(
    code: int, shell: list[str], store: StoreServer, bucket: Path, tmp_path: Path
) -> None:
    pod = Pod(tmp_path, shell, store.settings)
    target = f"S0:{bucket.name}/{ODD.replace('/', '')}/run-1"
    script_ = f'mkdir "$1/sub dir"; printf x >"$1/sub dir/ünï $(printf 1)"; exit {code}'
    result, _, err = pod.run(["--output", "0", str(pod.out), target], "sh", "-c", script_, "sh", str(pod.out))
    assert result == code, err
    assert [path.read_text() for path in bucket.rglob("ünï 1")] == ["x"]
    (copied,) = bucket.rglob("ünï 1")
    assert copied.relative_to(bucket).parts == (ODD, "run-1", "sub dir", "ünï 1")
    assert not (tmp_path / "pwned").exists()


@needs_rclone
@pytest.mark.parametrize(
    ("pod_index", "copied"), [("0", True), ("0-0", True), ("1", False), ("0-1", False), ("10", False)]
)
def test_only_the_first_pod_copies(
    pod_index: str, copied: bool, store: StoreServer, bucket: Path, tmp_path: Path
) -> None:
    pod = Pod(tmp_path, ["sh"], store.settings)
    (pod.out / "model").write_text("x")
    assert pod.run(["--output", pod_index, str(pod.out), f"S0:{bucket.name}/r"], "true")[0] == 0
    assert (bucket / "r/model").exists() == copied


@needs_rclone
def test_copies_never_delete(shell: list[str], store: StoreServer, bucket: Path, tmp_path: Path) -> None:
    (bucket / "r").mkdir()
    (bucket / "r/checkpoint").write_text("of an earlier attempt")
    pod = Pod(tmp_path, shell, store.settings)
    (pod.out / "model").write_text("x")
    assert pod.run(["--output", "0", str(pod.out), f"S0:{bucket.name}/r"], "true")[0] == 0
    assert sorted(path.name for path in (bucket / "r").iterdir()) == ["checkpoint", "model"]


@needs_rclone
def test_outputs_and_logs_of_a_volume(shell: list[str], tmp_path: Path) -> None:
    pod, volume = Pod(tmp_path, shell), tmp_path / "volume: x"
    (pod.out / "model").write_text("x")
    volume.mkdir()
    options = ["--log", f"{volume}/logs", "", "--output", "0", str(pod.out), f"{volume}/r"]
    assert pod.run(options, "echo", "hello")[0] == 0
    assert (volume / "r/model").read_text() == "x"
    assert pod.logs(volume / "logs", "stdout") == "hello\n"


@needs_rclone
def test_logs_are_copied_and_those_of_earlier_attempts_stay(
    shell: list[str], store: StoreServer, bucket: Path, tmp_path: Path
) -> None:
    pod = Pod(tmp_path, shell, store.settings)
    options = ["--log", str(pod.home / "logs"), f"S0:{bucket.name}/logs"]
    assert pod.run(options, "echo", "first")[0] == 0
    pause(1.1)
    assert pod.run(options, "sh", "-c", "echo second; exit 9")[0] == 9
    assert pod.logs(bucket / "logs", "stdout") == "first\nsecond\n"


@needs_rclone
@pytest.mark.slow
@pytest.mark.parametrize("broken", ["RCLONE_CONFIG_S0_SECRET_ACCESS_KEY", "RCLONE_CONFIG_S0_ENDPOINT"])
def test_a_copy_that_fails_fails_the_pod(broken: str, store: StoreServer, bucket: Path, tmp_path: Path) -> None:
    wrong = {broken: "http://127.0.0.1:9" if broken.endswith("ENDPOINT") else "wrong-secret"}
    pod = Pod(tmp_path, ["sh"], store.settings | wrong | {"RCLONE_LOW_LEVEL_RETRIES": "1"})
    (pod.out / "model").write_text("x")
    target = f"S0:{bucket.name}/r"
    code, _, err = pod.run(["--output", "0", str(pod.out), target], "true")
    assert code == 74
    assert f"gen: cannot copy {pod.out} to {target}" in err
    code, _, _ = pod.run(["--output", "0", str(pod.out), target], "sh", "-c", "exit 17")
    assert code == 17, "the failure of the command is the first one"


def copy_in(folder: Path, shell: Sequence[str], store: StoreServer, *arguments: str) -> subprocess.Popen[str]:
    """A container with the script `copy_in.sh` and rclone on its path."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "rclone").exists():
        (tools / "rclone").symlink_to(str(RCLONE))
    env = {**os.environ, **store.settings, "PATH": f"{tools}:{os.environ['PATH']}"}
    return subprocess.Popen(
        [*shell, "-c", source("copy_in.sh"), "copy", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        cwd=folder,
        start_new_session=True,
    )


@needs_rclone
def test_inputs_are_copied_and_the_tool_is_kept(
    shell: list[str], store: StoreServer, bucket: Path, tmp_path: Path
) -> None:
    (bucket / ODD / "sub dir").mkdir(parents=True)
    (bucket / ODD / "sub dir/ünï").write_text("x")
    (bucket / "file").write_text("y")
    one, two, tool = tmp_path / "one", tmp_path / "two words", tmp_path / "gen/bin/rclone"
    one.mkdir()
    two.mkdir()
    process = copy_in(
        tmp_path, shell, store, str(tool), f"S0:{bucket.name}/{ODD}", str(one), f"S0:{bucket.name}/file", str(two)
    )
    _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert (one / "sub dir/ünï").read_text() == "x"
    assert (two / "file").read_text() == "y"
    assert os.access(tool, os.X_OK)
    assert not (tmp_path / "pwned").exists()


@needs_rclone
def test_an_input_without_files_fails(shell: list[str], store: StoreServer, bucket: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    source_ = f"S0:{bucket.name}/misspelt"
    process = copy_in(tmp_path, shell, store, "", source_, str(tmp_path / "data"))
    _, err = process.communicate(timeout=100)
    assert process.returncode == 3
    assert f"gen: there are no files in {source_}" in err


@needs_rclone
@pytest.mark.slow
def test_an_interrupted_copy_goes_on_where_it_was(
    store: StoreServer, bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (bucket / "small").write_text("x")
    (bucket / "large").write_bytes(os.urandom(40 << 20))
    monkeypatch.setenv("RCLONE_BWLIMIT", "8M")
    process = copy_in(tmp_path, ["sh"], store, "", f"S0:{bucket.name}", str(data))
    monkeypatch.delenv("RCLONE_BWLIMIT")
    wait_for((data / "small").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (data / "large").exists(), "a part has another name until it is complete"
    before = (data / "small").stat().st_ino
    again = copy_in(tmp_path, ["sh"], store, "", f"S0:{bucket.name}", str(data))
    _, err = again.communicate(timeout=100)
    assert again.returncode == 0, err
    assert (data / "large").read_bytes() == (bucket / "large").read_bytes()
    assert (data / "small").stat().st_ino == before


@needs_rclone
@pytest.mark.slow
def test_a_store_that_comes_back_is_tried_again(tmp_path: Path) -> None:
    root, data = tmp_path / "store", tmp_path / "data"
    data.mkdir()
    (root / "bucket").mkdir(parents=True)
    (root / "bucket/file").write_text("x")
    with served(root) as server:
        port = server.port
    process = copy_in(tmp_path, ["sh"], server, "", "S0:bucket", str(data))
    pause(2)
    with served(root, port):
        _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert (data / "file").read_text() == "x"


@needs_rclone
@pytest.mark.slow
def test_inputs_without_credentials_fail(store: StoreServer, bucket: Path, tmp_path: Path) -> None:
    (bucket / "file").write_text("x")
    (tmp_path / "data").mkdir()
    settings = {name: value for name, value in store.settings.items() if "KEY" not in name}
    env = {**os.environ, **settings, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "rclone").symlink_to(str(RCLONE))
    command = ["sh", "-c", source("copy_in.sh"), "copy", "", f"S0:{bucket.name}", str(tmp_path / "data")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode != 0
    assert "api error" in done.stderr
    assert list((tmp_path / "data").iterdir()) == []
