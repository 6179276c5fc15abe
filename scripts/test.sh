#!/usr/bin/env bash
# Runs all tests under the race detector. make lint has the analyzers of go vet:
#
#   scripts/test.sh            all packages, and those of the module in bench
#   scripts/test.sh ./internal/run ./internal/cli
#
# Tests that fail are run again, alone, at most twice, to tell two kinds of failure apart:
# what failed every time, and what is flaky: it failed, and passed when run again. Both are
# failures: the exit status is 1 where anything failed every time, 3 where all that failed
# is flaky. A data race, and code that does not compile, fail at once. docs/decisions/029
# says why.
set -uo pipefail
cd "$(dirname "$0")/.."

GO=${GO:-go}
AGAIN=${AGAIN:-2} # how often tests that failed are run again
export CGO_ENABLED=1
# The detector makes every program wait a second before it ends, and tests start hundreds.
export GORACE=${GORACE:-atexit_sleep_ms=10}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# tests MODULE ARGS...: runs go test there, showing what it prints and keeping it in $log. Linkers need not collect their garbage.
tests() { "$GO" test -C "$1" -toolexec 'env GOGC=off GOMEMLIMIT=1GiB' -race -vet=off -timeout 30m "${@:2}" 2>&1 </dev/null | tee "$log"; return "${PIPESTATUS[0]}"; }

# beyond_doubt: whether the log shows a fault that running again cannot explain.
beyond_doubt() { grep -qE '^WARNING: DATA RACE|\[(build|setup) failed\]|^# ' "$log"; }

# failed: a line for each package that failed, by the log, with the tests to run again: "a/b ^(TestX|TestY)$",
# or "a/b ." for all of them, where it ended with a panic or named none.
failed() {
  awk '
    /^ *--- FAIL: / { sub(/\/.*/, "", $3); if (!seen[$3]++) names = names (names == "" ? "" : "|") $3 }
    /^(panic|fatal error): / { whole = 1 }
    $1 == "FAIL" && $2 ~ /\// { print $2, whole || names == "" ? "." : "^(" names ")$" }
    $2 ~ /\// && /^(FAIL|ok|\?)[ \t]/ { names = ""; whole = 0; split("", seen) }
  ' "$log"
}

# first MODULE PACKAGES...: the first run, whose failures are noted with their module.
failures=
first() {
  tests "$@" && return
  beyond_doubt && exit 1
  local found
  found=$(failed)
  [ -n "$found" ] || exit 1 # go test itself failed
  failures+=$(sed "s|^|$1 |" <<<"$found")$'\n'
}

# named ARG: what is run again, in words.
named() { [ "$1" = . ] && echo 'all tests' || tr -d '^()$' <<<"$1" | tr '|' ' '; }

if [ $# -gt 0 ]; then first . "$@"; else first . ./... && first bench ./...; fi

broken='' flaky=''
while read -r module package names; do
  passed=
  for attempt in $(seq "$AGAIN"); do
    echo "== again, alone ($attempt of $AGAIN): $package $names"
    if tests "$module" -count=1 -run "$names" "$package"; then passed=$attempt; break; fi
    beyond_doubt && exit 1
  done
  if [ -n "$passed" ]; then
    flaky+="  $package $(named "$names") (passed when run again, attempt $passed)"$'\n'
  else
    broken+="  $package $(named "$names")"$'\n'
  fi
done < <(printf %s "$failures")
[ -z "$broken" ] || printf '== failed every time:\n%s' "$broken"
[ -z "$flaky" ] || printf '== flaky, which is a failure too:\n%s' "$flaky"
[ -z "$broken" ] || exit 1
[ -z "$flaky" ] || exit 3
