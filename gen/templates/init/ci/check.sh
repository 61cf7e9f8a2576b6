#!/usr/bin/env bash
# Check a change, in CI or before a push: run `ci/check.sh [BASE [OUT]]` in the work tree of the change.
#
# BASE is the commit to compare with; OUT is a folder for plan.md and junit.xml. The version of gen is pinned in
# requirements.txt in the tree of *this script*. CI runs the script of the base branch on the files of a pull request, so
# that the pull request can choose neither the script nor the version of gen.
set -euo pipefail

base=${1:-}
out=${2:-}
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
gen=$tools/.venv/bin/gen

# -I: otherwise Python would import modules from the working directory, which contains the pull request
[ -x "$tools/.venv/bin/python" ] || python3 -I -m venv "$tools/.venv"
"$tools/.venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --requirement "$tools/requirements.txt"

format=text
if [ -n "${GITHUB_ACTIONS:-}" ]; then format=github; fi

status=0
"$gen" check --no-cache --output "$format" || status=$?
if [ -n "$out" ]; then
  mkdir -p "$out"
  "$gen" check --no-cache --output junit > "$out/junit.xml" || true
fi
if [ -n "$base" ] && [ -n "$out" ]; then
  "$gen" plan --base "$base" --output markdown > "$out/plan.md" || status=$?
elif [ -n "$base" ]; then
  "$gen" plan --base "$base" || status=$?
fi
exit "$status"
