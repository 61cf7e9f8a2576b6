# Build programs from published Go modules. Sourced by scripts/apiserver.sh and scripts/controllers/*.sh.
#
# `prepare DIR` sets `target`, the folder of the programs, and `work`, which is removed at exit. `build` puts a program into
# `target`, with a file `<name>.module` that records what it was built from; `is_built` compares that. `compile` does the same
# for a folder with sources.

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# prepare DIR
prepare() {
  [ $# -eq 1 ] || fail "usage: $0 DIR"
  mkdir -p "$1"
  target="$(cd "$1" && pwd)"
  work="$(mktemp -d)"
  trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
  mkdir "$work/bin"
  export GOTOOLCHAIN=auto
}

# install_package NAME...: on Debian and derivatives; on other systems, the user must install it.
install_package() {
  local as_root=()
  command -v apt-get >/dev/null || fail "install $1, and run this script again"
  say "installing $1 with apt-get"
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "$@" >&2
}

install_go() {
  local go_before_toolchains='go1\.([0-9]|1[0-9]|20)(\.|$)'
  command -v go >/dev/null || install_package golang-go ca-certificates
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
# not contain. These modules are published as well: the staging modules of Kubernetes 1.x as 0.x (its go.mod has 0.0.0), those
# of others in the version in their go.mod.
without_local_replacements() {
  local folder="$1" staging="$2"
  sed -E -i \
    -e "s|^([[:space:]]*)(k8s\.io/[^[:space:]]+) => \./staging/.*|\1\2 => \2 $staging|" \
    -e '/ => \.\.?\//d' \
    "$folder/go.mod"
}

# is_built NAME MODULE@VERSION
is_built() {
  [ -x "$target/$1" ] && [ "$(cat "$target/$1.module" 2>/dev/null)" = "$2" ] && say "$target/$1 is there: $2"
}

# build NAME MODULE@VERSION PACKAGE [LDFLAGS]: with `checkout`, from that folder with the same source.
build() {
  local name="$1" module="$2" package="$3" flags="${4:-}" source="$work/$1" folder
  install_go
  folder="${checkout:-$(module_folder "$module")}"
  [ -n "$folder" ] || fail "cannot download $module"
  cp -R "$folder" "$source"
  chmod -R u+w "$source"
  without_local_replacements "$source" "v0.${module#*@v1.}"
  # vendor folders are incomplete in published modules
  compile "$name" "$module" "$source" "$package" -mod=mod "$flags"
}

# compile NAME ORIGIN FOLDER PACKAGE MODE [LDFLAGS]
compile() {
  local name="$1" module="$2" folder="$3" package="$4" mode="$5" flags="${6:-}" started=$SECONDS
  install_go
  say "building $name from $module; this takes minutes the first time"
  # workspaces name folders that published modules do not contain
  (cd "$folder" && GOWORK=off CGO_ENABLED=0 go build "$mode" -trimpath -buildvcs=false -ldflags "-s -w $flags" \
    -o "$work/bin/$name" "$package")
  mv -f "$work/bin/$name" "$target/$name"
  printf '%s\n' "$module" >"$target/$name.module"
  say "built $target/$name in $((SECONDS - started)) s"
}

# manifests NAME PATH...: copy folders and files of the module that `build` has just built to `target/NAME.manifests`.
manifests() {
  local name="$1" folder="$target/$1.manifests"
  shift
  rm -rf "$folder"
  mkdir "$folder"
  (cd "$work/$name" && cp -R "$@" "$folder")
}
