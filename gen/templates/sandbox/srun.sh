# Takes the place of `srun`: starts the tasks one after another. Variables: the options with one letter, those without a
# value, those with one, the words that are none for other options, and the most tasks.
eval "declare -A short=($letters)"
start() { if [[ $1 == */ ]]; then /gen/record "$@"; else "$@"; fi; } # no shell starts a folder
takes() { # whether the next word is the value of an option
  [[ $switches != *" $1 "* ]] || return
  [[ $known == *" $1 "* ]] || { [[ -n $2 && ! $2 =~ $starts ]] && echo "gen: option $3" >&2; }
}
nodes=${SLURM_NNODES:-1} per=${SLURM_NTASKS_PER_NODE:-1} tasks= given= sized= exports= first=0
while [[ $1 == -* ]]; do
  case $1 in
    --) shift; break;;
    --*=*) name=${1%%=*}; name=${name#--}; value=${1#*=}; shift;;
    --*) name=${1#--}; value=; word=$1; shift
       ! takes "$name" "$1" "$word" || { value=$1; shift; };;
    *) name=${short[${1:1:1}]:-x}; value=${1:2}; value=${value#=}; word=$1; shift
       [[ -n $value ]] || ! takes "$name" "$1" "$word" || { value=$1; shift; };;
  esac
  case $name in
    nodes) nodes=${value%%-*}; sized=1;;
    ntasks) tasks=$value;;
    ntasks-per-node|tasks-per-node) per=$value; given=1; sized=1;;
    nodelist) [[ $value != "$GEN_HOST"+([0-9]) ]] || first=${value#"$GEN_HOST"};;
    export) exports=,$value,;;
    container-workdir|chdir) cd "$value";;
  esac
done
[ $# -gt 0 ] || exit 0
if [[ -n $exports ]]; then
  for one in $(compgen -e); do
    case $one in GEN_*|SLURM*|PATH|HOME|PWD|SHLVL|BASH_ENV|LC_ALL|_) continue;; esac
    [[ $exports == *,ALL,* || $exports == *,$one[=,]* ]] || unset "$one"
  done
  while IFS= read -rd , one; do [[ $one != *=* ]] || export "$one"; done <<< "$exports"
fi
[[ -n $tasks$sized ]] || tasks=$SLURM_NTASKS
if [[ $tasks == +([0-9]) ]] && ((tasks > nodes * per || (tasks < nodes * per && !given))); then
  ((tasks <= nodes)) && { nodes=$tasks; per=1; } || per=$(((tasks + nodes - 1) / nodes))
fi
[[ $tasks == +([0-9]) ]] && ((tasks < nodes * per)) || tasks=$((nodes * per))
IFS= read -rd '' input # each task has all of it
rank=0 status=0
for ((node = 0; node < nodes; node++)); do for ((one = 0; one < per; one++)); do
  ((rank < most && rank < tasks)) || break 2
  host=$GEN_HOST$((node + first))
  GEN_TASK=$((rank + first * per)) GEN_NODE=$((node + first)) SLURM_PROCID=$rank SLURM_NODEID=$node SLURM_LOCALID=$one \
    SLURMD_NODENAME=$host HOSTNAME=$host SLURM_NNODES=$nodes SLURM_NTASKS=$tasks start "$@" < <(printf %s "$input") || status=$?
  rank=$((rank + 1))
done; done
[ ! -e /gen/out/failed ] || exit "$status" # any other error is for want of what the sandbox lacks
