#!/bin/sh
# Perf Analyzer's command line on a model behind Triton, over gRPC: its report and its CSV.
set -eu
perf_analyzer -m "${MODEL:-simple}" -i grpc -u "${URL:-localhost:8001}" \
  --concurrency-range "${CONCURRENCY:-8}" --request-count "${REQUESTS:-500}" -f "${OUT:-perf.csv}"
