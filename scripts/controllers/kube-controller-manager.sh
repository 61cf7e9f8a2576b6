#!/usr/bin/env bash
# Build the kube-controller-manager for tests/controllers from its Go module.
#
#   scripts/controllers/kube-controller-manager.sh DIR
#
# Set KUBERNETES_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

kubernetes="${KUBERNETES_VERSION:-1.34.4}"
module="k8s.io/kubernetes@v$kubernetes"
version=k8s.io/component-base/version

prepare "$@"
is_built kube-controller-manager "$module" ||
  build kube-controller-manager "$module" ./cmd/kube-controller-manager \
    "-X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$kubernetes")"
