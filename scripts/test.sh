#!/usr/bin/env bash
# Runs all tests under the race detector. make lint has the analyzers of go vet:
#
#   scripts/test.sh            all packages
#   scripts/test.sh ./internal/run ./internal/cli
#
# A package that fails is run again, alone, at most twice: many tests start real servers
# and processes, and a machine that others use at the same time can starve one of them.
# What passed only then is named at the end, so that nobody takes it for sound. A data
# race, and code that does not compile, fail at once. docs/decisions/029 says why.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
AGAIN=${AGAIN:-2} # how often a package that failed is run again
export CGO_ENABLED=1
# The detector makes every program wait a second before it ends, and tests start hundreds.
export GORACE=${GORACE:-atexit_sleep_ms=10}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# tests ARGS...: runs go test, showing what it prints and keeping it in $log. Linkers need not collect their garbage.
tests() { "$GO" test -toolexec 'env GOGC=off GOMEMLIMIT=1GiB' -race -vet=off -timeout 30m "$@" 2>&1 | tee "$log"; return "${PIPESTATUS[0]}"; }

# beyond_doubt: whether the log shows a fault that no busy machine explains.
beyond_doubt() { grep -qE '^WARNING: DATA RACE|\[(build|setup) failed\]|^# ' "$log"; }

# failed: the packages that failed, by the log.
failed() { sed -n 's/^FAIL[[:space:]]\{1,\}\([^[:space:]]*\/[^[:space:]]*\).*/\1/p' "$log" | sort -u; }

# names: the tests that failed, by the log, on one line.
names() { sed -n 's/^ *--- FAIL: \([^ ]*\).*/\1/p' "$log" | sort -u | tr '\n' ' '; }

tests "${@:-./...}" && exit 0
beyond_doubt && exit 1
packages=$(failed)
[ -n "$packages" ] || exit 1 # go test itself failed

unsound=
for package in $packages; do
  passed=
  for attempt in $(seq "$AGAIN"); do
    echo "== again, alone ($attempt of $AGAIN): $package"
    if tests -count=1 "$package"; then passed=yes; break; fi
    beyond_doubt && exit 1
    unsound+="  $package $(names)"$'\n'
  done
  [ -n "$passed" ] || { echo "== $package failed every time"; exit 1; }
  unsound+="  $package passed when run alone, attempt $((attempt + 1))"$'\n'
done
printf '== passed only when run again:\n%s' "$unsound"
