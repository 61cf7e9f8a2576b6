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

# a shell would end at a signal without its program, so its program gets the signal
forward() {
  interrupted=yes
  [ -n "$child" ] || return
  targets=$child
  read -r name <"/proc/$child/comm" || name=''
  case $name in
    sh | dash | bash | ash | busybox)
      read -r targets <"/proc/$child/task/$child/children" || :
      ;;
  esac
  kill -s "$1" ${targets:-$child}
} 2>/dev/null

upload() {
  "$home/bin/rclone" --config '' copy --retries 5 --retries-sleep 5s --transfers 8 -- "$1" "$2"
}

child='' interrupted=''
trap 'forward TERM' TERM
trap 'forward INT' INT
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
  start "$@" >"$out" 2>"$err" &
else
  start "$@" &
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
