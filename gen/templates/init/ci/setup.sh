#!/usr/bin/env bash
# Install gen from the source that requirements.txt in the tree of *this script* names: `ci/setup.sh [FOLDER]`.
#
# FOLDER is the virtual environment, `.venv` beside this script's folder by default. CI gives a new folder outside of
# every checkout: code in a committed environment would run with the rights of CI.
set -euo pipefail

tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
environment=${1:-$tools/.venv}
if ! grep -qE '^[[:space:]]*[^#[:space:]]' "$tools/requirements.txt"; then
  echo "requirements.txt has no source of gen: add a commit or a digest, as its comments show" >&2
  exit 1
fi
if git -C "$tools" ls-files --error-unmatch -- ':(icase).venv' > /dev/null 2>&1; then
  echo ".venv is committed, and its code would run: remove it with 'git rm -r --cached .venv'" >&2
  exit 1
fi
# -I: otherwise Python would import modules from the working directory, which contains the pull request
# An environment with a pip of its own takes a third of the time of a set-up, and to compile all modules a quarter, of
# which gen imports a few. So in CI pip of the machine installs, if it can: `--python` came with pip 22.3
install=(install --quiet --disable-pip-version-check --requirement "$tools/requirements.txt")
has_option='import re, sys, importlib.metadata as m; sys.exit([*map(int, re.findall("[0-9]+", m.version("pip"))[:2])] < [22, 3])'
if [ $# -gt 0 ] && python3 -I -c "$has_option" 2> /dev/null; then
  [ -x "$environment/bin/python" ] || python3 -I -m venv --without-pip "$environment"
  python3 -I -m pip --python "$environment/bin/python" "${install[@]}" --no-compile
else
  [ -x "$environment/bin/python" ] || python3 -I -m venv "$environment"
  "$environment/bin/python" -I -m pip "${install[@]}"
fi
