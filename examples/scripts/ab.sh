#!/bin/sh
# Two servers by turns, A B, B A, A B, so that what drifts on the host drifts for both; compared round by round.
# Exit code 3: B is slower than A by more than 5 %, with confidence.
set -eu
inferometer run --ab "${A:-http://old:8000}" "${B:-http://new:8000}" \
  --concurrency "${CONCURRENCY:-16}" --requests "${REQUESTS:-500}" --input-tokens 512 --output-tokens "${OUTPUT:-128}" \
  --repeat "${ROUNDS:-5}" --pause "${PAUSE:-5s}" --out "${OUT:-results/ab}" \
  --fail-if "ttft.p90 > +5%" --html "${OUT:-results/ab}.html"
