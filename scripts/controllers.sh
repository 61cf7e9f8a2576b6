#!/usr/bin/env bash
# Build what tests/controllers needs, in DIR: a kube-apiserver with etcd, and every controller of scripts/controllers/.
#
#   scripts/controllers.sh DIR && KUBEBUILDER_ASSETS=DIR CONTROLLERS=DIR pytest tests/controllers
#
# The tests of a controller that cannot be built are skipped, with the reason.
set -euo pipefail

folder="$(dirname "${BASH_SOURCE[0]}")"
for script in "$folder/apiserver.sh" "$folder"/controllers/*.sh; do
  "$script" "$@" || printf 'controllers.sh: %s failed; its tests will be skipped\n' "$script" >&2
done
