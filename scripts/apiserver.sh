#!/usr/bin/env bash
# Build the kube-apiserver and etcd for tests/e2e from their Go modules.
#
#   scripts/apiserver.sh DIR && KUBEBUILDER_ASSETS=DIR pytest tests/e2e
#
# Existing binaries of the required version in DIR are kept. Set KUBERNETES_VERSION and ETCD_VERSION for other versions.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/go_modules.sh"

kubernetes="${KUBERNETES_VERSION:-1.34.4}"
etcd="${ETCD_VERSION:-3.6.8}"
version=k8s.io/component-base/version

# has NAME TEXT: whether the binary exists and TEXT is a line of its version output.
has() {
  [ -x "$target/$1" ] && "$target/$1" --version 2>/dev/null | grep -Fqx "$2" && say "$target/$1 is there: $2"
}

prepare "$@"
has etcd "etcd Version: $etcd" || build etcd "go.etcd.io/etcd/server/v3@v$etcd" .
# without a version, the server reports 0.0.0 and does not announce its features to clients
has kube-apiserver "Kubernetes v$kubernetes" ||
  build kube-apiserver "k8s.io/kubernetes@v$kubernetes" ./cmd/kube-apiserver \
    "-X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$kubernetes")"
say "ready: KUBEBUILDER_ASSETS=$target"
