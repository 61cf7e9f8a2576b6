#!/usr/bin/env bash
# Build the JobSet controller for tests/controllers from its Go module, with its CRDs and webhooks.
#
#   scripts/controllers/jobset.sh DIR
#
# Set JOBSET_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="sigs.k8s.io/jobset@v${JOBSET_VERSION:-0.12.0}"

prepare "$@"
is_built jobset "$module" || {
  build jobset "$module" .
  manifests jobset config/components/crd/bases config/components/webhook/manifests.yaml
}
