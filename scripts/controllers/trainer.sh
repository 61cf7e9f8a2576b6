#!/usr/bin/env bash
# Build the controller of Kubeflow Trainer for tests/controllers from its Go module, with its CRDs, webhooks and runtimes.
#
#   scripts/controllers/trainer.sh DIR
#
# Set TRAINER_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="github.com/kubeflow/trainer/v2@v${TRAINER_VERSION:-2.3.0}"

prepare "$@"
is_built trainer "$module" || {
  build trainer "$module" ./cmd/trainer-controller-manager
  manifests trainer manifests/base/crds manifests/base/webhook manifests/base/runtimes
}
