#!/bin/sh
# llm_perf's command line on an LLM behind Triton.
set -eu
llm_perf -m "${MODEL:-ensemble}" -u "${URL:-localhost:8001}" --concurrency "${CONCURRENCY:-1,4,8}" \
  --input-data "${PROMPTS:-prompts.jsonl}"
