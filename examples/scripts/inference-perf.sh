#!/bin/sh
# inference-perf with one of the configs here; any key can be given on the command line, too.
set -eu
here=$(dirname "$0")/..
inference-perf --config_file "$here/vllm/config-synthetic.yml" --server.base_url "${URL:-http://localhost:8000}" \
  --load.stages "[{\"rate\": ${RATE:-10}, \"duration\": ${SECONDS_EACH:-30}}]" --storage.local_storage.path "${OUT:-reports}" --load.interval "${INTERVAL:-15}" \
  --tokenizer.pretrained_model_name_or_path "${TOKENIZER:-builtin:gpt2}"
