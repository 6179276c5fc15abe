#!/usr/bin/env bash
# Runs the same configs with the real inference-perf and with inferometer against the
# mock, and compares what they write.
#
#   scripts/conformance-inference-perf.sh INFEROMETER PEER_DIR TOKENIZER_DIR [PROMETHEUS]
#
# PEER_DIR is the virtual environment of the real tool, TOKENIZER_DIR a Hugging Face
# tokenizer, PROMETHEUS the program of a real Prometheus server; without it, what servers
# say of themselves is not compared. What was written stays in .conformance/inference-perf.
# ONLY="NAME..." in the environment runs the configs of these names alone, without charts.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: $0 INFEROMETER PEER_DIR TOKENIZER_DIR [PROMETHEUS]" >&2; exit 2; }
INFEROMETER=$(realpath "$1")
PEER=$(realpath "$2")
TOKENIZER=$(realpath "$3")
PROMETHEUS=${4:+$(realpath "$4")}
HERE=$(cd "$(dirname "$0")" && pwd)
OUT=$HERE/../.conformance/inference-perf
rm -rf "$OUT"
mkdir -p "$OUT"
cd "$OUT"
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false

# Figures are compared, and neither tool should wait for a core because of something else on
# this machine: the mock has a core of its own and so has the client, ahead of other
# processes where that is allowed.
ahead=()
if chrt -r 5 true 2>/dev/null; then ahead=(chrt -r 5); fi
on_core() {
  local core=$1
  shift
  if [ "$(nproc)" -gt 1 ] && taskset -c "$core" true 2>/dev/null; then set -- taskset -c "$core" "$@"; fi
  exec "${ahead[@]}" "$@"
}

mock_pid=
prometheus_pid=
stop_prometheus() { if [ -n "$prometheus_pid" ]; then kill "$prometheus_pid" 2>/dev/null || true; wait "$prometheus_pid" 2>/dev/null || true; prometheus_pid=; fi; }
stop_mock() { if [ -n "$mock_pid" ]; then kill "$mock_pid" 2>/dev/null || true; wait "$mock_pid" 2>/dev/null || true; mock_pid=; fi; }
trap 'stop_prometheus; stop_mock' EXIT

free_port() { "$PEER/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

PORT=$(free_port)
start_mock() {
  stop_mock
  on_core 0 "$INFEROMETER" mock --listen "127.0.0.1:$PORT" --ttft 250ms --itl 25ms --model "$TOKENIZER" --model red --model blue "$@" >mock.log 2>&1 &
  mock_pid=$!
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "the mock does not listen" >&2
  exit 1
}

start_prometheus() {
  PROMETHEUS_PORT=$(free_port)
  cat >prometheus-server.yml <<YML
global: {scrape_interval: 1s}
scrape_configs: [{job_name: servers, static_configs: [{targets: ["127.0.0.1:$PORT"]}]}]
YML
  "$PROMETHEUS" --config.file=prometheus-server.yml --storage.tsdb.path="$OUT/prometheus-data" --web.listen-address="127.0.0.1:$PROMETHEUS_PORT" >prometheus-server.log 2>&1 &
  prometheus_pid=$!
  for _ in $(seq 300); do
    if curl -sf "http://127.0.0.1:$PROMETHEUS_PORT/-/ready" >/dev/null; then return; fi
    sleep 0.1
  done
  echo "Prometheus does not answer" >&2
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
names=()
# both NAME [--faithful]: runs NAME.yml with both tools and keeps what they write; with
# --faithful with ours in the original's ways too.
both() {
  local name=$1 side
  if [[ -n ${ONLY:-} && " $ONLY " != *" $name "* ]]; then return; fi
  names+=("$name")
  echo "== $name"
  client "$name" theirs "$PEER/bin/inference-perf"
  client "$name" ours "$INFEROMETER" inference-perf
  if [ "${2:-}" = --faithful ]; then client "$name" faithful "$INFEROMETER" inference-perf --faithful; fi
  # The config in force that the original wrote stands for the same plan.
  for side in "$name.yml" "$name/theirs/config.yaml"; do
    "$INFEROMETER" inference-perf -c "$side" --load.base_seed 1 --storage.local_storage.path "$name/again" --log-level ERROR --dry-run
  done >"$name.plans" || failed=1
  if ! diff <(head -n "$(($(wc -l <"$name.plans") / 2))" "$name.plans") <(tail -n "$(($(wc -l <"$name.plans") / 2))" "$name.plans"); then
    echo "  the config that the original wrote is another plan"
    failed=1
  fi
}

# client NAME SIDE PROGRAM...: one run.
client() {
  local name=$1 side=$2
  shift 2
  local code=0
  (on_core 1 "$@" -c "$name.yml" --storage.local_storage.path "$name/$side") >"$name.$side.log" 2>&1 || code=$?
  echo $code >"$name.$side.code"
  if [ $code != 0 ] && [ "$name" != breaker ]; then
    tail -20 "$name.$side.log"
    exit 1
  fi
}

common() {
  cat <<YML
server: {type: vllm, model_name: "$TOKENIZER", base_url: "http://127.0.0.1:$PORT", ignore_eos: true, api_key: conformance-key}
report:
  request_lifecycle: {per_request: true, per_adapter_stage: true, use_server_output_tokens: ${1:-false}, per_request_fields: {computed_metrics: true}}
  goodput: {constraints: {ttft: 1, tpot: 0.5, itl: 0.5, ntpot: 1, request_latency: 5}}
YML
}

start_mock
{ common; cat <<'YML'
api: {type: chat, streaming: true}
data:
  type: synthetic_agentic
  synthetic_agentic:
    {num_sessions: 3, fanout_probability: 0.4, turns_per_session: {type: fixed, mean: 2}, input_tokens_per_turn: {type: fixed, mean: 300}, output_tokens_per_turn: {type: uniform, min: 5, max: 20},
     max_events_per_session: 12, tool_call_latency_sec: {type: fixed, mean: 0}, user_think_time_sec: {type: fixed, mean: 1}}
load: {type: trace_session_replay, num_workers: 1, stages: [{concurrent_sessions: 3}]}
YML
} >agentic.yml
both agentic
sed 's/^api: .*/api: {type: anthropic_messages, streaming: false}/; s/fanout_probability: 0.4/fanout_probability: 0.4, parallel_tool_calls_per_step: {type: uniform, min: 1, max: 3}/' agentic.yml >agentic-anthropic.yml
both agentic-anthropic

{ common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load: {type: constant, num_workers: 1, interval: 1, stages: [{rate: 5, duration: 5}, {rate: 10, duration: 5}]}
YML
} >rated.yml
both rated

{ common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load: {type: concurrent, num_workers: 1, stages: [{num_requests: 40, concurrency_level: 4}, {num_requests: 40, concurrency_level: 8}]}
YML
} >concurrent.yml
both concurrent

{ common; cat <<'YML'
api: {type: completion, streaming: false}
data: {type: shareGPT, path: sharegpt.json}
load: {type: poisson, num_workers: 1, stages: [{rate: 8, duration: 4}]}
YML
} >unary.yml
both unary

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
both adapters

start_mock --fault status:503=0.4
{ common true; cat <<'YML'
api: {type: chat, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 10, duration: 5}]}
YML
} >failures.yml
both failures

# Chats of data sets, whole and with 30 tokens asked for; pictures; turns of users.
"$PEER/bin/python" - <<'PY'
import json
rows = [{"conversations": [{"from": "human", "value": "the row that comes last"}, {"from": "gpt", "value": "yes"}]},
        {"conversations": [{"from": "system", "value": "Be brief."}, {"from": "human", "value": "Who are you?"}, {"from": "gpt", "value": "Nobody."}]},
        {"conversations": [{"from": "gpt", "value": "I begin."}, {"from": "human", "value": "Do you?"}]},
        {"conversations": [{"from": "human", "value": ""}, {"from": "gpt", "value": "an answer to nothing"}]}]
for i in range(20):
    rows.append({"conversations": [{"from": ("human", "gpt")[k % 2], "value": " ".join([f"turn{k}of{i}"] * (3 + (i + k) % 9))} for k in range(2 + i % 4)]})
json.dump(rows, open("talks.json", "w"))
PY
start_mock
for kind in shareGPT:chat shareGPT:anthropic_messages infinity_instruct:chat billsum_conversations:chat; do
  name=${kind%:*}-${kind#*:}
  { common true; cat <<YML
api: {type: ${kind#*:}, streaming: true}
data: {type: ${kind%:*}, path: talks.json}
load: {type: constant, num_workers: 1, interval: 1, stages: [{rate: 4, duration: 2}, {rate: 4, duration: 2}]}
YML
  } >"$name.yml"
  both "$name" --faithful
done
{ common true; cat <<'YML'
api: {type: chat, streaming: true}
data:
  type: synthetic
  input_distribution: {type: fixed, mean: 40, std_dev: 0, min: 40, max: 40}
  output_distribution: {type: fixed, mean: 12, std_dev: 0, min: 12, max: 12}
  multimodal: {image: {count: {type: fixed, mean: 1, min: 1, max: 1, std_dev: 0}, resolutions: 360p}}
load: {type: constant, num_workers: 1, stages: [{rate: 4, duration: 2}]}
YML
} >pictures.yml
both pictures --faithful
for api in completion chat; do
  { common true; cat <<YML
api: {type: $api, streaming: true}
data: {type: shared_prefix, shared_prefix: {num_groups: 1, num_prompts_per_group: 2, system_prompt_len: 50, question_len: 30, output_len: 17, enable_multi_turn_chat: true}}
load: {type: concurrent, num_workers: 1, stages: [{num_requests: 6, concurrency_level: 2}]}
YML
  } >"turns-$api.yml"
  both "turns-$api" --faithful
done

# A trace of arrivals, of which rate and duration say how many go.
"$PEER/bin/python" - >arrivals.csv <<'PY'
print("TIMESTAMP,ContextTokens,GeneratedTokens")
for i in range(30):
    print(f"2023-11-16 18:17:{3 + i * 0.2:09.6f}0,{20 + i},{5 + i % 7}")
PY
{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: trace_replay, num_workers: 1, trace: {file: arrivals.csv}, stages: [{rate: 4, duration: 3}]}
YML
} >replayed.yml
both replayed

# Failures that an HTTP status does not tell.
for fault in stall truncate error-event; do
  if [[ -n ${ONLY:-} && " $ONLY " != *" broken-$fault "* ]]; then continue; fi
  start_mock --fault "$fault=0.5"
  { common true; cat <<'YML'
api: {type: chat, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, request_timeout: 3, stages: [{rate: 5, duration: 4}]}
YML
  } >"broken-$fault.yml"
  both "broken-$fault" --faithful
done

# Where the original is wrong: answers with one token, and reasoning.
start_mock
{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data:
  type: random
  input_distribution: {type: fixed, mean: 20, std_dev: 0, min: 20, max: 20, total_count: 20}
  output_distribution: {type: fixed, mean: 1, std_dev: 0, min: 1, max: 1, total_count: 20}
load: {type: constant, num_workers: 1, stages: [{rate: 5, duration: 2}]}
YML
} >single.yml
both single --faithful

start_mock --reasoning-tokens 4
{ common true; cat <<'YML'
api: {type: chat, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 5, duration: 3}]}
YML
} >thinking.yml
both thinking --faithful

# Requests for which no connection held go again.
start_mock --fault close=0.3
{ common true; cat <<'YML'
api: {type: chat, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 20, duration: 4}], request_retries: 8, request_retry_backoff_sec: 0.1}
YML
} >retries.yml
both retries

# Recorded sessions: three calls one after the other, and two side by side with one behind them. Of
# the long ones only later calls of the first kind have long answers.
"$PEER/bin/python" - <<'PY'
import json, os
def span(i, at, took, said, answer, tokens):
    stamp = lambda t: f"2026-01-31T12:00:{t:09.6f}Z"
    return {"span_id": f"s{i}", "trace_id": "t", "name": "chat m", "start_time": stamp(at), "end_time": stamp(at + took), "attributes": {
        "gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(said), "gen_ai.usage.input_tokens": 20, "gen_ai.usage.output_tokens": tokens,
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": answer}])}}
user = lambda text: {"role": "user", "content": text}
model = lambda text: {"role": "assistant", "content": text}
def chain(n, tokens):
    spans, said = [], [user(f"Plan trip number {n} along three rivers.")]
    for i in range(3):
        answer = f"Step {i} of trip {n}: take the next river, and look at the weather before."
        spans.append(span(i, 1 + 1.5 * i, 1, list(said), answer, tokens if i else 12))
        said += [model(answer), user(f"And after step {i} of trip {n}?")]
    return spans
def fan(n):
    a, b = f"Rain falls on trip {n}.", f"The sun shines on trip {n}."
    return [span(0, 1, 1, [user(f"Ask the first about trip {n}.")], a, 12), span(1, 1, 1.2, [user(f"Ask the second about trip {n}.")], b, 12),
            span(2, 2.5, 1, [user(f"Ask the first about trip {n}."), model(a), user("The second says:"), model(b), user("So?")], "Stay at home.", 12)]
for name, tokens in (("traces", 12), ("long", 200)):
    os.makedirs(name, exist_ok=True)
    for n in range(6):
        json.dump({"spans": fan(n) if n % 2 else chain(n, tokens)}, open(f"{name}/trip-{n}.json", "w"))
PY
sessions() {
  cat <<YML
server: {type: vllm, model_name: "$TOKENIZER", base_url: "http://127.0.0.1:$PORT", ignore_eos: true, api_key: conformance-key}
report:
  request_lifecycle: {per_request: true, use_server_output_tokens: true}
  session_lifecycle: {per_session: true}
api: {type: chat, streaming: true}
data: {type: otel_trace_replay, otel_trace_replay: {trace_directory: $1, use_static_model: true, static_model_name: "$TOKENIZER"}}
YML
}
start_mock
{ sessions traces; cat <<'YML'
load: {type: trace_session_replay, num_workers: 1, interval: 1, stages: [{concurrent_sessions: 2, num_sessions: 3}, {concurrent_sessions: 3, session_rate: 2}, {concurrent_sessions: 6, num_sessions: 2}]}
YML
} >sessions.yml
both sessions

# A stage whose time is over before its sessions are: calls in flight are broken off, or may end.
{ sessions long; cat <<'YML'
load: {type: trace_session_replay, num_workers: 1, stages: [{concurrent_sessions: 6, timeout: 2}], stage_teardown_grace_seconds: 1}
YML
} >cut.yml
both cut
{ sessions long; cat <<'YML'
load: {type: trace_session_replay, num_workers: 1, stages: [{concurrent_sessions: 6, timeout: 2}], stage_teardown_grace_seconds: 20}
YML
} >graced.yml
both graced

# Of the six sessions a filter leaves two.
{ sessions traces; cat <<'YML'
load: {type: trace_session_replay, num_workers: 1, stages: [{concurrent_sessions: 6}]}
YML
} | sed "s|{trace_directory: traces,|{trace_directory: traces, filter: \"lambda x: x['session_id'] in ['trip-1', 'trip-2', 'trip-7'] and not x['total_tokens'] > 96 or x.get('benchmark') != 'unknown'\",|" >filtered.yml
both filtered

# A second run of a config takes the place of the first one, a stage fewer or not.
{ common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, interval: 1, stages: [{rate: 5, duration: 2}, {rate: 5, duration: 2}]}
YML
} >again.yml
both again
if [ -d again ]; then
  for side in theirs ours; do cp -r "again/$side" "again/$side-first"; done
  { common; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 4, duration: 2}]}
YML
  } >again.yml
  client again theirs "$PEER/bin/inference-perf"
  client again ours "$INFEROMETER" inference-perf
fi

# Conversations of many turns, of which each place has several.
{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data:
  type: conversation_replay
  conversation_replay: {num_conversations: 2, shared_system_prompt_len: 60, dynamic_system_prompt_len: {type: fixed, mean: 10}, turns_per_conversation: {type: fixed, mean: 3},
    input_tokens_per_turn: {type: fixed, mean: 20}, output_tokens_per_turn: {type: fixed, mean: 12}}
load: {type: concurrent, num_workers: 1, interval: 1, stages: [{num_requests: 12, concurrency_level: 2}, {num_requests: 6, concurrency_level: 2}]}
YML
} >conversations.yml
both conversations

# A breaker by an expression of JMESPath: four slow answers in a row end the run.
{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 5, duration: 20}, {rate: 5, duration: 2}], circuit_breakers: [late]}
circuit_breakers:
  - name: late
    metrics: {matches: ["stage_id == `0` && !error"], rules: ["info.response_metrics.[output_tokens, length(output_token_times)] | [?@ > `3`] | length(@) == `2`"]}
    triggers: [{type: consecutive, threshold: 4}]
YML
} >breaker.yml
both breaker --faithful

# A sweep with few requests, on a server that answers four at a time and so 8 in a second.
start_mock --max-seqs 4
{ common true; cat <<'YML'
api: {type: completion, streaming: true}
data:
  type: random
  input_distribution: {type: fixed, mean: 20, std_dev: 0, min: 20, max: 20, total_count: 200}
  output_distribution: {type: fixed, mean: 11, std_dev: 0, min: 11, max: 11, total_count: 200}
load: {type: constant, num_workers: 1, sweep: {type: linear, num_requests: 60, timeout: 30, num_stages: 2, stage_duration: 3}}
YML
} >sweep.yml
both sweep

# Buckets that are not there, and a store that cannot be reached.
if [[ -z ${ONLY:-} || " $ONLY " == *" uploads "* ]]; then
  echo "== uploads"
  start_mock
  STORE=$(free_port)
  if [ -x "$HERE/../.peers/s3/s3server" ]; then
    "$HERE/../.peers/s3/s3server" -H 127.0.0.1 -p "$STORE" >s3.log 2>&1 &
    s3_pid=$!
    for _ in $(seq 300); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$STORE") 2>/dev/null; then break; fi
      sleep 0.1
    done
  else
    s3_pid=
    echo "  without a store (make s3): only what cannot be reached"
  fi
  for store in ${s3_pid:+$STORE} 1; do
    { common; cat <<YML
api: {type: completion, streaming: true}
data: {type: mock}
load: {type: constant, num_workers: 1, stages: [{rate: 4, duration: 1}]}
storage: {simple_storage_service: {bucket_name: nobody-made-this, path: runs, endpoint_url: "http://127.0.0.1:$store", region_name: us-east-1}}
YML
    } >uploads.yml
    export AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_MAX_ATTEMPTS=1
    theirs=0 ours=0
    (on_core 1 "$PEER/bin/inference-perf" -c uploads.yml --storage.local_storage.path uploads/theirs) >uploads.theirs.log 2>&1 || theirs=$?
    (on_core 1 "$INFEROMETER" inference-perf -c uploads.yml --storage.local_storage.path uploads/ours) >uploads.ours.log 2>&1 || ours=$?
    # differs: ip-uploads
    if [ $theirs != 0 ] || ! grep -q "Failed to upload" uploads.theirs.log || [ $ours != 1 ] || grep -q START_SUMMARY uploads.ours.log; then
      echo "  FAULT uploads to port $store: exit code $theirs of theirs, $ours of ours, which are 0 after the run and 1 ahead of it"
      failed=1
    fi
  done
  if [ -n "$s3_pid" ]; then kill "$s3_pid"; wait "$s3_pid" 2>/dev/null || true; fi
fi

# What the servers say, by way of a real Prometheus server.
if [[ -n $PROMETHEUS && ( -z ${ONLY:-} || " $ONLY " == *" prometheus "* ) ]]; then
  start_mock
  start_prometheus
  { common; cat <<YML
api: {type: completion, streaming: true}
data: {type: shareGPT, path: sharegpt.json}
load: {type: constant, num_workers: 1, stages: [{rate: 10, duration: 8}]}
metrics: {type: prometheus, prometheus: {url: "http://127.0.0.1:$PROMETHEUS_PORT/", scrape_interval: 1}}
YML
  } >prometheus.yml
  both prometheus --faithful
fi
stop_mock

echo "== figures"
"$PEER/bin/python" "$HERE/inference-perf-conformance.py" "${names[@]}" || failed=1

echo "== charts"
for name in rated concurrent; do
  if [ -n "${ONLY:-}" ]; then break; fi
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
