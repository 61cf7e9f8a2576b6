#!/usr/bin/env bash
# Check a change, in CI or before a push: run `ci/check.sh [BASE [OUT [HEAD]]]` in the work tree of the change.
#
# BASE is the commit to compare with; OUT is a folder for plan.md (a comment whose first line has the reasons of a
# failure), plan.html (a page for reviewers), junit.xml, and judged.txt with the tree that was judged, BASE and HEAD; HEAD
# is the commit that the page links to. The source of gen is that of requirements.txt in the tree of *this script*, installed in a new folder; GEN names a program that is
# installed already. CI runs the script of the base branch on the files of a pull request, so that the pull request can
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

# the next runs read what the first one rendered; a cache from elsewhere could be forged
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME

format=text
if [ -n "${GITHUB_ACTIONS:-}" ]; then format=github; fi

checked=0
planned=0
"$gen" check ${base:+--base "$base"} --output "$format" || checked=$?
if [ -n "$out" ]; then
  "$gen" check ${base:+--base "$base"} --output junit > "$out/junit.xml" || true
  if [ "$checked" != 0 ]; then
    "$gen" check ${base:+--base "$base"} --output markdown > "$out/plan.md" || true
    [ -s "$out/plan.md" ] || echo "### Refused: \`gen check\` failed with exit code $checked, see the log" > "$out/plan.md"
  fi
fi
if [ -n "$base" ] && [ -n "$out" ]; then
  "$gen" plan --base "$base" --output markdown >> "$out/plan.md" || planned=$?
  [ "$planned" -le 1 ] || echo "### Refused: \`gen plan\` failed with exit code $planned, see the log" >> "$out/plan.md"
  "$gen" plan --base "$base" ${head:+--commit "$head"} --output html > "$out/plan.html" || true
  [ -s "$out/plan.html" ] || rm -f -- "$out/plan.html"
elif [ -n "$base" ]; then
  "$gen" plan --base "$base" || planned=$?
fi
exit "$((checked > planned ? checked : planned))"
