#!/usr/bin/env bash
# Check a change, in CI or before a push: run `ci/check.sh [BASE [OUT [HEAD]]]` in the work tree of the change.
#
# BASE is the commit to compare with, without which there is no plan; OUT is a folder for plan.md (a comment whose first
# line has the reasons of a failure), plan.html (a page for reviewers), junit.xml, and judged.txt with the tree that was
# judged, BASE and HEAD; HEAD is the commit that the page links to. The source of gen is that of requirements.txt in the
# tree of *this script*, installed in a new folder; GEN names a program that is installed already. SHARDS is a folder
# with the results of `gen check --shard`. CI runs the script of the base branch on the files of a pull request, so that the pull request can
# choose neither the script nor gen.
set -euo pipefail

base=${1:-}
out=${2:-}
head=${3:-}
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ -n "$out" ]; then
  if [ -L "$out" ]; then rm -- "$out"; fi # these could come from the pull request
  mkdir -p "$out"
  rm -rf -- "$out/plan.md" "$out/plan.html" "$out/junit.xml" "$out/judged.txt"
  if [ -n "$base" ]; then git rev-parse "HEAD^{tree}" "$base^{commit}" "${head:-HEAD}^{commit}" > "$out/judged.txt"; fi
fi
for name in .venv gen-report; do # code that CI would run, and a report that it would publish
  if git ls-files --error-unmatch -- ":(icase)$name" > /dev/null 2>&1; then
    echo "$name is committed: remove it with 'git rm -r --cached $name'" >&2
    [ -z "$out" ] || echo "### Refused: \`$name\` is committed: remove it with \`git rm -r --cached $name\`" > "$out/plan.md"
    exit 1
  fi
done
gen=${GEN:-}
if [ -z "$gen" ]; then
  environment=$(mktemp -d)
  bash "$tools/ci/setup.sh" "$environment"
  gen=$environment/bin/gen
fi

# a cache from elsewhere could be forged
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME

format=text
if [ -n "${GITHUB_ACTIONS:-}" ]; then format=github; fi

if [ -z "$base" ]; then exec "$gen" check --output "$format"; fi
failed=0
"$gen" plan --check --base "$base" ${SHARDS:+--shards "$SHARDS"} ${head:+--commit "$head"} ${out:+--save "$out"} --output "$format" || failed=$?
if [ "$failed" -gt 1 ] && [ -n "$out" ]; then
  plan=
  if [ -s "$out/plan.md" ]; then plan=$(cat "$out/plan.md"); fi
  # shellcheck disable=SC2016 # the backquotes are those of Markdown
  printf '### Refused: `gen plan --check` failed with exit code %s, see the log\n\n%s\n' "$failed" "$plan" > "$out/plan.md"
fi
exit "$failed"
