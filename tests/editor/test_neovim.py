"""Neovim with the settings of `docs/editors.md`. Needs `nvim`, which Debian has as `neovim`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editor.test_server import FILE, JOB, OVERLAY, OVERLAY_FILE
from tests.support import PROJECT, Repository

NVIM = shutil.which("nvim")


@pytest.mark.slow
@pytest.mark.skipif(NVIM is None, reason="nvim is not installed")
def test_neovim_shows_findings_completes_fixes_and_goes_to_a_definition(tmp_path: Path) -> None:
    repository = Repository.at(tmp_path / "repository")
    repository.write(OVERLAY_FILE, OVERLAY)
    without_data, _, _ = JOB.partition("data:")
    repository.write(FILE, without_data.replace("workers: 2\n", "") + "worker: 2\n")
    environment = {
        **os.environ,
        "GEN": str(Path(sys.executable).with_name("gen")),
        "GEN_FILE": FILE,
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    script = str(PROJECT / "tests/editor/neovim.lua")
    command = [str(NVIM), "--headless", "--clean", "-c", f"luafile {script}"]
    done = subprocess.run(
        command, cwd=repository.root, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    out = json.loads(done.stdout)
    line = without_data.count("\n") - 1
    assert f"unknown-field:{line}" in out["diagnostics"]
    assert "datasets" in out["completion"]
    assert out["fix"] == "Rename it to `workers`"
    assert out["after"] == []
    assert "workers: 2" in out["text"]
    assert "data: {datasets: /data}" in out["text"]
    assert out["definition"] == [str(repository.root / OVERLAY_FILE), 4]
