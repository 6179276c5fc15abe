# The command lines of two guides, word for word: that on benchmarking language models with
# Perf Analyzer, and that of llm_perf. scripts/perf-analyzer-seeds.sh runs them.

# Profiling the prefill phase
echo '
{
    "data": [
        {
            "PROMPT": [
                "Hello, my name is"
            ],
            "STREAM": [
                true
            ]
        }
    ]
}
' > prompts.json
perf_analyzer \
    -m vllm \
    -i grpc \
    --async \
    --streaming \
    --input-data=prompts.json \
    --profile-export-file=profile_export.json \
    --measurement-mode=count_windows \
    --measurement-request-count=10 \
    --stability-percentage=999
python3 examples/calculate_avg_first_token_latency.py

# Profiling the generation phase
perf_analyzer \
    -m vllm \
    -i grpc \
    --async \
    --streaming \
    --input-data=prompts.json \
    --profile-export-file=profile_export.json \
    --measurement-mode=count_windows \
    --measurement-request-count=10 \
    --stability-percentage=999
python3 examples/calculate_avg_token_to_token_latency.py

# llm_perf
python3 llm_perf.py    \
    -u localhost:9001 -i grpc -m ensemble    \
    --concurrency 1,4,8  --input-data ./prompts.jsonl  \
    --tokenizer-path /workspace/models/Qwen2-7B

# The cross check: a minute and a half, so it stands last
[ -n "$QUICK" ] || perf_analyzer  -u localhost:9001 -i grpc     -m ensemble --async --input-data prompts_perfanalyzer.json     --measurement-interval 10000      --profile-export-file qwen2-7b-1024_1.json      --service-kind triton      -v --endpoint v1/chat/completions      --concurrency-range 6:8:1      --stability-percentage 999      --streaming --shape max_tokens:1 --shape text_input:1
