# Runs the command of a job, writes its output to files, and copies its files when it ends. Arguments:
#   --log FOLDER COPY            files for its output, and where to copy them, or an empty string
#   --output POD FOLDER COPY     a folder to copy, if POD consists of zeros: the indices of the pod
#   -- COMMAND…
set -u
say() { echo "gen: $*" >&2; }
home=/gen
line='
'
log='' copy='' outputs=''
while [ "$1" != -- ]; do
  case $1 in
    --log)
      log=$2 copy=$3
      shift 3
      ;;
    --output)
      case $2 in *[!0-]*) ;; *) outputs="$outputs$3$line$4$line" ;; esac
      shift 4
      ;;
  esac
done
shift

# the credentials of gen are not for the command, which may print its environment
start() {
  for name in $(env | while IFS='=' read -r name _; do case $name in RCLONE_*) echo "$name" ;; esac; done); do
    case $name in *[!A-Z0-9_]*) ;; *) unset "$name" ;; esac
  done
  exec "$@"
}

# A shell runs a trap when the program in front has ended; without one, it would end before its programs. So the program
# in front gets the signal, and a shell with a trap gets it, too. Programs in the background read /dev/null: they are for
# the trap. A program that reads the output of another one ends with it.
deliver() {
  case $(ls -l "/proc/$2/exe") in
    */sh | */dash | */bash | */ash | */ksh* | */mksh | */zsh | */busybox) ;;
    *)
      stopped="$stopped $2"
      kill -s "$1" "$2"
      return
      ;;
  esac
  trapped='' children=''
  while read -r name value; do
    # bits of signals 15 and 2
    case $1-$name$value in TERM-SigCgt:*[4567cdef]??? | INT-SigCgt:*[2367abef]) trapped=yes ;; esac
  done <"/proc/$2/status"
  read -r children <"/proc/$2/task/$2/children" || :
  [ -z "$trapped" ] || kill -s "$1" "$2"
  set -- "$1" "$2" "$trapped"
  for one in $children; do
    [ ! -p "/proc/$one/fd/0" ] || continue
    [ -z "$3" ] || [ "/proc/$one/fd/0" -ef "$home/in" ] || continue
    deliver "$1" "$one"
    set -- "$@" "$one"
  done
  [ $# -gt 3 ] || [ -n "$3" ] || kill -s "$1" ${children:-$2}
}

forward() {
  interrupted=yes
  [ -n "$child" ] || return
  deliver "$1" "$child"
} 2>/dev/null

upload() {
  "$home/bin/rclone" --config '' copy --retries 5 --retries-sleep 5s --transfers 8 -- "$1" "$2"
}

child='' interrupted='' stopped=''
trap 'forward TERM' TERM
trap 'forward INT' INT
# no program writes to it, and it is not /dev/null
true >"$home/in"
if [ -n "$log" ]; then
  time=$(date -u +%Y%m%dT%H%M%SZ)
  out=$home/out err=$home/err
  rm -f "$out" "$err"
  if ! mkdir -p "$log" || ! mkfifo "$out" "$err"; then
    say "cannot write logs to $log"
    exit 1
  fi
  # signals are for the command; a tee that ends would end it, too
  (trap '' TERM INT HUP; exec tee -a "$log/stdout-$time.log" <"$out") &
  tee_out=$!
  (trap '' TERM INT HUP; exec tee -a "$log/stderr-$time.log" <"$err" >&2) &
  tee_err=$!
  start "$@" <"$home/in" >"$out" 2>"$err" &
else
  start "$@" <"$home/in" &
fi
child=$!
[ -z "$interrupted" ] || forward TERM
wait "$child"
status=$?
while [ -n "$interrupted" ]; do
  interrupted=''
  wait "$child"
  again=$?
  [ "$again" = 127 ] || status=$again
done
# a shell can end before the program in front has saved its files
for one in $stopped; do
  while [ -d "/proc/$one" ]; do sleep 1; done
done

if [ -n "$log" ]; then
  # programs that the command left behind can keep the pipes open
  (sleep 10; kill -s KILL "$tee_out" "$tee_err") </dev/null >/dev/null 2>&1 &
  limit=$!
  wait "$tee_out" || say "the log of stdout is not complete"
  wait "$tee_err" || say "the log of stderr is not complete"
  kill "$limit" 2>/dev/null
  rm -f "$out" "$err"
  if [ -n "$copy" ]; then
    upload "$log" "$copy" || say "cannot copy the logs to $copy"
  fi
fi

while [ -n "$outputs" ]; do
  from=${outputs%%"$line"*} outputs=${outputs#*"$line"}
  to=${outputs%%"$line"*} outputs=${outputs#*"$line"}
  [ -n "$(ls -A "$from")" ] || say "there are no files in $from"
  say "copying from $from to $to"
  if ! upload "$from" "$to" || ! "$home/bin/rclone" --config '' check --one-way -- "$from" "$to"; then
    say "cannot copy $from to $to"
    # EX_IOERR of sysexits.h, which no rule for exit codes of the command matches by accident
    [ "$status" != 0 ] || status=74
  fi
done
exit "$status"
