#!/usr/bin/env bash
# Build the kube-apiserver and etcd for tests/e2e from their Go modules.
#
#   scripts/apiserver.sh DIR && KUBEBUILDER_ASSETS=DIR pytest tests/e2e
#
# Existing binaries of the required version in DIR are kept. Set KUBERNETES_VERSION and ETCD_VERSION for other versions.
set -euo pipefail

kubernetes="${KUBERNETES_VERSION:-1.34.4}"
etcd="${ETCD_VERSION:-3.6.8}"

say() { printf 'apiserver.sh: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Debian and derivatives have a package; on other systems, the user must install Go.
install_go() {
  local go_before_toolchains='go1\.([0-9]|1[0-9]|20)(\.|$)'
  if ! command -v go >/dev/null; then
    command -v apt-get >/dev/null || fail "Go 1.21 or later is required: install it, and run this script again"
    say "installing Go with apt-get"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q >&2
    "${as_root[@]}" apt-get install -q -y --no-install-recommends golang-go ca-certificates >&2
  fi
  # from 1.21, Go downloads the toolchain that a module requires
  if [[ "$(go env GOVERSION)" =~ $go_before_toolchains ]]; then
    fail "$(go env GOVERSION) is too old: install Go 1.21 or newer and run this again"
  fi
}

# Print the folder of a module in the Go cache, and download it if necessary.
module_folder() {
  (cd "$work" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
}

# `go install` rejects a module with `replace` directives for folders of its own repository, which the published module does
# not contain. These modules are published as well: the staging modules of Kubernetes 1.x as 0.x (its go.mod has 0.0.0),
# those of etcd in the version in its go.mod.
without_local_replacements() {
  sed -E -i \
    -e "s|^([[:space:]]*)(k8s\.io/[^[:space:]]+) => \./staging/.*|\1\2 => \2 v0.${kubernetes#1.}|" \
    -e '/ => \.\.?\//d' \
    "$1/go.mod"
}

# build NAME MODULE@VERSION PACKAGE LDFLAGS
build() {
  local source="$work/$1" started=$SECONDS
  say "building $1 from $2; this takes minutes the first time"
  cp -R "$(module_folder "$2")" "$source"
  chmod -R u+w "$source"
  without_local_replacements "$source"
  # workspaces and vendor folders are incomplete in published modules
  (cd "$source" && GOWORK=off CGO_ENABLED=0 go build -mod=mod -trimpath -buildvcs=false -ldflags "-s -w $4" \
    -o "$work/bin/$1" "$3")
  mv -f "$work/bin/$1" "$target/$1"
  say "built $target/$1 in $((SECONDS - started)) s"
}

# has NAME TEXT: whether the binary exists and TEXT is a line of its version output.
has() {
  [ -x "$target/$1" ] && "$target/$1" --version 2>/dev/null | grep -Fqx "$2" && say "$target/$1 is there: $2"
}

main() {
  [ $# -eq 1 ] || fail "usage: scripts/apiserver.sh DIR"
  mkdir -p "$1"
  target="$(cd "$1" && pwd)"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/bin"
  export GOTOOLCHAIN=auto

  local version=k8s.io/component-base/version
  has etcd "etcd Version: $etcd" || {
    install_go
    build etcd "go.etcd.io/etcd/server/v3@v$etcd" . ""
  }
  has kube-apiserver "Kubernetes v$kubernetes" || {
    install_go
    # without a version, the server reports 0.0.0 and does not announce its features to clients
    build kube-apiserver "k8s.io/kubernetes@v$kubernetes" ./cmd/kube-apiserver \
      "-X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=$(cut -d. -f2 <<<"$kubernetes")"
  }
  say "ready: KUBEBUILDER_ASSETS=$target"
}

main "$@"
