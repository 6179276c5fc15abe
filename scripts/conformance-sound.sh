#!/usr/bin/env bash
# Plays the sound runs and the starved clients of internal/testkit/adversary, and sums up.
#
#   scripts/conformance-sound.sh SOUND STARVED [JOBS]
#
# SOUND runs alone, as many beside eight busy neighbours, and STARVED pairs. JOBS parts of them are played side by
# side, each with two cores of its own for client, server and neighbours; one part has the whole machine.
set -euo pipefail
cd "$(dirname "$0")/.."

sound=$1 starved=$2 jobs=${3:-1} GO=${GO:-go}
logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT
trap 'cat "$logs"/[0-9]* 2>/dev/null; exit 143' INT TERM # what was played so far is not lost
if [ "$jobs" -gt 1 ] && [ $((2 * jobs)) -gt "$(nproc)" ]; then
  echo "conformance-sound: $jobs parts need $((2 * jobs)) cores, and there are $(nproc)" >&2
  exit 2
fi

[ -x "${ADVERSARY:=}" ] || { ADVERSARY=$logs/adversary; "$GO" test -c -trimpath -o "$ADVERSARY" ./internal/testkit/adversary; } # ADVERSARY: one that is compiled already
cd internal/testkit/adversary
export INFEROMETER_SOUND=$sound INFEROMETER_STARVED=$starved
parts=()
for ((k = 0; k < jobs; k++)); do
  pin=()
  [ "$jobs" -eq 1 ] || pin=(taskset -c "$((2 * k)),$((2 * k + 1))")
  INFEROMETER_SHARD=$k/$jobs "${pin[@]}" "$ADVERSARY" -test.run '^(TestSound|TestStarved)$' -test.v -test.timeout 90m >"$logs/$k" 2>&1 &
  parts+=($!)
done
failed=0
for part in "${parts[@]}"; do wait "$part" || failed=1; done
cat "$logs"/[0-9]*

echo "== all parts"
cat "$logs"/[0-9]* | awk '
  / VALID, the bars of / { for (i = 1; i < NF; i++) if ($i == "beside") who = $(i + 1); else if ($i == "VALID,") { valid[who] += $(i - 3); of[who] += $(i - 1) }; held[who] += $(NF - 1) }
  / pairs agree/ { for (i = 1; i <= NF; i++) if ($i == "pairs") { agree += $(i - 3); pairs += $(i - 1) } }
  END {
    for (who in of) {
      printf "beside %d neighbours: %d of %d VALID, the bars of %d hold\n", who, valid[who], of[who], held[who]
      if (valid[who] < (who > 0 ? 0.95 : 1) * of[who] || held[who] < of[who]) missed = 1
    }
    printf "%d of %d pairs of a starved and an unstarved client agree\n", agree, pairs
    exit missed || agree < pairs
  }' || failed=1
exit "$failed"
