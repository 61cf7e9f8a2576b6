# Waits until the names of pods have addresses. An image without `getent` does not wait.
command -v getent >/dev/null || exit 0
index=0
while [ "$index" -lt "$2" ]; do
  until getent hosts "$(printf "$1" "$index")" >/dev/null; do sleep 1; done
  index=$((index + 1))
done
