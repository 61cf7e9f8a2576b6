#!/usr/bin/env bash
# Build the workflow-controller and the executor of Argo Workflows for tests/controllers from their Go module, with their
# CRDs.
#
#   scripts/controllers/argo-workflows.sh DIR
#
# Set ARGO_WORKFLOWS_VERSION for another version.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

version="${ARGO_WORKFLOWS_VERSION:-4.0.7}"
module="github.com/argoproj/argo-workflows/v${version%%.*}@v$version"

# executor: `build` with a file that is a symbolic link in the repository, which modules do not contain
executor() {
  local source="$work/argoexec" folder
  install_go
  folder="$(module_folder "$module")"
  cp -R "$folder" "$source"
  chmod -R u+w "$source"
  cp "$source/workflow/executor/osspecific/signal_darwin.go" "$source/workflow/executor/osspecific/signal_linux.go"
  compile argoexec "$module" "$source" ./cmd/argoexec -mod=mod
}

prepare "$@"
is_built workflow-controller "$module" || {
  build workflow-controller "$module" ./cmd/workflow-controller
  manifests workflow-controller manifests/base/crds/full
}
is_built argoexec "$module" || executor
