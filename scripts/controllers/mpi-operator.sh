#!/usr/bin/env bash
# Build the MPI operator for tests/controllers from its Go module, with its CRD.
#
#   scripts/controllers/mpi-operator.sh DIR
#
# Set MPI_OPERATOR_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

module="github.com/kubeflow/mpi-operator@v${MPI_OPERATOR_VERSION:-0.7.0}"

prepare "$@"
is_built mpi-operator "$module" || {
  build mpi-operator "$module" ./cmd/mpi-operator
  manifests mpi-operator manifests/base/kubeflow.org_mpijobs.yaml
}
