#!/bin/sh
# GenAI-Perf's command line, run by Inferometer (inferometer link ~/bin): its table, CSV and JSON, and a gate that the original lacks.
set -eu
genai-perf profile -m "${MODEL:-my-model}" -u "${URL:-http://localhost:8000}" --endpoint-type chat --streaming \
  --synthetic-input-tokens-mean 512 --synthetic-input-tokens-stddev 50 --output-tokens-mean "${OUTPUT:-128}" \
  --concurrency "${CONCURRENCY:-16}" --request-count "${REQUESTS:-500}" --tokenizer builtin:gpt2 \
  --artifact-dir "${OUT:-artifacts}" --fail-if 'errors > 1%'
