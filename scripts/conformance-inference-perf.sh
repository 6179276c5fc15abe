#!/usr/bin/env bash
# Runs the same configs with the real inference-perf and with inferometer against the
# mock, and compares what they write.
#
#   scripts/conformance-inference-perf.sh INFEROMETER PEER_DIR TOKENIZER_DIR
#
# PEER_DIR is the virtual environment of the real tool, TOKENIZER_DIR a Hugging Face
# tokenizer. What was written stays in .conformance/inference-perf.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 INFEROMETER PEER_DIR TOKENIZER_DIR" >&2; exit 2; }
INFEROMETER=$(realpath "$1")
PEER=$(realpath "$2")
TOKENIZER=$(realpath "$3")
HERE=$(cd "$(dirname "$0")" && pwd)
OUT=$HERE/../.conformance/inference-perf
rm -rf "$OUT"
mkdir -p "$OUT"
cd "$OUT"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

mock_pid=
stop_mock() { if [ -n "$mock_pid" ]; then kill "$mock_pid" 2>/dev/null || true; wait "$mock_pid" 2>/dev/null || true; mock_pid=; fi; }
trap stop_mock EXIT

free_port() { "$PEER/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

PORT=$(free_port)
start_mock() {
  stop_mock
  "$INFEROMETER" mock --listen "127.0.0.1:$PORT" --ttft 250ms --itl 25ms --model "$TOKENIZER" --model red --model blue "$@" >mock.log 2>&1 &
  mock_pid=$!
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "the mock does not listen" >&2
  exit 1
}

# Conversations of the same make: both tools send the same prompts.
"$PEER/bin/python" - <<'PY'
import json
rows = []
for i in range(60):
    words = " ".join(f"thing{(i * 7 + k) % 40}" for k in range(20 + i % 7))
    rows.append({"id": str(i), "conversations": [
        {"from": "human", "value": f"Tell me about {words}."},
        {"from": "gpt", "value": " ".join(["the answer"] * 8)}]})
json.dump(rows, open("sharegpt.json", "w"))
PY

failed=0
# compare NAME: runs NAME.yml with both and compares.
compare() {
  local name=$1
  echo "== $name"
  "$PEER/bin/inference-perf" -c "$name.yml" --storage.local_storage.path "$name/theirs" >"$name.theirs.log" 2>&1 || { tail -20 "$name.theirs.log"; exit 1; }
  "$INFEROMETER" inference-perf -c "$name.yml" --storage.local_storage.path "$name/ours" >"$name.ours.log" 2>&1 || { tail -20 "$name.ours.log"; exit 1; }
  "$PEER/bin/python" "$HERE/inference-perf-conformance.py" "$name/theirs" "$name/ours" || failed=1
}

common() {
  cat <<YML
server: {type: vllm, model_name: "$TOKENIZER", base_url: "http://127.0.0.1:$PORT", ignore_eos: true}
report:
  request_lifecycle: {per_request: true, per_adapter_stage: true, use_server_output_tokens: ${1:-false}, per_request_fields: {computed_metrics: true}}
  goodput: {constraints: {ttft: 1, tpot: 0.5, itl: 0.5, ntpot: 1, request_latency: 5}}
YML
}

start_mock
{ common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load: {type: constant, num_workers: 1, interval: 1, stages: [{rate: 5, duration: 5}, {rate: 10, duration: 5}]}
YML
} >rated.yml
compare rated

{ common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load: {type: concurrent, num_workers: 1, stages: [{num_requests: 40, concurrency_level: 4}, {num_requests: 40, concurrency_level: 8}]}
YML
} >concurrent.yml
compare concurrent

{ common; cat <<'YML'
api: {type: completion, streaming: false}
data: {type: shareGPT, path: sharegpt.json}
load: {type: poisson, num_workers: 1, stages: [{rate: 8, duration: 4}]}
YML
} >unary.yml
compare unary

{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load:
  type: constant
  num_workers: 1
  stages: [{rate: 10, duration: 6}]
  lora_traffic_split: [{name: red, split: 0.5}, {name: blue, split: 0.5}]
YML
} >adapters.yml
compare adapters

start_mock --fault status:503=0.4
{ common true; cat <<'YML'
api: {type: chat, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 10, duration: 5}]}
YML
} >failures.yml
compare failures
stop_mock

echo "== charts"
for name in rated concurrent; do
  cp -r "$name/ours" "$name/ours-by-theirs"
  rm -f "$name/ours-by-theirs"/*.png
  "$PEER/bin/inference-perf" --analyze "$name/ours-by-theirs" >"$name.analyze.log" 2>&1
  "$INFEROMETER" inference-perf --analyze "$name/theirs" "$name/ours" -u "$name/both" --percentiles mean,99 >>"$name.analyze.log" 2>&1 || { tail -5 "$name.analyze.log"; failed=1; }
  for dir in ours-by-theirs theirs both; do
    n=$(find "$name/$dir" -name '*.png' | wc -l)
    echo "  $name/$dir: $n charts"
    [ "$n" -ge 3 ] || failed=1
  done
  diff <(cd "$name/ours-by-theirs" && ls ./*.png) <(cd "$name/theirs" && ls ./*.png) || { echo "  the charts of $name have other names"; failed=1; }
done
if [ $failed = 0 ]; then echo "conformance with inference-perf: all of it"; else echo "conformance with inference-perf: FAILED"; fi
exit $failed
