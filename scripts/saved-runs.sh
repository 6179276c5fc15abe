#!/usr/bin/env bash
# Saves small runs of every kind, as a release writes them: later versions must read them (docs/compatibility.md).
#   scripts/saved-runs.sh INFEROMETER internal/cli/testdata/saved/VERSION
set -euo pipefail
bin=$(realpath "$1") out=$2
[ ! -e "$out" ] || { echo "$out is there already: what a release wrote is never changed" >&2; exit 1; }
mkdir -p "$out"
cd "$out"
temp=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$temp"' EXIT

mock() { # N FLAGS...: starts a mock that listens on N addresses, which are then in addresses
  "$bin" mock --listen 127.0.0.1:0 "${@:2}" 2>"$temp/mock" &
  servers+=($!)
  addresses=()
  while [ ${#addresses[@]} -lt "$1" ]; do
    kill -0 $! || { cat "$temp/mock" >&2; exit 1; }
    sleep 0.1
    mapfile -t addresses < <(grep -oE '127\.0\.0\.1:[0-9]+' "$temp/mock")
  done
}
run() { # NAME WORDS...: a run is saved whatever its verdict is
  local code=0
  "$bin" "${@:2}" --quiet --out "$1" >"$temp/log" 2>&1 || code=$?
  [[ $code = [014] ]] || { cat "$temp/log" >&2; exit 1; }
}

mock 2 --grpc 127.0.0.1:0 --ttft 5ms --itl 1ms --output-tokens 4
http=http://${addresses[0]} grpc=grpc://${addresses[1]}
mock 1 --ttft 2ms --itl 1ms --output-tokens 4 --fault status:503=0.2 --fault truncate=0.2 --seed 1
faulty=http://${addresses[0]}
mock 1 --ttft 40ms --itl 1ms --output-tokens 4
slow=http://${addresses[0]}
small=(--input-tokens 8 --output-tokens 4)

run streamed run "$http" "${small[@]}" --name streamed --stage concurrency=2,requests=8,warmup=2 --stage rate=100,requests=8 --goodput ttft:50ms
run whole run "$http" "${small[@]}" --requests 8 --no-stream --keep raw
run failures run "$faulty" "${small[@]}" --requests 20 --concurrency 4 --max-errors 100%
run triton run "$grpc" --model mock --requests 8 --concurrency 2
run windows run "$http" "${small[@]}" --levels 1:2:1 --window 200ms --max-trials 2
run workers run "$http" "${small[@]}" --requests 12 --concurrency 4 --workers 2
run repeated run "$http" "${small[@]}" --requests 6 --repeat 2 --pause 0s
run capacity capacity "$slow" "${small[@]}" --slo 'ttft.p99 < 500ms' --max 4 --by concurrency --max-time 6s

"$bin" run "$http" "${small[@]}" --rate 10 --duration 10m --out killed --quiet >/dev/null 2>&1 &
killed=$!
until [ -s killed/requests.jsonl.zst ] && [ "$(stat -c %s killed/requests.jsonl.zst)" -ge 2000 ]; do sleep 0.2; done
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
"$bin" report killed --format json >killed/result.json 2>/dev/null || true

# What a report is compared with is large and packs well. The tables are made of it.
find . -name summary.csv -delete
find . \( -name result.json -o -name repeats.json \) -exec gzip -9n {} +
find . -type f -printf '%s %P\n' | sort -k2
