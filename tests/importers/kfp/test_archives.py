"""Files of the compilers: archives, and programs that are not compiled yet."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile

from gen.base.repository.files import MAX_BYTES
from tests.cases import for_each
from tests.commands.imports import errors
from tests.importers.kfp.pipelines import dag, program, task, workflow
from tests.importers.support import run_import
from tests.support import Repository

DOCUMENT = json.dumps(workflow(dag(task("a", "x")), program("x"))).encode()


def tar(name: str, content: bytes) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return raw.getvalue()


@for_each(
    ("name", "raw"),
    [("a.tar.gz", tar("pipeline.yaml", DOCUMENT)), ("a.zip", zipped("pipeline.yaml", DOCUMENT)), ("a.yaml", DOCUMENT)],
)
def test_an_archive_is_the_pipeline_in_it(repo: Repository, name: str, raw: bytes) -> None:
    file = repo.root.parent / name
    file.write_bytes(raw)
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team")
    assert (errors(report), code) == ([], 0)
    assert "command:\n  - run\n" in (repo.root / "jobs/team/a.yaml").read_text()


@for_each(
    ("name", "raw", "message"),
    [
        ("mpi_run.py", b"from kfp import dsl\n", "the file is a program, not a compiled pipeline"),
        ("a.txt", b"import kfp\n@dsl.pipeline()\n", "the file is a program, not a compiled pipeline"),
        ("a.zip", zipped("a.txt", b""), "cannot read the archive: it has no YAML file"),
        ("a.tar.gz", tar("a.txt", b""), "cannot read the archive: it has no YAML file"),
        ("a.tar.gz", tar("a.yaml", b"a")[:-9], "cannot read the archive: "),
        ("a.tar.gz", gzip.compress(b"a" * 2000), "cannot read the archive: "),
        ("a.tar.gz", tar("a.yaml", b"a" * MAX_BYTES), "cannot read the archive: its files are too large"),
        ("a.zip", zipped("a.yaml", b"a" * (MAX_BYTES + 1)), "cannot read the archive: its files are too large"),
        ("a.zip", zipped("a.yaml", b"a")[:-9], "cannot read the archive: "),
    ],
)
def test_other_files_are_explained(repo: Repository, name: str, raw: bytes, message: str) -> None:
    file = repo.root.parent / name
    file.write_bytes(raw)
    report, code = run_import(repo.root, str(file), importer="kfp", namespace="team")
    assert code == 1
    assert errors(report)[0].startswith(f"invalid-manifest: {message}")
