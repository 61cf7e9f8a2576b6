"""Attacks by a pull request: files of one attack each, and the finding that refuses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

JOB = "jobs/team/demo.yaml"
_HEAD = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"


@dataclass(frozen=True, slots=True)
class Attack:
    """Files of an attack, added to a valid repository."""

    id: str
    codes: str
    """Codes of the refusal; one is enough."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Path of a symbolic link, and where it leads to."""
    place: str = JOB
    """The file that the finding is in."""
    overlay: str = ""
    """Further text of the overlay, for attacks that need one."""


def _job(name: str, text: str, codes: str) -> Attack:
    return Attack(name, codes, {JOB: (_HEAD + text).encode()})


def _raw(name: str, text: str | bytes, codes: str) -> Attack:
    return Attack(name, codes, {JOB: text.encode() if isinstance(text, str) else text})


# one attack a line is easier to read than the formatter's layout
# fmt: off
_PATHS = (
    _job("name-climbs", "name: ../../evil\n", "invalid-value"),
    _job("name-with-slash", "name: a/b\n", "invalid-value"),
    _job("name-is-absolute", "name: /etc/cron.d/evil\n", "invalid-value"),
    _job("name-from-expression", "name: '{{ params.x }}'\nparams: {x: ../evil}\n", "invalid-value invalid-expression"),
    _job("mount-climbs", "data: {data: /mnt/../../etc}\n", "invalid-value"),
    _job("mount-over-everything", "data: {data: /}\n", "invalid-value mount-conflict"),
    _job("mount-with-colon", "data: {data: '/mnt:/etc'}\n", "invalid-value"),
    _job("sub-path-climbs", "data: {data: {path: /mnt, subPath: ../other-team}}\n", "invalid-value"),
    _job("sub-path-is-absolute", "data: {data: {path: /mnt, subPath: /etc}}\n", "invalid-value"),
    _job(
        "sub-path-by-expression",
        "data: {data: {path: /mnt, subPath: '{{ params.x }}'}}\nparams: {x: ../a}\n",
        "invalid-value",
    ),
    _job("working-directory-climbs", "workingDir: /root/../../etc\n", "invalid-value"),
    _job("file-climbs", "files: {/etc/../../evil: x}\n", "invalid-value"),
    _job("file-is-relative", "files: {../evil: x}\n", "invalid-value"),
    _job("code-name-climbs", "code: {git: 'https://example.com/a.git', name: ../../etc}\n", "invalid-value"),
    _job("logs-climb", "data: {data: /mnt}\ntensorboard: {logdir: /mnt/../etc}\n", "invalid-value no-volume"),
    _job("code-from-local-files", "code: {git: 'file:///etc'}\n", "invalid-value"),
    _job("code-by-a-helper", "code: {git: 'ext::sh -c id'}\n", "invalid-value"),
    _job("code-url-is-an-option", "code: {git: '--upload-pack=touch /tmp/x'}\n", "invalid-value"),
    _job("code-ref-is-an-option", "code: {git: 'https://example.com/a.git', ref: --upload-pack=x}\n", "invalid-value"),
    _job("rsync-host-is-an-option", "code: {rsync: '-esh::x'}\n", "invalid-value"),
    _job("code-user-is-an-option", "code: {git: '-x@example.com:a.git'}\n", "invalid-value"),
    _job("rsync-is-an-option", "code: {rsync: '-e sh -c id'}\n", "invalid-value"),
)

_EXPRESSIONS = (
    _job("expression-calls", "env: {A: '{{ params.x() }}'}\n", "invalid-expression"),
    _job("expression-reaches-for-classes", "env: {A: \"{{ ''.__class__.__mro__ }}\"}\n", "invalid-expression"),
    _job("expression-by-index", "env: {A: \"{{ job['__init__'] }}\"}\n", "invalid-expression"),
    _job("expression-by-attr-filter", "env: {A: \"{{ job|attr('__class__') }}\"}\n", "invalid-expression"),
    _job("expression-statement", "env: {A: '{% for i in range(9) %}x{% endfor %}{{ 1 }}'}\n", "invalid-expression"),
    _job("expression-include", "env: {A: \"{% include '/etc/passwd' %}{{ 1 }}\"}\n", "invalid-expression"),
    _job("expression-multiplies", "env: {A: \"{{ 'a' * 999999999 }}\"}\n", "invalid-expression"),
    _job("expression-of-another-filter", "env: {A: \"{{ 'a'|center(999999999) }}\"}\n", "invalid-expression"),
    _job("expression-nested", "env: {A: '{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}'}\n", "invalid-expression"),
    _job(
        "expression-that-grows",
        "params: {a: '" + "x" * 60000 + "'}\nenv: {A: '" + "{{ params.a }}" * 200 + "'}\n",
        "too-large invalid-expression",
    ),
    _job(
        "expression-in-a-key",
        "env: {'{{ params.x }}': a}\nparams: {x: LD_PRELOAD}\n",
        "invalid-value invalid-expression",
    ),
    _job("expression-makes-a-control", "env: {A: \"{{ '\\x1b[2J' }}\"}\n", "invalid-expression control-character"),
)

_YAML = (
    _raw("alias-bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n", "anchor"),
    _raw("merge-key", "base: &b {kind: pytorch}\n<<: *b\n", "anchor"),
    _raw("python-object", "!!python/object/apply:os.system ['id']\n", "tag"),
    _raw("binary-tag", _HEAD + "name: !!binary ZXZpbA==\n", "tag"),
    _raw("deep-list", "a: " + "[" * 100_000 + "\n", "too-deep"),
    _raw("deep-mapping", _HEAD + "env: " + "{a: " * 5000 + "\n", "too-deep"),
    _raw("many-entries", _HEAD + "env:\n" + "".join(f"  A{i}: x\n" for i in range(60_000)), "too-large"),
    _raw("large-file", _HEAD + "#" * (2 << 20) + "\n", "too-large"),
    _raw("second-document", _HEAD + "---\n" + _HEAD, "many-documents"),
    _raw("duplicate-image", _HEAD + "image: evil.example.com/miner:1\n", "duplicate-key"),
    _raw("nul-byte", _HEAD.encode() + b"name: a\0b\n", "invalid-yaml control-character"),
    _raw("not-utf-8", _HEAD.encode() + b"name: \xff\xfe\n", "not-utf-8"),
    _raw("utf-16", _HEAD.encode("utf-16"), "not-utf-8"),
    _raw("long-number", _HEAD + "workers: " + "9" * 5000 + "\n", "invalid-value"),
    _raw("many-pods", _HEAD + "workers: 999999999\n", "invalid-value"),
)

_UNICODE = (
    _job("bidi-in-a-command", "env: {A: 'x\u202e cod evil'}\n", "control-character"),
    _job("bidi-isolate", "labels: {a: '\u2066x'}\n", "control-character invalid-label"),
    _job("escaped-noncharacter", 'env: {A: "\\ufdd0"}\n', "control-character"),
    _job("zero-width-name", "name: de\u200bmo\n", "invalid-value control-character"),
    _job("homoglyph-name", "name: d\u0435mo\n", "invalid-value"),
    _job("fullwidth-slash", "name: ..\uff0fevil\n", "invalid-value"),
    _job("noncharacter", "env: {A: 'a\ufdd0b'}\n", "control-character"),
    _job("lone-surrogate", 'env: {A: "\\ud800"}\n', "control-character invalid-yaml"),
)

_METADATA = (
    _job("annotation-prunes", "annotations: {argocd.argoproj.io/sync-options: 'Prune=false'}\n", "reserved-metadata"),
    _job("annotation-hook", "annotations: {argocd.argoproj.io/hook: PreSync}\n", "reserved-metadata"),
    _job("annotation-of-flux", "annotations: {kustomize.toolkit.fluxcd.io/force: enabled}\n", "reserved-metadata"),
    _job("annotation-of-helm", "annotations: {meta.helm.sh/release-name: x}\n", "reserved-metadata"),
    _job("annotation-of-kubectl", "annotations: {kubectl.kubernetes.io/last-applied-configuration: x}\n", "reserved-metadata"),
    _job("annotation-link", "annotations: {link.argocd.argoproj.io/x: 'javascript:alert(1)'}\n", "reserved-metadata not-granted"),
    _job("label-of-tracking", "labels: {app.kubernetes.io/instance: other}\n", "reserved-metadata"),
    _job("label-of-the-job", "labels: {gen/job: other}\n", "reserved-metadata"),
    _job("label-of-the-queue", "labels: {kueue.x-k8s.io/queue-name: rich}\n", "reserved-metadata"),
    _job("pod-label-of-the-queue", "podLabels: {kueue.x-k8s.io/queue-name: rich}\n", "reserved-metadata"),
    _job("pod-annotation-of-the-network", "podAnnotations: {k8s.aliyun.com/eni: 'true'}\n", "not-granted reserved-metadata"),
    _job("role-annotation-of-the-network", "roles: {master: {podAnnotations: {k8s.aliyun.com/eni: 'true'}}}\n", "not-granted"),
    _job("label-of-the-operator", "podLabels: {training.kubeflow.org/job-name: other}\n", "reserved-metadata"),
    _job("app-armor-off", "podAnnotations: {container.apparmor.security.beta.kubernetes.io/pytorch: unconfined}\n", "not-granted"),
)

_REACH = (
    _job("volume-source-in-a-job", "volumes: [{name: a, hostPath: {path: /}}]\n", "unknown-field"),
    _job("host-path-as-data", "data: {host: {path: /mnt, hostPath: /}}\n", "unknown-field unknown-volume"),
    _job("nas-server-in-a-job", "data: {data: {path: /mnt, nas: {server: evil.example.com}}}\n", "unknown-field"),
    _job("foreign-namespace", "namespace: kube-system\n", "unknown-field"),
    _job("host-network-in-a-job", "hostNetwork: true\n", "unknown-field"),
    _job("host-network-not-granted", "network: host\n", "not-granted"),
    _job("privileged", "securityContext: {privileged: true}\n", "unknown-field"),
    _job("service-account-not-granted", "serviceAccount: cluster-admin\n", "unknown-service-account"),
    _job("priority-not-granted", "priority: system-node-critical\n", "unknown-priority"),
    _job("queue-not-granted", "queue: rich\n", "unknown-queue"),
    _job("image-of-another-registry", "roles: {master: {image: registry.example.com.evil.org/train:1}}\n", "not-granted"),
    _job("image-of-docker-hub", "tensorboard: {image: evil/tensorboard:1}\ndata: {data: /data}\n", "not-granted"),
    _job("volume-not-granted", "data: {secret-data: /mnt}\n", "unknown-volume not-granted"),
    _job("all-gpus-by-the-back-door", "env: {NVIDIA_VISIBLE_DEVICES: all}\n", "reserved-env"),
    _job("master-address-of-another", "env: {MASTER_ADDR: evil.example.com}\n", "reserved-env"),
    Attack(
        "secret-of-the-platform", "not-granted", {JOB: f"{_HEAD}env: {{URL: {{secret: hook, key: url}}}}\n".encode()},
        overlay="pipelines: {argo: {serviceAccount: gen, notify: {secret: hook}}}\n",
    ),
    Attack("too-many-gpus", "over-quota", {JOB: f"{_HEAD}workers: 100\ngpus: 8\n".encode()}),
    Attack("job-outside-a-namespace", "misplaced-file", {"jobs/demo.yaml": _HEAD.encode()}, place="jobs/demo.yaml"),
    Attack(
        "namespace-of-the-system", "unknown-namespace", {"jobs/kube-system/demo.yaml": _HEAD.encode()},
        place="jobs/kube-system/demo.yaml",
    ),
    Attack("folder-is-no-namespace", "invalid-name", {"jobs/Evil_/demo.yaml": _HEAD.encode()}, place="jobs/Evil_"),
)

_SECRETS = tuple(
    _job(f"secret-{name}", text, "secret-value")
    for name, text in {
        "by-name": "env: {DB_PASSWORD: hunter2hunter2}\n",
        "by-camel-case": "params: {apiKey: 0123456789abcdef}\n",
        "of-github": "env: {A: ghp_" + "a1B2" * 9 + "}\n",
        "of-aws": "args: [--id, AKIA" + "ABCDEFGH12345678]\n",
        "of-alibaba": "args: [--ak=LTAI5t" + "AbCdEfGh12345678AbCd]\n",
        "of-hugging-face": "params: {hub: hf_" + "AbCdEfGhIj" * 4 + "}\n",
        "in-a-url": "env: {REMOTE: 'https://me:s3cr3tpass@example.com/x'}\n",
        "in-the-url-of-the-code": "code: {git: 'https://x:tok3nt0k3n@example.com/a.git'}\n",
        "token-as-the-user": "code: {git: 'https://ghp_" + "a1B2" * 9 + "@example.com/a.git'}\n",
        "private-key": 'files: {/root/.ssh/id: "-----BEGIN OPENSSH PRIVATE KEY-----\\nAAAA\\n"}\n',
        "json-web-token": "annotations: {a: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlc2ln}\n",
        "in-a-role": "roles: {master: {env: {WANDB_API_KEY: " + "0123456789abcdef" * 2 + "}}}\n",
    }.items()
)

_LINKS = (
    Attack("job-is-a-link", "not-a-file", links={JOB: "/etc/hostname"}),
    Attack("namespace-is-a-link", "not-a-file misplaced-file", links={"jobs/team": "/etc"}, place="jobs/team"),
    Attack(
        "overlay-is-a-link", "not-a-file", links={"overlays/evil/overlay.yaml": "/etc/hostname"},
        place="overlays/evil/overlay.yaml",
    ),
    Attack("patch-is-a-link", "not-a-file unreadable", links={"overlays/dev/p.yaml": "/etc/hostname"},
           overlay="patches: [{target: {kind: Job}, path: p.yaml}]\n", place="overlays/dev/p.yaml"),
    Attack("patch-climbs", "invalid-patch", place="overlays/dev/overlay.yaml",
           overlay="patches: [{target: {kind: Job}, path: ../../jobs/x.yaml}]\n"),
    Attack("patch-is-absolute", "invalid-patch", place="overlays/dev/overlay.yaml",
           overlay="patches: [{target: {kind: Job}, path: /etc/passwd}]\n"),
    Attack("overlay-extends-a-path", "unknown-overlay", overlay="extends: ../../etc\n", place="overlays/dev/overlay.yaml"),
)

_CONTROL = tuple(
    Attack(f"control-file-{name.strip('.').lower()}-in-{folder.replace('/', '-')}", "control-file",
           {f"{folder}{name}": b"resources: []\n"}, place=f"{folder}{name}")
    for folder in ("jobs/", "jobs/team/", "rendered/", "rendered/dev/jobs/team/")
    for name in ("kustomization.yaml", "Chart.yaml", ".argocd-source.yaml", ".sourceignore", ".gitattributes")
)

WALLS: dict[str, tuple[Attack, ...]] = {
    "Paths": _PATHS, "Expressions": _EXPRESSIONS, "YAML": _YAML, "Characters": _UNICODE, "Metadata": _METADATA,
    "Reach": _REACH, "Secrets": _SECRETS, "Links": _LINKS, "Control files": _CONTROL,
}
"""Attacks by the wall that refuses them, which `docs/security.md` describes."""
ATTACKS = tuple(attack for attacks in WALLS.values() for attack in attacks)
