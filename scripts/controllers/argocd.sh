#!/usr/bin/env bash
# Copy Argo CD for tests/controllers/argocd from a release that was downloaded.
#
#   ARGOCD_RELEASE=FOLDER scripts/controllers/argocd.sh DIR
#
# FOLDER contains the binary `argocd` of the release, which is every component of Argo CD by the name that it is started
# with, and `install.yaml` of the same release. The tests also need `redis-server` and `kubectl`.
set -euo pipefail
source "$(dirname "$0")/../go_modules.sh"

version=3.5

prepare "$@"
release="${ARGOCD_RELEASE:-}"
[ -n "$release" ] || fail "set ARGOCD_RELEASE to a folder with the files argocd and install.yaml of Argo CD $version"
[ -x "$release/argocd" ] || fail "$release/argocd is missing or not executable"
[ -f "$release/install.yaml" ] || fail "$release/install.yaml is missing"
mkdir -p "$target/argocd.manifests"
cp "$release/argocd" "$target/argocd.new" && mv -f "$target/argocd.new" "$target/argocd"
cp "$release/install.yaml" "$target/argocd.manifests/install.yaml"
say "copied $target/argocd"
