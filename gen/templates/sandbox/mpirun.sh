# Takes the place of `mpirun`: starts the ranks one after another. Variables: the options with one or two values, and the
# most ranks. In a pod without a hostfile, all ranks are on its node.
/gen/record mpirun "$@"
status=0
ranks=${GEN_RANKS:-1} slots=$GEN_SLOTS per=
while [[ $1 == -* ]]; do
  name=${1#-}; name=${name#-}; value=${name#*=}; given=${name%%=*}; given=${given//-/_}
  [[ $given != x || $2 != *=* ]] || export "$2"
  if [[ $pairs == *" $given "* ]]; then shift 3 || exit 0
  elif [[ $name != *=* && $values == *" $given "* ]]; then value=$2; shift 2 || exit 0
  else shift; fi
  case $given in
    np|n|c) ranks=$value;;
    npernode|N|ppn|perhost) per=$value;;
    pernode) per=1;;
  esac
done
[ $# -gt 0 ] || exit 0
[[ -z $per ]] || { ranks=$((${GEN_RANKS:-1} / ${GEN_SLOTS:-1} * per)); slots=$per; }
: "${slots:=$ranks}"
for ((rank = 0; rank < ranks && rank < most; rank++)); do
  GEN_TASK=$rank GEN_NODE=$((rank / slots)) OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_LOCAL_RANK=$((rank % slots)) \
    OMPI_COMM_WORLD_SIZE=$ranks "$@" || status=$?
done
[ ! -e /gen/out/failed ] || exit "$status"
