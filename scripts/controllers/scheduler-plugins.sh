#!/usr/bin/env bash
# Build the scheduler with coscheduling, and the controller of its PodGroups, for tests/controllers from their Go module.
#
#   scripts/controllers/scheduler-plugins.sh DIR
#
# Set SCHEDULER_PLUGINS_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="sigs.k8s.io/scheduler-plugins@v${SCHEDULER_PLUGINS_VERSION:-0.32.7}"

prepare "$@"
is_built scheduler-plugins "$module" || {
  build scheduler-plugins "$module" ./cmd/scheduler
  manifests scheduler-plugins config/crd/bases
}
