#!/usr/bin/env bash
# Runs every command line that the README of GenAI-Perf 24.03 and its tutorial print, word
# for word, ports included, against the built-in mock in a network of its own: all at once,
# each in a directory of its own.
#
#   scripts/genai-perf-seeds.sh INFEROMETER
set -euo pipefail

if [ "${2:-}" != inside ]; then
  exec unshare --map-root-user --net "$(realpath "$0")" "$(realpath "$1")" inside "$(realpath "$(dirname "$0")/..")"
fi
inferometer=$1 seeds=$3/internal/tool/genaiperf/args/testdata/seeds.txt
ip link set lo up
dir=$(mktemp -d)
cd "$dir"
ln -s "$inferometer" genai-perf
# The tokenizer that they name, as the hub's cache would have it.
export HF_HOME=$dir/hub HF_HUB_OFFLINE=1
commit=1111111111111111111111111111111111111111
cache=$HF_HOME/hub/models--hf-internal-testing--llama-tokenizer
mkdir -p "$cache/refs" "$cache/snapshots/$commit"
printf %s "$commit" >"$cache/refs/main"
gunzip -c "$3/internal/token/testdata/llama2.json.gz" >"$cache/snapshots/$commit/tokenizer.json"
"$inferometer" mock --listen 127.0.0.1:8000 --grpc 127.0.0.1:8001 --model gpt2 --ttft 10ms --itl 2ms >mock.log 2>&1 &
mock=$!
trap 'kill $mock; rm -rf "$dir"' EXIT
until grep -q gRPC mock.log; do sleep 0.1; done
export PATH=$dir:$PATH
runs=()
# One command line in each paragraph; a backslash goes on in the next line.
while IFS= read -r line; do
  case $line in genai-perf*) ;; *) continue ;; esac
  run=$dir/run${#runs[@]}
  mkdir "$run"
  echo "\$ $line" >"$run/out.log"
  # shellcheck disable=SC2086
  (cd "$run" && $line >>out.log 2>err.log) &
  runs+=("$run:$!")
done < <(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$seeds")
failed=0
for r in "${runs[@]}"; do
  run=${r%:*}
  if ! wait "${r##*:}" || ! ls "$run"/*_genai_perf.csv >/dev/null; then
    cat "$run/err.log"
    failed=$((failed + 1))
  fi
  cat "$run/out.log"
done
echo "$failed of the ${#runs[@]} command lines failed"
exit $((failed > 0 || ${#runs[@]} != 8))
