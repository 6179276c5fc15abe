#!/usr/bin/env bash
# Holds inferometer's perf_analyzer and llm_perf against the real Perf Analyzer, on one real
# Triton; takes about eleven minutes, thirteen where something has to be measured twice. Where the
# machine has two cores the server gets one of them and the clients the other, and where it lets
# us, both come before other work: a busy machine then changes little.
#
#   scripts/conformance-perf-analyzer.sh INFEROMETER [loads]
#
# With loads, only sequences, rates, schedules and searches: two minutes.
# RUNS (4) are the runs of each tool, INTERVAL (2500) the milliseconds of a window.
set -euo pipefail

inferometer=$(realpath "$1")
part=${2:-all}
cd "$(dirname "$0")/.."
triton=$(realpath "${INFEROMETER_TRITON:-.peers/triton}")
dir=$(mktemp -d)
pid=
stop() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap stop EXIT
cp -r internal/testkit/triton/testdata/models "$dir/models"
# Slow enough that a request's time is the model's own, and not that of a busy client or server.
sed -i -E '/"ttft_ms"/,/}/s/string_value: "[^"]*"/string_value: "50"/; /"itl_ms"/,/}/s/string_value: "[^"]*"/string_value: "10"/' "$dir/models/tensorrt_llm/config.pbtxt"
cp -r scripts/perf-analyzer-loads/* "$dir/models"
read -r http grpc < <(python3 -c '
import socket
taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in taken))')
server=() client=()
if [ "$(uname -s)" = Linux ] && [ "$(nproc)" -gt 1 ]; then
  server=(taskset -c 0) client=(taskset -c 1)
fi
if chrt -f 1 true 2>/dev/null; then
  server=(chrt -f 4 "${server[@]}") client=(chrt -f 5 "${client[@]}")
fi
CAME="$dir" "${server[@]}" "$triton/tritonserver" --model-repository="$dir/models" --model-control-mode=explicit \
  --load-model=ensemble --load-model=vllm_model --load-model=simple --load-model=stateful --load-model=slow --http-port="$http" --grpc-port="$grpc" \
  --allow-metrics=false --exit-timeout-secs=2 --backend-config=python,shm-region-prefix-name="conformance$$" >"$dir/triton.log" 2>&1 &
pid=$!
for _ in $(seq 600); do
  if grep -q 'Started GRPCInferenceService' "$dir/triton.log"; then break; fi
  if ! kill -0 "$pid" 2>/dev/null; then
    tail -n 20 "$dir/triton.log"
    exit 1
  fi
  sleep 0.2
done
status=0
CLIENT="${client[*]}" python3 scripts/perf-analyzer-loads.py "$inferometer" .peers "127.0.0.1:$http" "127.0.0.1:$grpc" "$dir" || status=1
if [ "$part" = all ]; then
  CLIENT="${client[*]}" python3 scripts/conformance-perf-analyzer.py "$inferometer" .peers "127.0.0.1:$grpc" "$dir" || status=1
  python3 scripts/perf-analyzer-models.py "$inferometer" .peers "$triton" "$dir" || status=1
fi
exit "$status"
