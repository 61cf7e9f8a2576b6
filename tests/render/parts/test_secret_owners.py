"""A Secret that the overlay declares is for its owner, and for namespaces with the grant for it."""

from __future__ import annotations

import pytest

from tests.support import Repository

JOB = "kind: {kind}\nimage: registry.example.com/a:1\ncommand: x\n"
GIT = "code: {git: https://git.example.com/a.git, "
OVERLAY = """\
kubernetes: "1.34"
namespaces:
  team: {stores: [], volumes: []}
  owner: {stores: [models], volumes: [disk, stage]}
stores: {models: {bucket: models, secret: of-store, s3: {}}}
volumes:
  disk: {size: 1Gi, juicefs: {secret: of-volume}}
  stage: {size: 1Gi, csi: {driver: a.example.com, stageSecret: of-stage}}
runtimes: {torch-distributed: {}}
pipelines: {argo: {serviceAccount: gen, notify: {secret: of-notify}}}
tensorboard: {ingress: {host: a.example.com, tlsSecret: of-ingress}}
defaults:
  imagePullSecrets: [of-pull]
  env: {A: {secret: of-env, key: a}}
  kinds: {pytorch: {code: {git: "https://git.example.com/a.git", credentials: of-code}}}
"""


OWNED = ("of-store", "of-volume", "of-stage", "of-notify", "of-ingress", "of-pull", "of-code")
DECLARED_FOR = {("of-pull", "imagePullSecrets"), ("of-code", "code")}


@pytest.mark.parametrize("secret", OWNED)
@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("pytorch", "env: {{TOKEN: {{secret: {0}, key: a}}}}\n"),
        ("pytorch", "roles: {{worker: {{env: {{TOKEN: {{secret: {0}, key: a}}}}}}}}\nworkers: 2\n"),
        ("pytorch", GIT.replace("{", "{{") + "credentials: {0}}}\n"),
        ("pytorch", "imagePullSecrets: [{0}]\n"),
        ("train", "initializer: {{model: {{storageUri: 's3://a/b', secret: {0}}}}}\n"),
    ],
    ids=["env", "role", "code", "pull", "initializer"],
)
def test_a_job_cannot_name_it_elsewhere(repo: Repository, secret: str, kind: str, fields: str) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB.format(kind=kind) + fields.format(secret))
    errors = [one for one in repo.render()[0].findings if one.is_error]
    if (secret, fields.partition(":")[0]) in DECLARED_FOR:
        assert errors == []
        return
    (finding,) = errors
    assert (finding.code, str(finding.place)) == (
        "not-granted",
        f"jobs/team/demo.yaml:4:{fields.format(secret).index(secret) + 1}",
    )
    assert f"Secret `{secret}`" in finding.message
    assert finding.hint.startswith("use another Secret")


@pytest.mark.parametrize("secret", ["of-store", "of-volume", "of-stage", "of-env", "free"])
def test_a_namespace_with_the_grant_may_name_it(repo: Repository, secret: str) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB.format(kind="pytorch") + f"env: {{TOKEN: {{secret: {secret}, key: a}}}}\n", namespace="owner")
    assert [one for one in repo.render()[0].findings if one.is_error] == []


def test_the_objects_of_gen_have_the_secrets_of_the_overlay(repo: Repository) -> None:
    """They are judged as well."""
    repo.overlay(OVERLAY)
    repo.job(
        JOB.format(kind="batch")
        + GIT
        + "ref: main}\ndata: {disk: /disk}\ninputs: {/in: {store: models, path: a}}\n"
        + "tensorboard: {logdir: /disk, ingress: true}\nschedule: '0 3 * * *'\n",
        namespace="owner",
    )
    repo.job("kind: pipeline\nimage: a:1\nsteps: {one: {kind: batch, command: x}}\n", namespace="owner", name="steps")
    report, code = repo.render()
    assert code == 0, report
