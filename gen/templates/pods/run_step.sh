# Runs in a step of Kubeflow Pipelines, with kubectl and sed: creates the object of the step and waits for its end.
# Arguments: the workflow of the run, the namespace, the kind of the object to wait for, what its name has after that of the
# run, its state as a JSONPath, patterns for success and for failure, the object, and the number of values for the object,
# each its mark and the value. With results: their number, each a name and its file, and the command that reads them.
set -uf
export LC_ALL=C
say() { echo "gen: $*" >&2; }
run=$1 namespace=$2 kind=$3 end=$4 state=$5 succeeded=$6 failed=$7 body=$8 values=$9
shift 9
case $run in
  '' | *[!a-z0-9.-]*)
    say "the name of the run is not a valid name"
    exit 2
    ;;
esac
uid=$(kubectl -n "$namespace" get workflows.argoproj.io "$run" -o 'jsonpath={.metadata.uid}')
if [ -z "$uid" ]; then
  say "cannot read the workflow $run in namespace $namespace, where the runs of this pipeline must be"
  exit 2
fi
edits="s;<run>;$run;g
s;<uid>;$uid;g"
while [ "$values" -gt 0 ]; do
  case $2 in
    '' | -* | *[!A-Za-z0-9_./:@%+=-]*)
      say "the value of $1 must have letters, digits and _./:@%+=- only, and must not begin with -"
      exit 5
      ;;
  esac
  if [ ${#2} -gt 1024 ]; then
    say "the value of $1 has more than 1024 characters"
    exit 5
  fi
  edits="$edits
s;<$1>;$2;g"
  values=$((values - 1))
  shift 2
done
body=$(printf '%s\n' "$body" | sed "$edits")
name=$run$end
if answer=$(printf '%s\n' "$body" | kubectl -n "$namespace" create -f - 2>&1); then
  say "created $name"
else
  # an earlier pod of this step may have created it; kubectl may print a list
  owner=$(printf '%s\n' "$body" | kubectl -n "$namespace" get -f - -o 'jsonpath={..ownerReferences[0].uid}' 2>&1)
  if [ "$owner" != "$uid" ]; then
    say "$answer"
    exit 1
  fi
fi
missing=0
while :; do
  now=$(kubectl -n "$namespace" get "$kind" "$name" --ignore-not-found -o "jsonpath=$state") || now=unknown
  for pattern in $failed; do
    case $now in
      $pattern)
        say "$name failed"
        exit 1
        ;;
    esac
  done
  for pattern in $succeeded; do
    case $now in $pattern) break 2 ;; esac
  done
  # that of a TrainJob appears late
  [ -z "$now" ] && missing=$((missing + 1)) || missing=0
  if [ "$missing" -gt 30 ]; then
    say "$name does not exist any more"
    exit 1
  fi
  sleep "${GEN_SECONDS:-10}"
done
say "$name has succeeded"
[ $# -gt 0 ] || exit 0
count=$1 files=''
shift
while [ "$count" -gt 0 ]; do
  files="$files$1 $2
"
  count=$((count - 1))
  shift 2
done
# the reader: its shell, the script, the namespace, the labels, the container and the folder
shell=$1 option=$2 script=$3 own=$4 where=$5 labels=$6 container=$7 folder=$8
shift 8
labels=$(printf %s "$labels" | sed "s;<run>;$run;g")
"$shell" "$option" "$script" "$own" "$where" "$labels" "$container" "$folder" "$@" || exit
printf %s "$files" | while read -r result file; do
  mkdir -p "$(dirname "$file")" && cp "$folder/$result" "$file" || exit 1
done
