"""The image that `Containerfile` describes, built and started as CI starts it: no rights, nothing to write but `/tmp`.

`GEN_IMAGE_BASE` names a base for machines that reach no registry, such as one that `buildah` made of a `debootstrap`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.support import PROJECT, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # builds and installs

BASE: Final = os.environ.get("GEN_IMAGE_BASE", "docker.io/library/python:3.13-slim-trixie")
MOST_MEGABYTES: Final = 220
"""Of all that is added to the base."""
START: Final = """
set -e
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
mount -t tmpfs tmpfs "$1/tmp" && mount -t proc proc "$1/proc" && mount --bind "$2" "$1/work"
root=$1 && shift 2
exec env -i PATH=/opt/gen/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp \\
  chroot --userspec=65532:65532 "$root" sh -ec 'cd /work && exec "$@"' - "$@"
"""


def buildah(*words: str | Path) -> str:
    command = ["buildah", "--storage-driver", "vfs", *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode != 0 and ("pinging container registry" in done.stderr or "No matching dist" in done.stderr):
        pytest.skip("no registry has the base, or no index the dependencies: GEN_IMAGE_BASE names another base")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Folder of the image's files."""
    if shutil.which("buildah") is None or os.geteuid() != 0:
        pytest.skip("needs root and buildah: apt-get install buildah")
    built = buildah(
        "bud", "--isolation", "chroot", "--quiet", "--build-arg", f"BASE={BASE}", "--file", "Containerfile", "."
    )
    container = buildah("from", "--pull-never", built)
    try:
        yield buildah("mount", container)
        assert buildah("inspect", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}", container) == (
            "65532:65532 [gen]"
        )
    finally:
        buildah("rm", container)
        buildah("rmi", built)


def started(image: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", START, "-", image, str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_renders_the_example_without_rights_or_network(image: str, tmp_path: Path) -> None:
    for name in ("jobs", "overlays"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 65532, 65532)
    done = started(image, tmp_path, "gen", "render")
    assert done.returncode == 0, done.stdout + done.stderr
    assert tree(tmp_path / "rendered") == tree(PROJECT / "rendered")
    git = (
        "git init --quiet . && git add . && git -c user.name=a -c user.email=a@b commit --quiet --message a && gen plan"
    )
    done = started(image, tmp_path, "sh", "-ec", git)
    assert "no run starts or stops" in done.stdout, done.stdout + done.stderr


def test_nothing_else_can_be_written(image: str, tmp_path: Path) -> None:
    os.chown(tmp_path, 65532, 65532)
    for path in ("/opt/gen/bin/gen", "/usr/bin/env", "/etc/passwd"):
        assert "cannot create" in started(image, tmp_path, "sh", "-c", f": >> {path}").stderr
    assert started(image, tmp_path, "sh", "-c", "id -u; command -v pip; ls /opt/gen/bin/pip").stdout == "65532\n"


def test_it_is_small(image: str) -> None:
    size = sum(path.lstat().st_size for path in Path(image, "opt/gen").rglob("*") if path.is_file())
    assert size < MOST_MEGABYTES << 20, f"{size >> 20} MiB"
