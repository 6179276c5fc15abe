#!/bin/sh
# Encodes 2 MB of mixed text with each vocabulary in .peers/tokens, here and in the reference (Hugging Face tokenizers, `encode`), one core each,
# one after the other, and prints both speeds and load times. Speeds are per second of processor time, so other work on the machine hurts less.
# Fails when a bound is missed: 5 times the reference for byte-level vocabularies, twice for the others; 300 ms and 150 MB to load one of Llama 3's size.
#   token-bench.sh [NAME...]
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/.peers/tokens
python=$dir/venv/bin/python
[ -s "$dir/corpus.jsonl" ] || "$python" scripts/token-bench.py corpus "$dir/corpus.jsonl"
[ $# -gt 0 ] || set -- $(ls "$dir/vocab")
test=$(mktemp)
missed=$(mktemp)
trap 'rm -f "$test" "$missed"' EXIT
${GO:-go} test -c -o "$test" ./internal/token
printf '%-18s %12s %12s %8s %12s %12s %10s\n' tokenizer 'here MB/s' 'there MB/s' ratio 'load ms' 'there ms' 'alloc MB'
for name in "$@"; do
	[ -s "$dir/vocab/$name/tokenizer.json" ] || continue
	there=$("$python" scripts/token-bench.py encode "$dir/corpus.jsonl" "$dir/vocab/$name/tokenizer.json")
	here=$(INFEROMETER_TOKENS=$dir "$test" -test.run '^$' -test.bench "^Benchmark(Encode|Load)\$/^$name\$" -test.benchtime 5x -test.cpu 1)
	least=5 most=0
	case $name in
	baichuan2 | bert | chatglm3 | gemma* | internlm2 | llama2 | yi) least=2 ;;
	llama3*) most=300 ;;
	esac
	printf '%s\n%s\n' "$there" "$here" | awk -v name="$name" -v least=$least -v most=$most -v missed="$missed" '
		/there/ { theirs = $3; theirload = $6 }
		/^BenchmarkEncode/ { for (i = 2; i <= NF; i++) if ($i == "MB/cpu-s") ours = $(i-1) }
		/^BenchmarkLoad/ { for (i = 2; i <= NF; i++) { if ($i == "cpu-ms/load") load = $(i-1); if ($i == "MB/load") alloc = $(i-1) } }
		END { printf "%-18s %12.2f %12.2f %8.1f %12.0f %12.0f %10.0f\n", name, ours, theirs, theirs ? ours / theirs : 0, load, theirload, alloc
			if (!theirs || ours / theirs < least) print "MISSED: " name " must be " least " times the reference" >> missed
			if (most && load > most) print "MISSED: " name " must load within " most " ms" >> missed
			if (most && alloc > 150) print "MISSED: " name " must load within 150 MB" >> missed }'
done
if [ -s "$missed" ]; then cat "$missed"; exit 1; fi
