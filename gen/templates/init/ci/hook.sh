#!/usr/bin/env bash
# Render, and check that the commit contains the result. It never runs `git add`, so that you can review the changes first.
#
# Uses gen of `just setup`, which is the version in CI; without `.venv`, gen on the PATH.
set -euo pipefail

if git ls-files --error-unmatch -- ':(icase).venv' > /dev/null 2>&1; then
  echo ".venv is committed, and its code would run: remove it with 'git rm -r --cached .venv'" >&2
  exit 1
fi
gen=.venv/bin/gen
[ -x "$gen" ] || gen=$(command -v gen) || { echo "gen is not installed: run 'just setup', see README.md" >&2; exit 1; }
"$gen" render
"$gen" check --staged
