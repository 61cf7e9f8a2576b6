"""Changed inputs of every reader end in findings: no exception, and no text that acts in a terminal.

Each case changes a valid text at random places by its seed. `FUZZ_RUNS` sets the runs of each case and `FUZZ_SEED` the
first seed, for a longer run; a failure shows the seed, with which `FUZZ_RUNS=1` repeats it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import INTERNAL_ERROR, DefinitionError, Diagnostic, Findings, Location, Severity, UsageError
from gen.base.repository.layout import JobFile
from gen.importers import IMPORTERS, ImportInput
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import DYN, CelError, CompileError, NotEvaluatedError
from gen.kubernetes.check.objects import check
from gen.kubernetes.check.policies import check_policy_files, policy_findings
from gen.kubernetes.manifests.read import read_manifests
from gen.kubernetes.policies.policy_set import PolicySet
from gen.kubernetes.schemas.lookup import Definitions, Kinds
from gen.pins.lock import read_lock
from gen.report.formats import REPORTERS, Report
from tests.support import OVERLAY, PROJECT, Repository, installed, validated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RUNS = int(os.environ.get("FUZZ_RUNS", "40"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))
KINDS = Kinds("1.34")
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 1e308, "", "a", "0", "1Gi", "9" * 400, "{{ params.x }}", "$(A)", "\x1b[2J", "\u202e"),
    *("::error::x", "<script>", "@team", "../../x", "/", [], {}, [None], {"": None}, [[]], {"a": {"b": []}}, "*", "!"),
    *("&a", "- ", "|"),
)
ODD_KEYS = ("", "x", "spec", "\x1b")
TOKENS = (
    *("{", "}", "[", "]", ":", "- ", "\n", "\t", '"', "'", "#", "&a ", "*a", "!!x ", "---\n", "\x00", "\x1b[31m", "é"),
    *("\u202e", "0x", "~", "|\n", ">", "%", "@", "`", "{{ ", " }}", "\\", "$(", ")", "size(", ".all(x, ", "?", "&&"),
    *("in ", "9" * 30, "\ufeff"),
)


def changed_text(text: str, by: random.Random) -> str:
    """The text with some parts removed, doubled, moved, or replaced by tokens."""
    for _ in range(by.choice((1, 1, 2, 5))):
        start = by.randrange(len(text) + 1)
        stop = min(len(text), start + by.choice((0, 1, 3, 20)))
        part = by.choice(("", by.choice(TOKENS), text[start:stop] * 2, text[: by.randrange(40)]))
        text = text[:start] + part + text[stop:]
    return text


def changed_tree(value: Any, by: random.Random) -> Any:
    """A copy with some nodes replaced by values of other types."""
    share = by.choice((0.01, 0.05, 0.3))

    def of(node: Any) -> Any:
        if by.random() < share:
            return by.choice(ODD)
        if isinstance(node, dict):
            keys = {key: by.choice(ODD_KEYS) if by.random() < share / 4 else key for key in node}
            return {keys[key]: of(one) for key, one in node.items()}
        if isinstance(node, list):
            return [of(one) for one in node] * by.choice((1, 1, 1, 2))
        return node

    return of(value)


def is_sound(findings: Any) -> None:
    has_none(one.message for one in findings if one.code == INTERNAL_ERROR)


def has_none(messages: Iterable[str]) -> None:
    for message in messages:
        raise AssertionError(message)


@cache
def samples() -> list[Any]:
    documents = (document for text in golden("rendered/**/*.yaml") for document in yaml.safe_load_all(text))
    return [one for one in documents if isinstance(one, dict) and "apiVersion" in one]


@cache
def golden(suffix: str) -> list[str]:
    files = sorted((PROJECT / "tests/golden").rglob(suffix))
    return [file.read_text("utf-8") for file in files]


def lock(by: random.Random, folder: Path) -> None:
    texts = golden("*.lock")
    (folder / "jobs/team").mkdir(parents=True, exist_ok=True)
    (folder / "jobs/team/demo.lock").write_text(changed_text(by.choice(texts), by), "utf-8", errors="surrogateescape")
    found = Findings()
    read_lock(folder, JobFile("team", "demo"), found)
    is_sound(found)


def manifest_bytes(by: random.Random, _: Path) -> None:
    raw = bytearray(changed_text(by.choice(golden("*.yaml")), by).encode("utf-8", "surrogatepass"))
    for _number in range(by.randrange(3)):
        raw[by.randrange(len(raw))] = by.randrange(256)
    found = Findings()
    read_manifests(bytes(raw), "a.yaml", found)
    is_sound(found)


def objects_of_any_form(by: random.Random, _: Path) -> None:
    body = changed_tree(by.choice(samples()), by)
    has_none(one.message for one in check(body, KINDS).problems if one.rule == INTERNAL_ERROR)


def expressions(by: random.Random, _: Path) -> None:
    text = by.choice(CEL)
    variables = {"object": changed_tree(by.choice(samples()), by), "self": by.choice(ODD)}
    try:
        program = compile_expression(changed_text(text, by), Environment({"object": DYN, "self": DYN}))
        program.evaluate(variables, 100_000)
    except (CelError, CompileError, NotEvaluatedError):
        return


CEL = (
    "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    "size(object.metadata.labels) > 0 && object.metadata.labels.exists(k, k.matches('^a.*z$'))",
    "has(object.spec) ? object.spec.replicas * 2 + 1 < 9 : 'a' in ['a', 'b']",
    "quantity('1Gi').isGreaterThan(quantity('1M')) || duration('1h').getSeconds() == 3600",
    "object.spec.map(x, x).filter(y, y != null).size() == int('7') && string(1.5) == '1.5'",
    "ip('10.0.0.1').family() == 4 && url('https://a.b/c?d=e').getHost() == 'a.b' && [1, 2].sum() == 3",
    "timestamp('2026-01-01T00:00:00Z').getFullYear() > 2000 && 'a-b'.split('-').join('') == 'ab'",
)


def policies(by: random.Random, folder: Path) -> None:
    document = list(yaml.safe_load_all(POLICY))
    text = "---\n".join(json.dumps(changed_tree(one, by) if by.random() < 0.5 else one) for one in document)
    (folder / "policies.json").write_text(changed_text(text, by), "utf-8", errors="replace")
    found = Findings()
    known = PolicySet(((folder / "policies.json", "p"),))
    check_policy_files(known, KINDS, found)
    body = changed_tree(by.choice(samples()), by)
    types = {"apiVersion": str, "kind": str, "metadata": dict}
    if isinstance(body, dict) and all(isinstance(body.get(field), kind) for field, kind in types.items()):
        kind = KINDS.get(body["apiVersion"], body["kind"])
        if kind is None or kind.validator.is_valid(body):
            found.extend(policy_findings(known, body, lambda _: Location("a")))
    is_sound(found)


POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]
  matchConditions: [{name: a, expression: "has(object.metadata)"}]
  variables: [{name: labels, expression: "object.metadata.?labels.orValue({})"}]
  validations:
  - {expression: "variables.labels.all(k, k != 'x')", messageExpression: "'a' + object.kind"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny], matchResources: {objectSelector: {matchLabels: {a: b}}}}
"""
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"scale": {"specReplicasPath": ".spec.replicas"}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "no"}],
                                "properties": {
                                    "size": {"type": "integer", "default": 1, "maximum": 9},
                                    "names": {
                                        "type": "array",
                                        "items": {"type": "string", "pattern": "^a+$"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "more": {"type": "object", "additionalProperties": {"type": "string"}},
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}
THING = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "a"},
    "spec": {"size": 2, "names": ["a"]},
}


def definitions(by: random.Random, folder: Path) -> None:
    file = folder / f"crd-{by.randrange(1 << 60)}.yaml"
    text = json.dumps(changed_tree(DEFINITION, by))
    file.write_text(changed_text(text, by) if by.random() < 0.3 else text, "utf-8", errors="replace")
    try:
        checked = check(changed_tree(THING, by), Kinds("1.34", Definitions((file,))))
    except DefinitionError:
        return
    finally:
        file.unlink()
    has_none(one.message for one in checked.problems if one.rule == INTERNAL_ERROR)


KFP = {
    "pipelineInfo": {"name": "flow"},
    "schemaVersion": "2.1.0",
    "root": {
        "inputDefinitions": {"parameters": {"rate": {"parameterType": "NUMBER_DOUBLE", "defaultValue": 0.1}}},
        "dag": {
            "tasks": {
                "train": {
                    "taskInfo": {"name": "train"},
                    "componentRef": {"name": "comp-train"},
                    "inputs": {"parameters": {"rate": {"componentInputParameter": "rate"}}},
                },
                "test": {
                    "taskInfo": {"name": "test"},
                    "componentRef": {"name": "comp-train"},
                    "dependentTasks": ["train"],
                    "triggerPolicy": {"condition": "inputs.parameter_values['a'] == 'b'"},
                },
            }
        },
    },
    "components": {"comp-train": {"executorLabel": "exec-train"}},
    "deploymentSpec": {
        "executors": {
            "exec-train": {
                "container": {
                    "image": "registry.example.com/train:1",
                    "command": ["python", "train.py"],
                    "args": ["--rate", "{{$.inputs.parameters['rate']}}"],
                    "resources": {
                        "cpuLimit": 2.0,
                        "memoryLimit": 4.0,
                        "accelerator": {"count": "1", "type": "nvidia.com/gpu"},
                    },
                }
            }
        }
    },
}
SUBMISSIONS = {
    "kfp": json.dumps(KFP),
    "slurm": "#!/bin/bash\n#SBATCH --job-name=a\n#SBATCH --nodes=2 --gpus-per-node=8\n#SBATCH --array=1-4%2\n"
    "#SBATCH --time=1-00:00\nmodule load cuda\nsrun torchrun --nnodes=$SLURM_NNODES train.py\n",
    "arena": "arena submit pytorchjob --name=a --gpus=1 --workers=2 --image=a:1 --data=d:/d --env=A=b 'python x.py'\n",
    "batchcompute": json.dumps(
        {"Job": {"JobName": "a", "Tasks": [{"TaskName": "t", "Application": {"Command": "x"}, "TaskInstanceNum": 2}]}}
    ),
    "manifests": json.dumps(
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": {"name": "a", "namespace": "team", "labels": {"app": "x"}},
            "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": {"spec": {"containers": [
                {"name": "pytorch", "image": "a:1", "command": ["x"], "resources": {"limits": {"nvidia.com/gpu": 1}}}
            ], "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}}}}},
        }
    ),
}  # fmt: skip


def importers(by: random.Random, _: Path) -> None:
    name = by.choice(sorted(SUBMISSIONS))
    text = SUBMISSIONS[name]
    if text.startswith("{") and by.random() < 0.7:
        text = json.dumps(changed_tree(json.loads(text), by))
    else:
        text = changed_text(text, by)
    found, importer = Findings(), IMPORTERS[name]
    raw = text.encode("utf-8", "replace")
    given = ImportInput(file="a", text=text, namespace="team", files=(("a", raw),), image="b:1")
    try:
        importer().read(given, found)
    except UsageError:
        return
    is_sound(found)


def reports(by: random.Random, _: Path) -> None:
    def word() -> str:
        return "".join(
            by.choice((*TOKENS, "a", "b ", "::set-output", "<b>", "|", "\r")) for _ in range(by.randrange(9))
        )

    found = tuple(
        Diagnostic(
            Location(word() or "a", by.randrange(1, 9), by.randrange(1, 9)), "not-granted", word(), word(),
            ((Location(word() or "b"), word()),), by.choice(tuple(Severity)),
        )
        for _ in range(by.randrange(4))
    )  # fmt: skip
    report = Report(tuple(sorted(found)), (), "the end")
    for name, reporter in REPORTERS.items():
        text = str(reporter(report))
        assert not any(ord(one) < 32 and one not in "\n\t" for one in text) or name == "full", name
        assert "\u202e" not in text, name
        if name in {"json", "sarif"}:
            json.loads(text)


def repository(folder: Path) -> Repository:
    return Repository(folder / "repo") if (folder / "repo").exists() else Repository.at(folder / "repo")


def job_files(by: random.Random, folder: Path) -> None:
    repo = repository(folder)
    if not (folder / "repo/overlays").exists():
        repo.overlay(OVERLAY)
    text = changed_text(by.choice(golden("jobs/**/*.yaml")), by)
    repo.write("jobs/team/demo.yaml", text.encode("utf-8", "surrogatepass"))
    is_sound(repo.render()[0].findings)


def overlays(by: random.Random, folder: Path) -> None:
    repo = repository(folder)
    repo.write(
        "overlays/dev/overlay.yaml", changed_text(by.choice(golden("overlay.yaml")), by).encode("utf-8", "replace")
    )
    repo.job("kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
    try:
        is_sound(repo.render()[0].findings)
    except UsageError:
        return


PLACES = (
    *("jobs/team", "rendered", "rendered/dev", "rendered/dev/jobs/team/demo"),
    *("rendered/dev/storage/team", "rendered/x"),
)
NAMES = (
    "a.yaml",
    ".hidden",
    "kustomization.yaml",
    "x\x1b",
    "é.yaml",
    "a b.json",
    "-x",
    "job-demo.yaml.orig",
    ".gen.tmp",
)
BATCH = 100
"""Files that one run of a command reads."""


def foreign_text(by: random.Random) -> bytes:
    """A file that gen did not write: changed manifests, lists, charts, data of other tools, and bytes."""
    one = by.randrange(20)
    if one == 0:
        return by.randbytes(by.randrange(200))
    if one == 1:
        return json.dumps(changed_tree(by.choice((KFP, DEFINITION, THING, *samples())), by)).encode()
    if one == 2:
        items = [changed_tree(by.choice(samples()), by) for _ in range(3)]
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    text = changed_text(by.choice(golden("rendered/**/*.yaml")), by)
    if one == 3:
        text = f"{{{{- if .Values.a }}}}\n{text}\n{{{{- end }}}}\n---\n{text}"
    return text.encode("utf-8", "surrogatepass")


def foreign_files(by: random.Random, folder: Path) -> None:
    repo = repository(folder)
    if not (folder / "repo/rendered").exists():
        repo.overlay(OVERLAY)
        repo.job("kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n")
        assert repo.render()[1] == 0
    paths = {f"{by.choice(PLACES)}/{index}{by.choice(NAMES)}" for index in range(BATCH)}
    for path in paths:
        repo.write(path, foreign_text(by))
    report, code = repo.check()
    for path in paths:
        (repo.root / path).unlink()
    for name in ("x", "dev/storage/team", "dev/storage"):
        (repo.root / "rendered" / name).rmdir()
    assert code == 1
    is_sound(report.findings)


def validated_files(by: random.Random, folder: Path) -> None:
    """`gen validate` reads them all, and prints nothing that acts in a terminal."""
    (folder / "foreign").mkdir(exist_ok=True)
    (folder / "policies.yaml").write_text(POLICY, "utf-8")
    for index in range(BATCH):
        (folder / f"foreign/{index}.{by.choice(('yaml', 'yml', 'json'))}").write_bytes(foreign_text(by))
    options = by.choice(({}, {"policies": (folder / "policies.yaml",)}, {"ignore_missing": True}))
    report, _ = validated(folder / "foreign", **options)
    for file in (folder / "foreign").iterdir():
        file.unlink()
    is_sound(report.findings)
    shown = REPORTERS["text"](report)
    assert not any(ord(one) < 32 and one not in "\n\t" for one in str(shown))


def large_job_files(by: random.Random, folder: Path) -> None:
    """Files of about 100 kB stay below the limits of time and memory."""
    repo = repository(folder)
    if not (folder / "repo/overlays").exists():
        repo.overlay(OVERLAY)
    head = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py --lr {{ params.lr }}\n"
    forms: tuple[Callable[[int], str], ...] = (
        lambda n: "env:\n" + "".join(f"  A{i}: x{'{{ params.lr }}' * (i % 2)}\n" for i in range(n)),
        lambda n: "args: [" + ", ".join(f"--a{i}={i}" for i in range(n)) + "]\n",
        lambda n: "files:\n" + "".join(f"  /etc/f{i}: {'y' * 40}\n" for i in range(n // 3)),
        lambda n: "params:\n  lr: 1\n" + "".join(f"  p{i}: {i}\n" for i in range(n)),
        lambda n: "labels:\n" + "".join(f"  a{i}: b\n" for i in range(n)),
        lambda n: "# " + "c" * (n * 12) + "\n",
        lambda n: f"sweep: {{matrix: {{lr: [{', '.join(map(str, range(by.randrange(2, 300))))}]}}}}\n# {n}\n",
        lambda n: "a: " + "[" * n + "\n",
    )
    text = head + "".join(form(by.randrange(1, 5000)) for form in by.sample(forms, by.randrange(1, 4)))
    text = changed_text(text[:100_000], by) if by.random() < 0.5 else text[:100_000]
    repo.write("jobs/team/demo.yaml", text.encode("utf-8", "surrogatepass"))
    is_sound(repo.render()[0].findings)


SECONDS, LONG = 2, 1000
"""Processor time of a run, and the number of runs for which it is measured."""


CASES: dict[Callable[[random.Random, Path], None], int] = {
    lock: 1,
    manifest_bytes: 1,
    objects_of_any_form: 2,
    expressions: 4,
    policies: 1,
    definitions: 1,
    importers: 2,
    reports: 2,
    job_files: 1,
    overlays: 1,
}
BATCHES: dict[Callable[[random.Random, Path], None], int] = {foreign_files: 20, validated_files: 10, large_job_files: 8}
"""Cases by the number of others for which one runs: each takes longer, or reads `BATCH` files."""


@pytest.mark.parametrize(("case", "weight"), CASES.items(), ids=[case.__name__ for case in CASES])
def test_any_input_ends_in_findings(case: Callable[[random.Random, Path], None], weight: float, tmp_path: Path) -> None:
    failed: dict[int, Exception] = {}
    for seed in range(SEED, SEED + max(1, int(RUNS * weight))):
        before = time.process_time()
        try:
            case(random.Random(seed), tmp_path)  # noqa: S311 - not for secrets
        except Exception as error:  # noqa: BLE001 - the other seeds run
            failed[seed] = error
        if RUNS >= LONG and (seconds := time.process_time() - before) > SECONDS:
            failed[seed] = TimeoutError(f"{seconds:.1f} s")
    for seed, cause in failed.items():
        raise AssertionError(f"FUZZ_SEED={seed} fails: {cause!r}; so do {[*failed][1:20]}") from cause


@pytest.mark.parametrize(("case", "share"), BATCHES.items(), ids=[case.__name__ for case in BATCHES])
def test_many_files_end_in_findings(case: Callable[[random.Random, Path], None], share: int, tmp_path: Path) -> None:
    test_any_input_ends_in_findings(case, 1 / share, tmp_path)


PLUGIN = PROJECT / "tests/overlay/plugins/acme"
WITH_PLUGIN = """\
kubernetes: "1.34"
plugins: {acme-gen: ">=1,<2"}
namespaces: {team: {queues: [north]}}
volumes: {tapes: {size: 1Ti, tape: {library: a}}}
networks: {fast: {mesh: inner}}
accelerators: {beads: {abacus: {}}}
queues: {north: {hive: north}}
"""
SWARM = "kind: swarm\nimage: swarm:1\ncommand: fly\nworkers: 3\ngpus: 2\ntimeout: 1h\n"
SWARM += "data: {tapes: /tapes}\nnetwork: fast\n"


def plugins(by: random.Random, folder: Path) -> None:
    """Jobs and overlays with a plugin, which also raises exceptions of its own."""
    from acme_gen.mesh import Mesh  # type: ignore[import-not-found] # in the process of the test below alone
    from acme_gen.swarm import SwarmJob  # type: ignore[import-not-found]

    repo = repository(folder)
    broken = by.random() < 0.1
    changed = by.randrange(3)
    repo.overlay(changed_text(WITH_PLUGIN, by) if changed == 0 else WITH_PLUGIN)
    repo.write("jobs/team/demo.yaml", (changed_text(SWARM, by) if changed == 1 else SWARM).encode("utf-8", "replace"))
    kinds = (LookupError, ValueError, RecursionError, AttributeError)
    with pytest.MonkeyPatch.context() as patched:
        if broken:
            target, name = by.choice(((SwarmJob, "workload"), (SwarmJob, "replica_roles"), (Mesh, "effect")))
            patched.setattr(target, name, lambda *_: (_ for _ in ()).throw(by.choice(kinds)("a\x1b")))
        try:
            found = repo.render()[0].findings
        except UsageError:
            return
    if not broken:
        is_sound(found)
    for reporter in REPORTERS.values():
        assert "\x1b" not in str(reporter(Report(tuple(found), (), "")))


@pytest.mark.slow
def test_any_input_with_a_plugin_ends_in_findings(tmp_path: Path) -> None:
    """In a process of its own: plugins extend the registries of a process."""
    folder = installed(PLUGIN, tmp_path / "site")
    code = "from tests.test_fuzz import *\ntest_any_input_ends_in_findings(plugins, 2, Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(PROJECT)])}
    command = [sys.executable, "-c", f"import sys\n{code}", str(tmp_path / "work")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
