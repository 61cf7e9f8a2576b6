#!/bin/bash -p
# Takes the place of programs that ask a machine or change its files: answers with names and numbers of the run.
case "${0##*/}" in
hostname|host) echo "$GEN_HOST${GEN_NODE:-0}";;
scontrol)
  [[ $* != *"show job"* ]] || printf '   %s\n' "Command=$SLURM_SUBMIT_DIR/$GEN_SCRIPT" "WorkDir=$SLURM_SUBMIT_DIR"
  [[ $* == *hostname* || $* == *getaddrs* ]] || exit 0
  for ((i = 0; i < ${SLURM_NNODES:-1}; i++)); do echo "$GEN_HOST$i"; done;;
getent|nslookup|dig) echo "${GEN_HOST}0 ${GEN_HOST}0";;
date|uuidgen|shuf|mktemp) echo "$GEN_ID";;
nvidia-smi|rocm-smi) for ((i = 0; i < ${GEN_GPUS:-1}; i++)); do echo "GPU $i"; done;;
sleep) # in a loop that waits for what never happens here; others go on, such as those in the background
  mine="/gen/out/sleeps$PPID-${*//[^0-9]}"
  /gen/real/sleep 0.05; echo >> "$mine"
  [ "$(/gen/real/wc -l < "$mine")" -lt 20 ] || kill -9 $PPID;;
time|unbuffer)
  while [[ $1 == -* ]]; do shift; done
  [ $# -eq 0 ] || exec "$@";;
nproc) echo "${SLURM_CPUS_PER_TASK:-8}";;
whoami|id) echo "$USER";;
which) echo "$1";;
mkdir) /gen/real/mkdir -p "$@" 2>/dev/null;;
cat) # a recorder that takes the place of a file has no text
  inputs=()
  for one in "$@"; do
    [ "$(/gen/real/readlink "$one" 2>/dev/null)" != /gen/record ] || one=/dev/null
    inputs+=("$one")
  done
  /gen/real/cat "${inputs[@]}" 2>/dev/null;;
cp|mv|ln|rm|rmdir|chmod|touch|ls|stat) "/gen/real/${0##*/}" "$@" 2>/dev/null;;
esac
exit 0
