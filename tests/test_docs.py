"""Generated documents are fresh, and the names in documents exist."""

from __future__ import annotations

import re

import pytest
import yaml

from gen.commands.new import job_text
from gen.job.kinds import KINDS
from gen.overlay.profiles.queues import QUEUES
from scripts.reference import findings, job_reference, overlay_reference, rules
from scripts.support import SECTIONS, support
from tests.cases import for_each
from tests.support import PROJECT, Repository

DOCUMENTS = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])


def test_the_references_are_fresh() -> None:
    assert (PROJECT / "docs/reference-job.md").read_text("utf-8") == job_reference(), "run `just docs`"
    assert (PROJECT / "docs/reference-overlay.md").read_text("utf-8") == overlay_reference(), "run `just docs`"
    assert (PROJECT / "docs/rules.md").read_text("utf-8") == rules(), "run `just docs`"
    assert (PROJECT / "docs/findings.md").read_text("utf-8") == findings(), "run `just docs`"


EXAMPLES = [
    job
    for page in DOCUMENTS
    if page.parent == PROJECT / "docs"
    for job in re.findall(r"(?sm)^```yaml\n(kind: [a-z]+\n.*?)^```$", page.read_text("utf-8"))
]
PLATFORM = """
kubernetes: "1.34"
namespaces: {team: {kfp: true, search: {maxTrials: 100, parallelTrials: 10}}}
volumes: {nas: {claim: nas}, results: {claim: results}, data: {claim: data}}
stores:
  datasets: {s3: {endpoint: "https://s3.example.com"}, bucket: datasets, secret: s3}
  results: {s3: {endpoint: "https://s3.example.com"}, bucket: results, secret: s3}
pipelines: {argo: {serviceAccount: pipelines, reader: "a.io/kubectl:1"}, kfp: {image: "a.io/kubectl:1"}}
"""


@for_each("job", EXAMPLES)
def test_a_job_of_a_page_renders_without_a_finding(job: str, repo: Repository) -> None:
    repo.overlay(PLATFORM)
    repo.job(job)
    report, code = repo.render()
    assert (code, report.findings) == (0, ())


def test_the_page_about_validation_names_each_kind_with_a_schema() -> None:
    text = (PROJECT / "docs/validation.md").read_text("utf-8").partition("\n2. ")[2].partition("Schemas for Argo CD")[0]
    named = {
        (version, kind)
        for kinds, versions in re.findall(r"((?:[A-Z]\w+(?:,| and)?\s+)+)of\s+((?:`[^`]+`(?: and of )?)+)", text)
        for kind in re.findall(r"[A-Z]\w+", kinds)
        for version in re.findall(r"`([^`]+)`", versions)
    }
    files = (path.name.removesuffix(".json") for path in (PROJECT / "gen/kubernetes/schemas/data").glob("*_*_*.json"))
    known = {(f"{group}/{version}", kind) for group, version, kind in (name.split("_") for name in files)}
    assert {(version, kind.lower()) for version, kind in named} == known


def rows_of(about: str) -> list[list[str]]:
    """Rows of a table of the supported combinations, without the title."""
    (part,) = [part for part in support().split("\n### ") if part.startswith(about)]
    return [line.split(" | ") for line in part.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize(("about", "columns"), [(about, columns) for about, columns in SECTIONS.items()])
def test_a_table_has_the_features_of_every_kind(about: str, columns: dict[str, object]) -> None:
    rows = rows_of(about.removeprefix("### ").splitlines()[0])
    assert {row[0].split("`")[1] for row in rows} == set(KINDS)
    assert {len(row) for row in rows} == {len(columns) + 1}
    assert {cell.strip(" |").split(" ")[0] for row in rows for cell in row[1:]} <= {"yes", "no"}


def test_kueue_takes_no_mpi_job_v1() -> None:
    (v1,) = [row for row in rows_of("Queues") if row[0].startswith("| `mpi` of `kubeflow.org/v1`")]
    assert v1[1 + list(QUEUES).index("kueue")].startswith("no (")


LIFE = {
    "state": "state: suspended",
    "timeout": "timeout: 1h",
    "retries": "retries: 2",
    "schedule": "schedule: 0 3 * * *",
    "sweep": "sweep: {matrix: {a: [1, 2]}}\nenv: {A: '{{ params.a }}'}",
    "code": "code: {git: https://git.example.com/a.git, ref: v1}\ncommand: python code/a/train.py",
}


@for_each("kind", list(KINDS))
def test_the_table_has_the_values_of_a_run(kind: str, repo: Repository) -> None:
    (row, *_) = [row for row in rows_of("Life") if row[0].startswith(f"| `{kind}`")]
    cells = dict(zip(SECTIONS[next(about for about in SECTIONS if "Life" in about)], row[1:], strict=True))
    for name, line in LIFE.items():
        repo.job(yaml.safe_dump({"kind": kind, **KINDS[kind].example, **yaml.safe_load(line)}))
        accepted = repo.render(restart=True)[1] == 0
        assert accepted == cells["state: suspended" if name == "state" else name].startswith("yes"), name


def test_each_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (PROJECT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"\s((?!project/)[\w/-]+\.md)", navigation)
    pages = [path.relative_to(PROJECT / "docs").as_posix() for path in PROJECT.glob("docs/**/*.md")]
    assert sorted(listed) == sorted(pages), "edit `nav` of mkdocs.yml"


@for_each("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: object) -> None:
    path = next(path for path in DOCUMENTS if path == document)
    text = path.read_text("utf-8")
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in heads(text)}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif "://" not in target:
            assert (path.parent / target.split("#")[0]).exists(), target


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


@for_each("document", DOCUMENTS, ids=lambda path: path.name)
def test_modules_and_files_that_are_named_exist(document: object) -> None:
    path = next(path for path in DOCUMENTS if path == document)
    for name in re.findall(
        r"`((?:gen|tests|scripts|docs|bench)/[\w./-]+\.(?:py|md|json|sh|j2|yaml|toml))`", path.read_text("utf-8")
    ):
        assert (PROJECT / name).exists(), name
    for name in re.findall(r"`(gen(?:\.(?!yaml`)[a-z_]+)+)`", path.read_text("utf-8")):
        module = PROJECT / name.replace(".", "/")
        assert module.is_dir() or module.with_suffix(".py").exists(), name


@for_each("document", DOCUMENTS, ids=lambda path: path.name)
def test_names_are_in_the_file_of_a_document(document: object) -> None:
    text = next(path for path in DOCUMENTS if path == document).read_text("utf-8")
    for names, file in re.findall(
        r"((?:`\w+`(?:,|,? and) )*`\w+`)(?: \([^)]*\))?\s(?:of|in)\s`((?:gen|tests)/[\w/]+\.py)`", text
    ):
        source = (PROJECT / file).read_text("utf-8")
        for name in re.findall(r"\w+", names.replace(" and ", " ")):
            assert re.search(rf"\b{name}\b", source), f"{name} in {file}"


def test_the_overlay_of_the_gitops_document_is_one(repo: Repository) -> None:
    text = (PROJECT / "docs/gitops.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    repo.overlay('kubernetes: "1.34"\n' + block)
    repo.job(job_text("batch", with_schema=False) + "timeout: 1d\n")
    assert repo.codes() == []
    named = set(re.findall(r"--patch-file=(\S+)", text))
    bundle = repo.root / "rendered/argocd/dev"
    assert named == {path.relative_to(bundle).as_posix() for path in bundle.glob("settings/*")}


def test_the_patches_of_the_document_are_patches(repo: Repository) -> None:
    text = (PROJECT / "docs/patches.md").read_text("utf-8")
    of_objects, of_pods = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    repo.overlay('kubernetes: "1.34"\n' + of_objects)
    repo.write(
        "overlays/dev/patches/priority.yaml",
        "kind: PyTorchJob\nmetadata: {name: mnist-a}\nspec: {nprocPerNode: auto}\n",
    )
    repo.job(job_text("pytorch", with_schema=False) + "timeout: 1d\n", name="mnist-a")
    repo.job(job_text("mpi", with_schema=False) + "timeout: 1d\n", name="mnist")
    assert repo.codes() == []
    assert repo.one("MPIJob")["spec"]["runPolicy"]["schedulingPolicy"] == {"minAvailable": 3}
    assert repo.one("PyTorchJob")["spec"]["nprocPerNode"] == "auto"
    repo.overlay('kubernetes: "1.34"\n' + of_pods)
    repo.job(job_text("xgboost", with_schema=False), namespace="vision")
    worker = repo.one("XGBoostJob")["spec"]["xgbReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["terminationGracePeriodSeconds"] == 120
    assert worker["runtimeClassName"] == "nvidia"
