# Takes the place of Apptainer and Shifter: starts the program of the container. Variables: the options with a value.
with=$values
if [[ ${0##*/} == shifter ]]; then with=$of_shifter; else
  [[ $1 == exec || $1 == run ]] || exit 0
  shift
fi
while [[ $1 == -* ]]; do if [[ $with == *" $1 "* ]]; then shift 2; else shift; fi; done
[[ ${0##*/} == shifter ]] || shift
[ $# -eq 0 ] || "$@"
