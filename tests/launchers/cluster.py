"""Pods as processes, each with its own network, host name and `/etc/hosts`, as root in new namespaces.

Run as a program, it reads pods as JSON, starts them together, and prints their exit codes and output as JSON. It takes
the pods with it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

NEEDED = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2"}
"""Programs, and the packages of Debian that have them."""
_START = """
read -r _
hostname "$1" && mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run && mkdir /run/sshd || exit
for folder in etc root; do
  options=lowerdir=/$folder,upperdir=$2/upper/$folder,workdir=$2/work/$folder
  mount -t overlay "$folder" -o "$options" "/$folder" || exit
done
cd "$3" && shift 3 && exec "$@"
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pod:
    """A pod that runs."""

    name: str
    """Its host name."""
    address: str
    names: tuple[str, ...]
    """Names that other pods find it by."""
    own_names: tuple[str, ...]
    """Names in its own `/etc/hosts`, the full one first."""
    env: dict[str, str]
    command: tuple[str, ...]
    folder: str
    files: dict[str, str]
    """Content of more files in `/etc` and `/root`."""
    serves: bool = False
    """Whether it goes on until the others have ended."""


def run(pods: list[Pod], timeout: float) -> dict[str, tuple[int | None, str]]:
    """Exit codes, None after the time limit, and output by pod. It returns when all pods but servers have ended."""
    namespaces = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    text = json.dumps({"pods": [asdict(pod) for pod in pods], "timeout": timeout})
    program = [*namespaces, sys.executable, __file__]
    done = subprocess.run(program, input=text, capture_output=True, text=True, timeout=timeout + 60, check=False)
    assert done.returncode == 0, done.stderr
    return {name: (code, output) for name, (code, output) in json.loads(done.stdout).items()}


def missing() -> str:
    """What this machine lacks; empty if it can start pods."""
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            return f"{program} is missing; on Debian, install {package}"
    bridge = ["unshare", "--net", "ip", "link", "add", "gen0", "type", "bridge"]
    if subprocess.run(bridge, capture_output=True, check=False).returncode != 0:
        return "only root can create networks"
    return ""


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _started(pod: Pod, pods: list[Pod], number: int, folder: Path) -> subprocess.Popen[bytes]:
    others = [f"{one.address} {name}" for one in pods if one is not pod for name in one.names]
    # those that only a Service gives it come last: the first line is that of the kubelet
    own = [f"{pod.address} {' '.join(pod.own_names)}", *(f"{pod.address} {name}" for name in pod.names)]
    home = folder / pod.name
    files = {"etc/hosts": "\n".join(["127.0.0.1 localhost", *own, *others, ""]), **pod.files}
    for top in ("etc", "root"):
        (home / "work" / top).mkdir(parents=True)
    for path, text in {"root/.profile": "", **files}.items():
        target = home / "upper" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        target.chmod(0o644 if path.startswith("etc/") else 0o600)
    script = ["sh", "-c", _START, "sh", pod.name, str(home), pod.folder]
    command = ["unshare", "--net", "--uts", "--mount", *script, *pod.command]
    output = (folder / f"{pod.name}.log").open("wb")
    process = subprocess.Popen(command, env=pod.env, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)
    while Path(f"/proc/{process.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
        pass
    _ip("link", "add", f"veth{number}", "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
    _ip("link", "set", f"veth{number}", "master", "br0", "up")
    enter = ["nsenter", "--target", str(process.pid), "--net", "ip"]
    for setting in (["addr", "add", f"{pod.address}/16", "dev", "eth0"], ["link", "set", "eth0", "up"]):
        subprocess.run([*enter, *setting], check=True)
    subprocess.run([*enter, "link", "set", "lo", "up"], check=True)
    return process


def _main() -> None:
    given = json.load(sys.stdin)
    pods = [Pod(**{**pod, "command": tuple(pod["command"])}) for pod in given["pods"]]
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "br0", "type", "bridge")
    _ip("link", "set", "br0", "up")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes = [_started(pod, pods, number, folder) for number, pod in enumerate(pods)]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.close()
        ends = time.monotonic() + given["timeout"]
        codes: dict[str, int | None] = {}
        for pod, process in sorted(zip(pods, processes, strict=True), key=lambda one: one[0].serves):
            try:
                codes[pod.name] = process.wait(timeout=0 if pod.serves else max(ends - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                codes[pod.name] = None
        logs = {pod.name: (folder / f"{pod.name}.log").read_text("utf-8", "replace") for pod in pods}
        results = {name: (codes[name], logs[name]) for name in logs}
        json.dump(results, sys.stdout)


if __name__ == "__main__":
    _main()
