#!/usr/bin/env bash
# What CI runs on a change, and what anyone can run before: `ci/check.sh [BASE [OUT]]`, in the folder of the change.
#
# BASE is the commit to compare with; OUT is a folder for plan.md and junit.xml. The generator is the one that the
# requirements.txt of *this script's* tree pins: CI runs the script of the base branch on the files of a pull request,
# which so can choose neither the script nor the generator that judge it.
set -euo pipefail

base=${1:-}
out=${2:-}
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
gen=$tools/.venv/bin/gen

# -I: Python would otherwise look for modules in the working directory, which is the pull request's
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
