#!/bin/sh
# One run sent by four processes of this machine: the same requests as from one, one report.
# For processes on other machines see docs/distributed.md.
set -eu
inferometer run "${URL:-http://localhost:8000}" \
  --concurrency "${CONCURRENCY:-512}" --requests "${REQUESTS:-20000}" --input-tokens 128 --output-tokens "${OUTPUT:-64}" \
  --workers "${WORKERS:-4}" --out "${OUT:-results/workers}"
