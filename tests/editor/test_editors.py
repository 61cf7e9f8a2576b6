"""Neovim and Emacs with the settings of `docs/editors.md`: Debian's `neovim`, and `emacs-nox` with `elpa-eglot`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editor.test_server import FILE, JOB, OVERLAY, OVERLAY_FILE
from tests.support import PROJECT, Repository

NVIM, EMACS = shutil.which("nvim"), shutil.which("emacs")


def documented(before: str, language: str) -> str:
    """The settings of the page, behind the words before them."""
    _, _, after = (PROJECT / "docs/editors.md").read_text("utf-8").partition(f"\n{before}")
    return after.partition(f"```{language}\n")[2].partition("```")[0]


def session(tmp_path: Path, *command: str) -> tuple[Any, Repository, int]:
    """Output of a script of an editor about a job with a misspelled field, and the line of this field."""
    repository = Repository.at(tmp_path / "repository")
    repository.write(OVERLAY_FILE, OVERLAY)
    without_data, _, _ = JOB.partition("data:")
    text = without_data.replace("workers: 2\n", "") + "worker: 2\n"
    repository.write(FILE, text)
    settings = tmp_path / "nvim/ftplugin/yaml.lua"
    settings.parent.mkdir(parents=True)
    settings.write_text(documented("With an older one", "lua"), "utf-8")
    (tmp_path / "eglot.el").write_text(documented("With eglot", "elisp"), "utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GEN_FILE": FILE,
        "GEN_SETTINGS": str(tmp_path / "eglot.el"),
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(
        command, cwd=repository.root, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout[done.stdout.index("{") :]), repository, text.count("\n") - 1


@pytest.mark.slow
@pytest.mark.skipif(NVIM is None, reason="nvim is not installed")
def test_neovim_shows_findings_completes_fixes_and_goes_to_a_definition(tmp_path: Path) -> None:
    script = str(PROJECT / "tests/editor/neovim.lua")
    out, repository, line = session(tmp_path, str(NVIM), "--headless", "-i", "NONE", "-n", "-c", f"luafile {script}")
    assert f"unknown-field:{line}" in out["diagnostics"]
    assert "datasets" in out["completion"]
    assert out["fix"] == "Rename it to `workers`"
    assert out["after"] == []
    assert "workers: 2" in out["text"]
    assert "data: {datasets: /data}" in out["text"]
    assert out["definition"] == [str(repository.root / OVERLAY_FILE), 4]


@pytest.mark.slow
@pytest.mark.skipif(EMACS is None, reason="emacs is not installed")
def test_eglot_shows_findings_completes_fixes_and_goes_to_a_definition(tmp_path: Path) -> None:
    out, repository, _ = session(tmp_path, str(EMACS), "--batch", "--load", str(PROJECT / "tests/editor/eglot.el"))
    assert any("unknown field `worker`" in one for one in out["diagnostics"])
    assert "datasets" in out["completion"]
    assert out["definition"] == (repository.root / OVERLAY_FILE).as_uri()
    assert (out["fix"], out["after"]) == ("Rename it to `workers`", 0)
    assert "workers: 2\n" in out["text"]
