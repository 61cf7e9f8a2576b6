#!/bin/bash -p
# Takes the place of a program: notes its arguments, and ends. The first one of a task that `/gen/fails` has fails.
[ -n "$BASH_VERSION" ] || exec /bin/bash -p "$0" "$@"
[ "${0##*/}" = record ] || set -- "${0#/gen/bin/}" "$@"
values=()
for name in $GEN_NAMES; do values+=("$name=${!name-}"); done
printf '%s\0' "${GEN_TASK:--1}" "${GEN_LINE:-0}" "$PWD" "${#values[@]}" "${values[@]}" "$#" "$@" \
  > "/gen/out/records/${EPOCHREALTIME//[!0-9]/}-$$"
if [ "$1" = git ] && [[ " $* " == *" clone "* ]]; then # a later `cd` needs its folder
  folder=${*: -1}
  [[ $folder != *://* && $folder != *@*:* ]] || folder=$(basename "$folder" .git)
  mkdir -p "$folder" 2>/dev/null
fi
if [ -p /proc/self/fd/1 ]; then
  case "$*" in *hostname*) echo "${GEN_HOST}0";; *) echo 1;; esac
fi
status=0 key="${GEN_TASK:--1} $*"
[ ! -s /gen/fails ] || while IFS= read -r one; do
  [[ $one == "${key//$'\n'/ }" ]] && /gen/real/mkdir -p /gen/out/failed && /gen/real/mkdir "/gen/out/failed/${key%% *}" || continue
  status=1
done 2>/dev/null < /gen/fails
exit $status
