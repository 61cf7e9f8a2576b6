# Runs at the end of a workflow, with curl and the URL in GEN_URL. Arguments: whether to send a message about workflows that
# `failed` or about all that `ended`, the namespace, the job, and the name and the status of the workflow.
set -u
when=$1 namespace=$2 job=$3 run=$4 status=$5
if [ "$when" = failed ] && [ "$status" = Succeeded ]; then
  exit 0
fi
# names and a word, so that nothing needs to be escaped
text="$namespace/$job: run $run has ended: $status"
body="{\"text\":\"$text\",\"namespace\":\"$namespace\",\"job\":\"$job\",\"run\":\"$run\",\"status\":\"$status\"}"
# an URL can contain a token, so it is not an argument, which `ps` shows
printf 'url = "%s"\n' "$GEN_URL" | curl --config - --fail --silent --show-error --max-time 30 --retry 5 --retry-connrefused \
  --header 'Content-Type: application/json' --data "$body" >/dev/null || echo "gen: the message was not sent" >&2
# a message that is lost does not fail the run
exit 0
