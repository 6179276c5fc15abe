#!/usr/bin/env bash
# Runs the command lines of internal/tool/perfanalyzer/args/testdata/seeds.sh, word for word,
# against the built-in mock or a real Triton. They name ports and directories of their own,
# so they run in a network of their own and under a root directory that has /workspace.
#
#   scripts/perf-analyzer-seeds.sh INFEROMETER mock|triton [quick]
#
# quick leaves out the last of them, which takes a minute and a half.
set -euo pipefail

if [ "${1:-}" != inside ]; then
  here=$(realpath "$(dirname "$0")/..")
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  unshare --map-root-user --net --mount "$(realpath "$0")" inside "$(realpath "$(command -v "$1")")" "$2" "${3:-}" "$here" "$dir"
  exit
fi
shift
inferometer=$1 server=$2 here=$4 dir=$5
export QUICK=$3
ip link set lo up

# A root like the usual one, with /workspace beside the rest.
root=$dir/root
mkdir -p "$root/workspace/models/Qwen2-7B" "$dir/bin" "$dir/work"
gunzip -c "$here/internal/token/testdata/qwen.json.gz" >"$root/workspace/models/Qwen2-7B/tokenizer.json"
for entry in /*; do
  if [ "$entry" = /workspace ]; then
    continue
  elif [ -L "$entry" ]; then
    ln -s "$(readlink "$entry")" "$root$entry"
  elif [ -d "$entry" ]; then
    mkdir -p "$root$entry"
    mount --rbind "$entry" "$root$entry"
  fi
done

cd "$dir/work"
"$inferometer" link "$dir/bin" >/dev/null
ln -s "$here/examples" examples
cp "$dir/bin/llm_perf.py" .
prompts=$([ -n "$QUICK" ] && echo 24 || echo 1376)
for i in $(seq "$prompts"); do
  printf '{"input": "Prompt number %d asks how the weather was on that day.", "output": "fair", "max_tokens": 4}\n' "$i"
done >prompts.jsonl
{
  printf '{"data": ['
  for i in $(seq "$prompts"); do
    [ "$i" = 1 ] || printf ','
    printf '{"text_input": ["Prompt number %d asks how the weather was on that day."], "max_tokens": [4], "stream": [true]}' "$i"
  done
  printf ']}'
} >prompts_perfanalyzer.json

# One server at both of the ports that the guides name.
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait || true' EXIT
if [ "$server" = mock ]; then
  "$inferometer" mock --listen 127.0.0.1:8000 --grpc 127.0.0.1:8001 --model vllm --triton-models vllm=vllm-old --ttft 5ms --itl 1ms --output-tokens 8 >vllm.log 2>&1 &
  pids+=($!)
  "$inferometer" mock --listen 127.0.0.1:9000 --grpc 127.0.0.1:9001 --model ensemble --triton-models ensemble=trtllm --ttft 5ms --itl 100us >ensemble.log 2>&1 &
  pids+=($!)
  until grep -q gRPC vllm.log && grep -q gRPC ensemble.log; do sleep 0.1; done
else
  cp -r "$here/internal/testkit/triton/testdata/models" models
  mv models/vllm_old models/vllm
  sed -i 's/"vllm_old"/"vllm"/' models/vllm/config.pbtxt
  triton() { # NAME HTTP-PORT GRPC-PORT
    "${INFEROMETER_TRITON:-$here/.peers/triton}/tritonserver" --model-repository="$dir/work/models" --model-control-mode=explicit \
      --load-model="$1" --http-port="$2" --grpc-port="$3" --allow-metrics=false --exit-timeout-secs=2 \
      --backend-config=python,shm-region-prefix-name="seeds$$$1" >"$1.log" 2>&1 &
    pids+=($!)
  }
  triton vllm 8000 8001
  triton ensemble 9000 9001
  for log in vllm.log ensemble.log; do
    for _ in $(seq 600); do
      if grep -q 'Started GRPCInferenceService' "$log"; then continue 2; fi
      sleep 0.2
    done
    echo "Triton did not start:"
    tail -n 20 "$log"
    exit 1
  done
fi

cat >steps.sh <<STEPS
set -eux
export PATH="$dir/bin:\$PATH"
cd "$dir/work"
. "$here/internal/tool/perfanalyzer/args/testdata/seeds.sh"
# The same averages without Python.
"$inferometer" report profile_export.json | tee report.txt
python3 examples/calculate_avg_first_token_latency.py >script.txt
python3 examples/calculate_avg_token_to_token_latency.py >>script.txt
grep Average report.txt | diff - script.txt
STEPS
chroot "$root" /bin/bash "$dir/work/steps.sh"
echo "all command lines work"
