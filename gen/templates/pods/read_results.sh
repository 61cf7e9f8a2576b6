# Runs in a pod of a workflow, with kubectl. Arguments: the namespace, labels of the pod with the log, its container, the
# folder for the values, and then for each value its name and a command of sed that prints it.
set -u
export LC_ALL=C
say() { echo "gen: $*" >&2; }
namespace=$1 labels=$2 container=$3 folder=$4
shift 4
# the last one is that of the attempt that succeeded
pod=$(kubectl -n "$namespace" get pods -l "$labels" --field-selector status.phase=Succeeded \
  --sort-by=.metadata.creationTimestamp -o name) || exit 1
pod=${pod##*
}
if [ -z "$pod" ]; then
  say "no pod with the labels $labels has succeeded"
  exit 3
fi
mkdir -p "$folder" && kubectl -n "$namespace" logs "$pod" -c "$container" >"$folder/log" || exit 1
while [ $# -gt 0 ]; do
  value=$(sed -nE "$2" <"$folder/log" | tail -n 1)
  case $value in
    '')
      say "the log of $pod has no value for the result $1"
      exit 4
      ;;
    *[!A-Za-z0-9_./:@%+=-]*)
      say "the result $1 has characters that are not allowed"
      exit 5
      ;;
  esac
  if [ ${#value} -gt 1024 ]; then
    say "the result $1 has more than 1024 characters"
    exit 5
  fi
  say "$1=$value"
  printf %s "$value" >"$folder/$1" || exit 1
  shift 2
done
