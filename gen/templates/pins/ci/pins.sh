#!/usr/bin/env bash
# Move the pins of the jobs that ask for it (`updates: true` in their lock), in one commit on the branch gen/pins. It reads
# registries and Git servers, and changes only Git. Exit code 0 with a commit, 3 if no pin moved.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment=$(mktemp -d)
bash ci/setup.sh "$environment"
gen=$environment/bin/gen

message=$(mktemp)
# 1: a server did not answer, or an image is missing; all other pins are moved even then
"$gen" pin --update --asking --message "$message" || [ $? = 1 ]
if [ ! -s "$message" ]; then
  exit 3
fi
"$gen" render
git switch --quiet --force-create gen/pins
git add jobs rendered
git -c user.name=gen -c user.email=gen@localhost commit --quiet --file "$message"
