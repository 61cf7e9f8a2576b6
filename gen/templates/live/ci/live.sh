#!/usr/bin/env bash
# Ask the clusters about a change: run `ci/live.sh BASE OUT` in the work tree of the change, with a kubeconfig file in
# KUBECONFIG whose user may only read.
#
# OUT is the file for the plan. The verdict is that of ci/check.sh: this script fails only without a plan. The source of gen
# is that of requirements.txt in the tree of *this script*, so that a change cannot choose the program that gets the
# credentials.
set -euo pipefail

tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
gen=${GEN:-}
if [ -z "$gen" ]; then
  environment=$(mktemp -d)
  bash "$tools/ci/setup.sh" "$environment"
  gen=$environment/bin/gen
fi
code=0
"$gen" plan --live --base "$1" --output markdown > "$2" || code=$?
[ "$code" -le 1 ]
