#!/usr/bin/env bash
# Build the source-controller and the kustomize-controller of Flux for tests/controllers from their Go modules, with
# their CRDs.
#
#   scripts/controllers/flux.sh DIR
#
# Set SOURCE_CONTROLLER_VERSION and KUSTOMIZE_CONTROLLER_VERSION for other versions.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

# controller NAME VERSION
controller() {
  local module="github.com/fluxcd/$1@v$2"
  is_built "$1" "$module" || {
    build "$1" "$module" .
    manifests "$1" config/crd/bases
  }
}

prepare "$@"
controller source-controller "${SOURCE_CONTROLLER_VERSION:-1.9.1}"
controller kustomize-controller "${KUSTOMIZE_CONTROLLER_VERSION:-1.9.4}"
