# Takes the place of Apptainer and Shifter: starts the program of the container. Variables: the options with a value.
trap - ERR
with=$values
if [[ ${0##*/} == shifter ]]; then with=$of_shifter; else
  [[ $1 == exec || $1 == run ]] || exit 0
  shift
fi
[[ ${0##*/} != *_wrapper ]] || exec "$@" # with the image of a module
while [[ $1 == -* ]]; do if [[ $with == *" $1 "* ]]; then shift 2; else shift; fi; done
# no image is a shell: the script has no value for it here
[[ ${0##*/} == shifter || ( $1 == @(bash|sh) && $2 == -* ) ]] || shift
[ $# -eq 0 ] || "$@"
