# Runs in an init container with rclone. Arguments: the path at which to keep a copy of rclone, or an empty string, then
# pairs of a source and a folder.
set -u
say() { echo "gen: $*" >&2; }
tool=$1
shift
if [ -n "$tool" ]; then
  mkdir -p "${tool%/*}" && cp "$(command -v rclone)" "$tool" && chmod 755 "$tool" || exit 1
fi
while [ $# -gt 0 ]; do
  say "copying from $1 to $2"
  # files that are there already are compared, and not copied again
  rclone --config '' copy --retries 5 --retries-sleep 5s --transfers 8 -- "$1" "$2" || exit
  if [ -z "$(ls -A "$2")" ]; then
    say "there are no files in $1"
    exit 3
  fi
  rclone --config '' check --one-way -- "$1" "$2" || exit
  shift 2
done
