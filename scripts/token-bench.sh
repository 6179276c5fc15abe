#!/bin/sh
# Encodes 2 MB of mixed text with each vocabulary in .peers/tokens, here and in the reference (Hugging Face tokenizers, `encode`), one core each, one
# after the other, and prints both speeds and load times, and the slowest of some inputs that are hard on a tokenizer, 100 kB each: one letter,
# spaces, emoji and the like. Speeds are per second of processor time, so other work on the machine hurts less.
# Fails when a bound is missed: 5 times the reference for byte-level vocabularies, 6 times for Unigram, twice for the others; 1 MB/s for every hard input; 300 ms and
# 150 MB to load one of Llama 3's size. What cannot be measured, for lack of a vocabulary or of the reference, prints NOT MEASURED and fails too.
#   token-bench.sh [NAME...]    all that are there when none is named
set -u
cd "$(dirname "$0")/.."
dir=$PWD/.peers/tokens
python=$dir/venv/bin/python
[ $# -gt 0 ] || set -- $(ls "$dir/vocab" 2>/dev/null)
[ $# -gt 0 ] || set -- llama3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=$work/missed
: >"$missed"
[ -s "$dir/corpus.jsonl" ] || "$python" scripts/token-bench.py corpus "$dir/corpus.jsonl" 2>"$work/error" || cat "$work/error" >&2
if ! ${GO:-go} test -c -o "$work/test" ./internal/token; then
	echo 'NOT MEASURED: the benchmark does not compile'
	exit 1
fi

# bench PATTERN TIMES runs a benchmark of a vocabulary.
bench() {
	INFEROMETER_TOKENS=$dir "$work/test" -test.run '^$' -test.bench "$1" -test.benchtime "$2" -test.cpu 1
}

printf '%-16s %10s %10s %7s %9s %9s %9s %11s  %s\n' tokenizer 'here MB/s' 'there MB/s' ratio 'load ms' 'there ms' 'alloc MB' 'worst MB/s' 'with 100 kB of'
for name in "$@"; do
	file=$dir/vocab/$name/tokenizer.json
	: >"$work/out"
	why=
	if ! [ -s "$file" ]; then
		why='there is no vocabulary'
	elif ! "$python" scripts/token-bench.py encode "$dir/corpus.jsonl" "$file" >"$work/out" 2>"$work/error"; then
		why="the reference failed: $(tail -n 1 "$work/error")"
	elif ! { bench "^Benchmark(Encode|Load)\$/^$name\$" 5x && bench "^BenchmarkHard\$/^$name\$" 2x; } >>"$work/out" 2>&1; then
		why="the benchmark failed: $(tail -n 1 "$work/out")"
	fi
	if [ -n "$why" ]; then
		printf '%-16s NOT MEASURED: %s\n' "$name" "$why"
		echo "NOT MEASURED: $name" >>"$missed"
		continue
	fi
	least=5 most=0
	case $name in
	baichuan2 | bert | chatglm3 | gemma* | internlm2 | llama2 | yi) least=2 ;;
	unigram | xlmr) least=6 ;;
	llama3*) most=300 ;;
	esac
	awk -v name="$name" -v least=$least -v most=$most -v missed="$missed" '
		function metric(unit,   i) { for (i = 2; i <= NF; i++) if ($i == unit) return $(i-1); return 0 }
		/^there/ { theirs = $3; theirload = $6 }
		/^BenchmarkEncode/ { ours = metric("MB/cpu-s") }
		/^BenchmarkLoad/ { load = metric("cpu-ms/load"); alloc = metric("MB/load") }
		/^BenchmarkHard/ { split($1, part, "/"); hard++; if (!worst || metric("MB/cpu-s") < worst) { worst = metric("MB/cpu-s"); with = part[3] } }
		END {
			if (!theirs || !ours || !load || hard < 7) {
				printf "%-16s NOT MEASURED: a figure is missing\n", name
				print "NOT MEASURED: " name >> missed
				exit
			}
			printf "%-16s %10.2f %10.2f %7.1f %9.0f %9.0f %9.0f %11.1f  %s\n", name, ours, theirs, ours / theirs, load, theirload, alloc, worst, with
			if (ours / theirs < least) print "MISSED: " name " must be " least " times the reference" >> missed
			if (most && load > most) print "MISSED: " name " must load within " most " ms" >> missed
			if (most && alloc > 150) print "MISSED: " name " must load within 150 MB" >> missed
			if (worst < 1) print "MISSED: " name " must encode 100 kB of " with " with 1 MB/s or more" >> missed
		}' "$work/out"
done
if [ -s "$missed" ]; then
	cat "$missed"
	exit 1
fi
