#!/usr/bin/env bash
# Copy the CRDs of operators whose objects tests/golden declares as kinds, from their Go modules, for tests/controllers.
#
#   scripts/controllers/declared-kinds.sh DIR
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../go_modules.sh"

# definitions NAME MODULE@VERSION FILE
definitions() {
  local folder
  install_go
  folder="$(module_folder "$2")"
  [ -n "$folder" ] || fail "cannot download $2"
  mkdir -p "$target/$1.manifests"
  install -m 644 "$folder/config/crd/bases/$3" "$target/$1.manifests/$3"
  say "copied $target/$1.manifests/$3"
}

prepare "$@"
definitions spark-operator "github.com/kubeflow/spark-operator/v2@v${SPARK_OPERATOR_VERSION:-2.4.0}" \
  sparkoperator.k8s.io_sparkapplications.yaml
definitions lws "sigs.k8s.io/lws@v${LWS_VERSION:-0.9.0}" leaderworkerset.x-k8s.io_leaderworkersets.yaml
