#!/usr/bin/env bash
# Build tests/argocdref, which compares objects by Argo CD's own package, from a checkout of the source of Argo CD.
#
#   ARGOCD_SOURCE=FOLDER scripts/controllers/argocd-diff.sh DIR
#
# A checkout, because the published module of Argo CD requires its own module gitops-engine in a version that is not published.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

program="$(dirname "${BASH_SOURCE[0]}")/../../tests/argocdref/main.go"

prepare "$@"
if [ -n "${ARGOCD_SOURCE:-}" ]; then
  identity="github.com/argoproj/argo-cd/gitops-engine of v$(cat "$ARGOCD_SOURCE/VERSION"), $(sha256sum "$program" | cut -c1-12)"
  is_built argocd-diff "$identity" || {
    # the module of the engine alone: all of Argo CD takes much longer
    cp -R "$ARGOCD_SOURCE/gitops-engine" "$work/argocd-diff"
    chmod -R u+w "$work/argocd-diff"
    mkdir "$work/argocd-diff/compare"
    cp "$program" "$work/argocd-diff/compare"
    (cd "$work/argocd-diff" && GOFLAGS=-mod=mod go get github.com/itchyny/gojq@v0.12.19)
    compile argocd-diff "$identity" "$work/argocd-diff" ./compare -mod=mod
  }
elif [ -x "$target/argocd-diff" ]; then
  say "$target/argocd-diff is there"
else
  fail "set ARGOCD_SOURCE to a checkout of Argo CD 3.5"
fi
