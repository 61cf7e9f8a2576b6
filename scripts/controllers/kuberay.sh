#!/usr/bin/env bash
# Build KubeRay's operator for tests/controllers from its Go module, with its CRDs.
#
#   scripts/controllers/kuberay.sh DIR
#
# Set KUBERAY_VERSION for another version, and KUBERAY_SOURCE to a checkout of that version if no proxy has the module.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="github.com/ray-project/kuberay/ray-operator@v${KUBERAY_VERSION:-1.7.0}"
checkout="${KUBERAY_SOURCE:+$KUBERAY_SOURCE/ray-operator}"

prepare "$@"
is_built kuberay "$module" || {
  build kuberay "$module" .
  manifests kuberay config/crd/bases
}
