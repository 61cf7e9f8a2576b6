#!/usr/bin/env bash
# Set the jobs of ended runs to finished, in one commit on the branch gen/retire. It reads clusters by the contexts of the
# overlays, and changes only Git. Exit code 0 with a commit, 3 if there is nothing to retire.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment=$(mktemp -d)
bash ci/setup.sh "$environment"
gen=$environment/bin/gen

message=$(mktemp)
# 1: a cluster did not answer, or a file cannot be changed; all other jobs are retired even then
"$gen" retire --message "$message" || [ $? = 1 ]
if [ ! -s "$message" ]; then
  exit 3
fi
"$gen" render
git switch --quiet --force-create gen/retire
git add jobs rendered
git -c user.name=gen -c user.email=gen@localhost commit --quiet --file "$message"
