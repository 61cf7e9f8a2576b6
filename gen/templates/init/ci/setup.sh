#!/usr/bin/env bash
# Install gen in .venv, from the source that requirements.txt in the tree of *this script* names.
set -euo pipefail

tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! grep -qE '^[[:space:]]*[^#[:space:]]' "$tools/requirements.txt"; then
  echo "requirements.txt has no source of gen: add a commit or a digest, as its comments show" >&2
  exit 1
fi
# -I: otherwise Python would import modules from the working directory, which contains the pull request
[ -x "$tools/.venv/bin/python" ] || python3 -I -m venv "$tools/.venv"
"$tools/.venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --requirement "$tools/requirements.txt"
