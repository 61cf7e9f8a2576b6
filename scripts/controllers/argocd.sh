#!/usr/bin/env bash
# Build Argo CD for tests/controllers/argocd from a checkout of its source, or copy it from a release.
#
#   ARGOCD_SOURCE=FOLDER scripts/controllers/argocd.sh DIR
#   ARGOCD_RELEASE=FOLDER scripts/controllers/argocd.sh DIR
#
# A checkout, because the published Go module of Argo CD requires its own module gitops-engine in a version that is not
# published. A release is a folder with its binary `argocd`, which is every component by the name that it is started with,
# and its `install.yaml`. What the tests also need is installed or built: redis-server and kubectl.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

wanted=3.5
kubectl="k8s.io/kubernetes@v${KUBERNETES_VERSION:-1.34.4}"

# from_source FOLDER
from_source() {
  local source version identity
  [ -f "$1/cmd/main.go" ] && [ -f "$1/manifests/install.yaml" ] || fail "$1 is not a checkout of Argo CD"
  version="$(cat "$1/VERSION")"
  identity="github.com/argoproj/argo-cd@v$version"
  [[ "$version" == "$wanted".* ]] || say "the tests were written for $wanted, not $version"
  is_built argocd "$identity" || {
    source="$(cd "$1" && pwd)"
    # the pages of the server are embedded; no test needs them, and Git has only placeholders
    [ -e "$source/ui/dist/app" ] || fail "$1/ui/dist/app is missing; the source has placeholders there"
    compile argocd "$identity" "$source" ./cmd -mod=readonly "-X github.com/argoproj/argo-cd/v3/common.version=$version"
  }
  install_manifest "$1/manifests/install.yaml"
}

# from_release FOLDER
from_release() {
  [ -x "$1/argocd" ] || fail "$1/argocd is missing or not executable"
  [ -f "$1/install.yaml" ] || fail "$1/install.yaml is missing"
  cp "$1/argocd" "$target/argocd.new" && mv -f "$target/argocd.new" "$target/argocd"
  rm -f "$target/argocd.module"
  install_manifest "$1/install.yaml"
  say "copied $target/argocd"
}

install_manifest() {
  mkdir -p "$target/argocd.manifests"
  cp "$1" "$target/argocd.manifests/install.yaml"
}

prepare "$@"
if [ -n "${ARGOCD_SOURCE:-}" ]; then
  from_source "$ARGOCD_SOURCE"
elif [ -n "${ARGOCD_RELEASE:-}" ]; then
  from_release "$ARGOCD_RELEASE"
elif [ -x "$target/argocd" ]; then
  say "$target/argocd is there"
else
  fail "set ARGOCD_SOURCE to a checkout of Argo CD $wanted, or ARGOCD_RELEASE to a folder with its argocd and install.yaml"
fi
command -v redis-server >/dev/null || install_package redis-server
command -v kubectl >/dev/null || is_built kubectl "$kubectl" || build kubectl "$kubectl" ./cmd/kubectl
