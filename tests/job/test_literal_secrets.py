"""Secret values in jobs and overlays are found by their form or their name, and never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from gen.base.findings import Findings
from gen.base.lazy import LazyPattern
from gen.base.yaml.layers import Layer, Layers
from gen.base.yaml.source import source_of
from gen.base.yaml.strict import Data
from gen.job.literal_secrets import report_secrets
from gen.kubernetes import secrets as forms
from gen.kubernetes import secrets as names
from gen.report.findings.text import text
from tests.cases import for_each
from tests.regular_expressions import Search
from tests.support import OVERLAY, Repository
from tests.work import is_linear, lines_run

if TYPE_CHECKING:
    import re

JOB = "kind: pytorch\nimage: a:1\ncommand: {command}\n"
LONG, MAX_STEPS = 2000, 100
"""Characters of a long text, and the steps that a search may take for each. Counted repetitions have at most 512."""
NAME_PATTERNS = [cast("re.Pattern[str]", value) for value in vars(names).values() if isinstance(value, LazyPattern)]
assert NAME_PATTERNS


@for_each(
    "secret",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "LTAI5tExampleExample12",
        "AKIDexampleexample1234",
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "glpat-" + "a" * 20,
        "hf_" + "a" * 34,
        "xoxb-1234567890-abc",
        "-----BEGIN RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig",
        "https://user:hunter2@example.com/x.git",
        "redis://:hunter2@cache:6379/0",
        "https://sometoken@github.com/team/project.git",
        "HTTPS://sometoken@github.com/team/project.git",
        "git+https://x-access-token:abc@github.com/team/project.git",
        "sk-proj-" + "a1" * 20,
        "sk-" + "a1" * 24,
        "AIza" + "a" * 35,
        "wandb login " + "0123456789" * 4,
        "glrt-" + "a" * 20,
        "xapp-1-A012345678",
        "ASIA" + "A1" * 8,
        "AccountKey=" + "a" * 86 + "==",
        "npm_" + "a" * 36,
    ],
    ids=lambda text: text[:12],
)
def test_known_forms_are_found_wherever_they_stand(repo: Repository, secret: str) -> None:
    repo.job(JOB.format(command=f"run --with '{secret}'"))
    report, code = repo.render()
    assert code == 1
    assert [finding.code for finding in report.findings] == ["secret-value"]
    assert secret not in text(report)
    repo.job(JOB.format(command="x"))
    repo.overlay(OVERLAY + f"defaults: {{files: {{/etc/x: '{secret}'}}}}\n")
    assert set(repo.codes()) == {"secret-value"}


def test_a_secret_at_the_start_of_a_line_or_in_a_key_is_found_too(repo: Repository) -> None:
    repo.job(JOB.format(command="|\n  x\n  AKIAIOSFODNN7EXAMPLE\n"))
    assert repo.codes() == ["secret-value"]
    repo.job(JOB.format(command="x") + "files: {/etc/AKIAIOSFODNN7EXAMPLE: x}\nlabels: {AKIAIOSFODNN7EXAMPLE: x}\n")
    assert repo.codes() == ["secret-value", "secret-value"]


def test_no_other_finding_shows_a_secret(repo: Repository) -> None:
    token = "ghp_" + "a" * 36
    repo.job(JOB.format(command="x") + f"gpus: {token}\n{token}: x\ncode: {{git: 'hhtp://a:{token}@x y'}}\n")
    report, _ = repo.render()
    assert {finding.code for finding in report.findings} == {"secret-value"}
    assert token not in text(report)


def test_a_secret_in_a_sweep_is_not_shown_as_the_value_of_a_run(repo: Repository) -> None:
    token = "ghp_" + "a" * 36
    repo.job(JOB.format(command="x --as {{ params.user }}") + f"sweep: {{matrix: {{user: [{token}, b]}}}}\n")
    report, _ = repo.render()
    assert [finding.code for finding in report.findings] == ["secret-value"]
    assert token not in text(report)


SECRET = [
    "TOKEN",
    "HF_TOKEN",
    "wandb_api_key",
    "wandb-key",
    "DB_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "apiKey",
    "dbPassword",
    "PASSWORD_FOR_DB",
    "MYSQL_PASS",
    "DB_PWD",
    "githubToken2",
    "clientsecret",
    "SSH_PRIVATE_KEY",
    "SECRET_2",
]


@for_each("name", SECRET)
def test_a_variable_that_is_a_secret_by_its_name_needs_a_reference(repo: Repository, name: str) -> None:
    repo.job(JOB.format(command="x") + f"env: {{{name}: abc}}\n")
    assert repo.codes() == ["secret-value"]
    repo.job(JOB.format(command="x") + f"roles: {{master: {{env: {{{name}: abc}}}}}}\n")
    assert repo.codes() == ["secret-value"]
    repo.job(JOB.format(command="x") + f"env: {{{name}: {{secret: s, key: k}}}}\n")
    assert repo.codes() == []


@for_each(
    "overlay",
    [
        "params: {apiKey: abc}",
        "defaults: {env: {TOKEN: abc}}",
        "defaults: {params: {password: abc}}",
        "defaults: {kinds: {pytorch: {env: {TOKEN: abc}}}}",
        "defaults: {kinds: {pytorch: {roles: {master: {env: {TOKEN: abc}}}}}}",
        "patches: [{target: {kind: X}, patch: {spec: {containers: [{name: a, env: [{name: TOKEN, value: abc}]}]}}}]",
        "patches: [{target: {kind: X}, patch: [{op: add, path: /a, value: {name: TOKEN, value: abc}}]}]",
    ],
)
def test_an_overlay_holds_none_either(repo: Repository, overlay: str) -> None:
    repo.overlay(OVERLAY + overlay + "\n")
    assert [code for code in repo.codes() if code != "unmatched-patch"] == ["secret-value"]


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("params: {dbPassword: abc}", ["no-effect", "secret-value"]),
        ("env: {TOKEN: '{{ params.t }}'}\nparams: {t: abc}", ["secret-value"]),
        ("env: {TOKEN: \"{{ '{{' }}\"}", ["secret-value"]),
    ],
)
def test_an_expression_hides_nothing(repo: Repository, job: str, expected: list[str]) -> None:
    repo.job(JOB.format(command="x") + job + "\n")
    assert sorted(repo.codes()) == expected


@for_each("value", ["/x", "/etc", "abc/def", "1234", "/a b/c"])
def test_a_short_path_or_a_number_may_be_a_password(repo: Repository, value: str) -> None:
    repo.job(JOB.format(command="x") + f"env: {{DB_PASSWORD: '{value}'}}\n")
    assert repo.codes() == ["secret-value"]


HARMLESS = {
    "MAX_TOKENS": "4096",
    "num_tokens": "131072",
    "TOKENIZER": "meta-llama/Llama-3.1-8B",
    "TOKENIZERS_PARALLELISM": "false",
    "USE_TOKEN": "true",
    "TOKEN": "",
    "HF_TOKEN": "/run/secrets/hf/token",
    "HF_TOKEN_PATH": "/token",
    "AWS_SHARED_CREDENTIALS_FILE": "credentials",
    "GOOGLE_APPLICATION_CREDENTIALS": "/var/run/secrets/google.json",
    "SECRET_NAME": "wandb",
    "TOKEN_URL": "https://auth.example.com/token",
    "AWS_ACCESS_KEY_ID": "minio",
    "PAD_TOKEN": "<pad>",
    "eos_token": "</s>",
    "bosToken": "<|begin_of_text|>",
    "image_token": "IMG",
    "unk_token": "[UNK]",
    "TOKEN_MIXING": "mlp",
    "token_level_loss": "mean",
    "tokens_per_batch": "65536",
    "TOKEN_DROPOUT": "0.1",
    "PASSWORD_LENGTH": "12",
    "GIT_CREDENTIAL_HELPER": "store",
    "API_TOKEN": "$(FROM_SECRET)",
    "PWD": "workspace",
    "SORT_KEY": "length",
    "KEY": "value",
    "NCCL_ALGO": "Ring",
    "PASSES": "3",
    "FORWARD_PASS": "fused",
    "COMPASS": "north",
    "SECRETARY": "bird",
    "ACCESS_KEY_TYPE": "ram",
}


def test_similar_texts_are_not_reported(repo: Repository) -> None:
    lines = "".join(f"  {name}: '{value}'\n" for name, value in HARMLESS.items())
    repo.job(JOB.format(command="x") + f"env:\n{lines}params:\n{lines}")
    repo.overlay(OVERLAY + f"params:\n{lines}")
    assert set(repo.codes()) == {"no-effect"}, "unused parameters"


@for_each(
    "command",
    [
        "git clone https://example.com:8443/a@b",
        "git clone ssh://git@example.com/a.git && git clone git@example.com:a.git",
        "git clone https://$USER:$TOKEN@example.com/a.git https://${TOKEN}@example.com/a",
        "git clone https://<token>@example.com/a.git https://user:***@example.com/b",
        "curl 'https://example.com/?mail=me@example.com' 'https://medium.com/@me/x'",
        "pip install torch@https://example.com/torch-2.7-cp311.whl 'x @ git+ssh://git@example.com/x'",
        "python train.py --task-name=task-0123456789abcdef0123456789abcdef0123 --run hf_large_batch_size_4096_lr_1e4",
        "wandb login --relogin $WANDB_API_KEY && git checkout 0123456789012345678901234567890123456789",
        "python -m disk-0123456789abcdef0123456789abcdef eyJhbGciOiJIUzI1NiJ9 xoxo-hugs glm-4-9b-chat-hf-quantized",
        "mpirun -np 2 --hostfile /etc/mpi/hostfile s3://bucket/a:b@c docker://image:tag@sha256:" + "0" * 64,
        "openssl rsa -in key.pem # not a BEGIN PRIVATE KEY",
        'curl -u "$USER:$PASSWORD" https://example.com && curl -o model.pt -u $LOGIN https://example.com',
        "docker login -p $TOKEN && sshpass -p $PASSWORD ssh host && mysql -p$PASSWORD db && redis-cli -a $PASSWORD",
        "mysql -u root -P 3306 --protocol tcp && mkdir -p curl -p a && sshpass -e ssh host",
    ],
)
def test_ordinary_commands_hold_no_secret(repo: Repository, command: str) -> None:
    repo.job(JOB.format(command="|\n  " + command))
    assert repo.codes() == []


@for_each(
    ("command", "name"),
    [
        ("curl -u admin:hunter22 https://example.com", "curl -u"),
        ("sshpass -p hunter22 ssh host", "sshpass -p"),
        ("redis-cli -h db -a hunter22 ping", "redis-cli -a"),
        ("mysqldump -u root -phunter22 db", "mysql -p"),
        ("docker login -u me -p hunter22 registry.example.com", "docker login -p"),
        ("aws configure set aws_secret_access_key wJalrXUtnFEMIK7MDENG", "aws configure set"),
        ("""python -c 'connect(password="hunter22")'""", "password"),
        ("""python train.py --config '{"api_key": "abcdefgh12345678"}'""", "api_key"),
    ],
)
def test_a_password_without_an_option_of_its_name(repo: Repository, command: str, name: str) -> None:
    repo.job(JOB.format(command=f"|\n  {command}"))
    assert repo.codes() == ["secret-value"]
    (finding,) = repo.check()[0].findings
    assert finding.message.startswith(f"`{name}` ")


@for_each(
    ("path", "text"),
    [
        ("/root/.netrc", "machine example.com login me password hunter22"),
        ("/root/.docker/config.json", '{"auths": {"registry.example.com": {"auth": "bWU6aHVudGVyMjI="}}}'),
        ("/etc/app.json", '{"lr": 0.1, "password": "hunter22"}'),
        ("/etc/app.yaml", "user: me\npassword: hunter22\n"),
        ("/app/keys.py", 'os.environ["WANDB_API_KEY"] = "abcdefgh12345678"\n'),
    ],
)
def test_a_password_in_a_file(repo: Repository, path: str, text: str) -> None:
    repo.job(JOB.format(command="x") + f"files:\n  {path}: |\n" + "".join(f"    {one}\n" for one in text.splitlines()))
    assert repo.codes() == ["secret-value"]


@for_each(
    "text",
    [
        "tokenizer: gpt2\npassword_file: /run/secrets/x\nkey: value",
        'def connect(password="", token=None):\n    api_key = os.environ["API_KEY"]\n    secret = read("name")',
        "- name: PASSWORD\n  valueFrom: {secretKeyRef: {name: db, key: password}}",
        '{"eos_token": "</s>", "pad_token": "<pad>", "token": "auto", "max_tokens": "4096"}',
        "machine learning on a cluster needs no password here",
    ],
)
def test_ordinary_files_hold_no_secret(repo: Repository, text: str) -> None:
    repo.job(JOB.format(command="x") + "files:\n  /a: |\n" + "".join(f"    {one}\n" for one in text.splitlines()))
    assert repo.codes() == []


@for_each(
    "unit",
    [
        "eyJ",
        "eyJ-eyJaaaaaaaaaa.",
        "a://",
        "http://a:",
        "https://aaaaaaaa",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KE",
        "hf_",
        "sk-",
        "LTAI",
        "gh",
        "A",
        "/",
        "/a",
        "token_",
        "aA",
        "curl ",
        "curl -u",
        "mysql -p",
        "machine a ",
        'password = "',
    ],
)
def test_the_search_of_a_long_text_is_linear(unit: str) -> None:
    long = unit * (LONG // len(unit)) + "-"
    for _, what, pattern in (form for form in vars(forms)["_BY_PART"] if form[0] in long):
        match = pattern.search(long)
        found = Search(pattern.pattern, pattern.flags, long, MAX_STEPS * LONG).run("search")
        assert found == ([match.span()] if match else []), what
    for pattern in NAME_PATTERNS:
        Search(str(pattern.pattern), pattern.flags, long, MAX_STEPS * LONG).run("fullmatch")

    def work(size: int) -> int:
        text = unit * size
        data: Data = {"command": text + "-", "env": {"TOKEN": text, text: "x"}}
        source = source_of(b"a: b", "jobs/team/demo.yaml", Findings())
        assert source is not None
        layers = Layers((Layer(source),))
        return lines_run(lambda: report_secrets(data, layers, Findings(), ()))

    assert is_linear(work, 500)


def test_no_finding_of_an_overlay_shows_a_secret(repo: Repository) -> None:
    """A value can be a secret and wrong at once."""
    token = "ghp_" + "a1B2" * 9
    repo.overlay(f'kubernetes: "{token}"\nvolumes:\n  data: {{claim: "{token}"}}\n')
    report, _ = repo.render()
    assert [finding.code for finding in report.findings].count("secret-value") == 2
    assert token not in text(report)


def test_a_secret_of_an_environment_of_ray(repo: Repository) -> None:
    """A text in YAML, as the operator reads it."""
    text = '{}kind: ray\nruntimeEnv: |\n  env_vars:\n    WANDB_API_KEY: "{}"\n'
    repo.job(text.format("command: python t.py\nimage: r/x:1\n", "0123456789abcdef" * 2))
    assert repo.codes() == ["secret-value"]
