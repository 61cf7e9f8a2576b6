#!/usr/bin/env bash
# Build the Kubeflow training operator for tests/controllers from its Go module, with its CRDs and webhooks.
#
#   scripts/controllers/training-operator.sh DIR
#
# Set TRAINING_OPERATOR_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="github.com/kubeflow/training-operator@v${TRAINING_OPERATOR_VERSION:-1.9.3}"

prepare "$@"
is_built training-operator "$module" || {
  build training-operator "$module" ./cmd/training-operator.v1
  manifests training-operator manifests/base/crds manifests/base/webhook
}
