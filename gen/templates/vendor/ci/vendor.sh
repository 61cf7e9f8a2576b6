#!/usr/bin/env bash
# Take the newest versions of the overlays that `extends` names in other repositories, in one commit on the branch gen/vendor.
# It reads Git servers, and changes only Git. Exit code 0 with a commit, 3 if there is nothing new.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment=$(mktemp -d)
bash ci/setup.sh "$environment"
gen=$environment/bin/gen

message=$(mktemp)
# 1: a tag moved, or a server did not answer; all other overlays are updated even then
code=0
"$gen" vendor --update --message "$message" || code=$?
[ "$code" -le 1 ] || exit "$code"
if [ ! -s "$message" ]; then
  [ "$code" = 0 ] || exit "$code"
  exit 3
fi
# a version can refuse jobs that were valid: their owners see why in the pull request
"$gen" render || [ $? = 1 ]
git switch --quiet --force-create gen/vendor
git add overlays rendered
git -c user.name=gen -c user.email=gen@localhost commit --quiet --file "$message"
