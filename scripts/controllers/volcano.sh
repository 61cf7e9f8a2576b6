#!/usr/bin/env bash
# Build Volcano's scheduler, controllers and webhooks for tests/controllers from a checkout of its source.
#
#   VOLCANO_SOURCE=FOLDER scripts/controllers/volcano.sh DIR
#
# A checkout, because its Go module has the CRDs only as templates of Helm, and requires its own module `apis` in a version
# that may not be published. The checkout has that module, and the objects of an installation in a file.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

wanted=1.14

prepare "$@"
if [ -n "${VOLCANO_SOURCE:-}" ]; then
  source="$(cd "$VOLCANO_SOURCE" && pwd)"
  [ -f "$source/installer/volcano-development.yaml" ] || fail "$source is not a checkout of Volcano"
  version="$(sed 's/^v//' "$source/.release-version")"
  identity="volcano.sh/volcano@v$version"
  [[ "$version" == "$wanted".* ]] || say "the tests were written for $wanted, not $version"
  for name in scheduler controller-manager webhook-manager; do
    is_built "volcano-$name" "$identity" || compile "volcano-$name" "$identity" "$source" "./cmd/$name" -mod=readonly
  done
  mkdir -p "$target/volcano.manifests"
  cp "$source/installer/volcano-development.yaml" "$target/volcano.manifests/"
elif [ -x "$target/volcano-scheduler" ]; then
  say "$target/volcano-scheduler is there"
else
  fail "set VOLCANO_SOURCE to a checkout of Volcano $wanted"
fi
