# What each bash of a script reads first: folders that it changes to exist, and missing files do not end it.
command_not_found_handle() { /gen/record "$@"; }
if [ -z "$GEN_INSIDE" ]; then
  export GEN_INSIDE=1
  set -T
  # a script that sets another `PATH` has the recorders, too: the container has its own
  trap '[[ $BASH_SOURCE == /gen/prelude ]] || export GEN_LINE=$LINENO; [[ $PATH == *:/bin ]] || PATH+=:/gen/bin:/usr/bin:/bin' DEBUG
else echo "gen: shell at ${GEN_LINE:-0}" >&2
fi
exit() {
  local status=${1:-$?}
  [[ $BASH_SUBSHELL$GEN_TASK != 0-1 ]] || echo "gen: exit $status at $GEN_LINE" >&2
  builtin exit "$status"
}
cd() {
  builtin cd "$@" 2>/dev/null || { mkdir -p "${@: -1}" 2>/dev/null && builtin cd "$@"; } || return
  echo "gen: cd to $PWD" >&2
}
pushd() { builtin pushd "$@" >/dev/null 2>&1 || { mkdir -p "${@: -1}" && builtin pushd "$@" >/dev/null; }; }
source() { [ ! -r "$1" ] || builtin source "$@"; }
.() { source "$@"; }
kill() { :; }
if [ -s /gen/fails ]; then # an error that no test of the script is for
  set -E
  trap '[ ! -e /gen/out/failed ] || /gen/real/mkdir -p /gen/out/untested' ERR
fi
unset RANDOM; RANDOM=$GEN_ID
