#!/usr/bin/env bash
# Build Katib's controller with its webhooks for tests/controllers from its Go module, with its CRDs.
#
#   scripts/controllers/katib.sh DIR
#
# Set KATIB_VERSION for another version, and KATIB_SOURCE to a checkout of that version if no proxy has the module.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="github.com/kubeflow/katib@v${KATIB_VERSION:-0.19.0}"
checkout="${KATIB_SOURCE:-}"

prepare "$@"
is_built katib "$module" || {
  build katib "$module" ./cmd/katib-controller/v1beta1
  manifests katib manifests/v1beta1/components/crd manifests/v1beta1/components/webhook \
    manifests/v1beta1/installs/katib-standalone/katib-config.yaml
}
