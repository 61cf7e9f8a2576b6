# run all checks of CI
default: check
check: lint types test render-check

setup:
    python3 -m venv .venv && .venv/bin/pip install --quiet --editable '.[dev]'
lint:
    .venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/lint-imports
format:
    .venv/bin/ruff check --fix . && .venv/bin/ruff format .
types:
    .venv/bin/mypy
test *args:
    .venv/bin/pytest -n auto --dist worksteal {{ args }}
# all tests but the slow ones: clones, installations, other programs, long sweeps
test-quick *args:
    .venv/bin/pytest -n auto --dist worksteal -m 'not slow' {{ args }}
golden:
    .venv/bin/pytest tests/test_golden.py tests/test_errors.py --update-golden
render *args:
    .venv/bin/gen render {{ args }}
render-check:
    .venv/bin/gen check
schema:
    .venv/bin/gen schema job > schemas/job.schema.json && .venv/bin/gen schema overlay > schemas/overlay.schema.json
docs:
    .venv/bin/python -m scripts.reference
# the site of the documentation, in `site/`; the links of its pages are checked
docs-site *args:
    .venv/bin/pip install --quiet --editable '.[docs,test]' && .venv/bin/python -m mkdocs build --strict {{ args }}
# write what the commands of tutorials, how-tos and live commands show into their pages
screens:
    UPDATE_SCREENS=1 .venv/bin/pytest tests/test_walks.py tests/live/test_docs.py
# draw the pictures of the page about editors; needs Neovim and tmux, and npm's code-server (tests/browser/vscode.py)
pictures-of-editors:
    .venv/bin/python -m scripts.pictures_of_editors
# whether rendered bytes, exit codes and findings are those of another revision
compare revision *cases:
    .venv/bin/python -m scripts.compare {{ revision }} {{ cases }}
bench *args:
    .venv/bin/python -m bench {{ args }}
# time the language server in a repository of 1,000 jobs and three overlays
bench-editor *args:
    .venv/bin/python -m bench.editor {{ args }}
# time `gen validate` and kubeconform on the manifests in any folders
bench-real *folders:
    .venv/bin/python -m bench.real {{ folders }}
# compare with a real API server on the manifests in any folders; see scripts/agreement.py
agreement *args:
    .venv/bin/python -m scripts.agreement {{ args }}
# import random changes of the scripts and manifests in any folders; see scripts/mutated_imports.py
mutated-imports *args:
    .venv/bin/python -m scripts.mutated_imports {{ args }}
# compare the verdicts of admission policies in any folders with a real API server; see scripts/policy_agreement.py
policy-agreement *args:
    .venv/bin/python -m scripts.policy_agreement {{ args }}
# test against a real API server; build one with `scripts/apiserver.sh DIR`, then set KUBEBUILDER_ASSETS=DIR
e2e *args:
    .venv/bin/pytest tests/e2e {{ args }}
# test pages in a real Chromium, such as Debian's package `chromium`
browser *args:
    .venv/bin/pip install --quiet --editable '.[browser]' && .venv/bin/pytest tests/browser {{ args }}
controllers := env("CONTROLLERS", home_directory() / ".cache/gen-controllers")
# test with real controllers; builds them from their Go modules, which takes about an hour the first time
e2e-controllers *args:
    scripts/controllers.sh {{ controllers }}
    CONTROLLERS={{ controllers }} KUBEBUILDER_ASSETS={{ controllers }} .venv/bin/pytest tests/controllers {{ args }}
