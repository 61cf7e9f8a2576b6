#!/usr/bin/env bash
# Build Kueue for tests/controllers from its Go module, with its CRDs, webhooks and the configuration that it ships with.
#
#   scripts/controllers/kueue.sh DIR
#
# Set KUEUE_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="sigs.k8s.io/kueue@v${KUEUE_VERSION:-0.19.2}"

prepare "$@"
is_built kueue "$module" || {
  build kueue "$module" ./cmd/kueue
  manifests kueue config/components/crd/bases config/components/webhook/manifests.yaml \
    config/components/manager/controller_manager_config.yaml
}
