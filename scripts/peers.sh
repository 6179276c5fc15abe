#!/usr/bin/env bash
# Installs the real peers that `make bench` compares with, from PyPI, each in an
# environment of its own under PEERS_DIR (.peers by default).
#
#   scripts/peers.sh [all | perf_analyzer | tokenizer | genai-perf | aiperf | inference-perf | llm_perf | guidellm | vllm-bench | vllm | sglang | frames | sdks]...
#
# What is already there and runs is left alone, so the script can be run again.
set -euo pipefail

cd "$(dirname "$0")/.."
PEERS_DIR=${PEERS_DIR:-.peers}
mkdir -p "$PEERS_DIR"
DIR=$(cd "$PEERS_DIR" && pwd)

PERF_ANALYZER=2.60.0
GENAI_PERF=0.0.16
AIPERF=0.13.0
INFERENCE_PERF=0.7.0
GUIDELLM=0.8.1
LLM_PERF=13ff117870d3b5a09e3931adae473d3bb62ceaa0 # the later one has another table and reads text_input
TOKENIZERS=0.22.1
VLLM=0.32.0
VLLM_SOURCE=d2c957d5eee3d0985012151315ddc62cbe0cd368fc96a5fc3510438d9dddf2ad # SHA-256 of its source package
VLLM_RS=6f2bb3c5b4dc03cab615c8985971247f016c7113b7e5010da447eb633800dfa5 # SHA-256 of the program in its wheel
SGLANG=sglang-0.5.23-cp311-cp311-manylinux_2_34_x86_64.whl
SGLANG_WHEEL=00b3cd5b265ac76c64185fbb6b95424f324ddd9f428d0306b77bc9db9d859937 # its SHA-256
SDKS="openai==3.51.0 anthropic==2.10.0 cohere==7.3.1 tritonclient[http,grpc]==2.73.0"
FRAMES="pandas==3.1.1 pyarrow==26.0.1 duckdb==2.0.0"

say() { printf 'peers: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# runs CMD...: whether an installed tool starts at all.
runs() { "$@" >/dev/null 2>&1; }

# uv makes environments and resolves faster than pip does.
uv_bin() {
  if command -v uv >/dev/null 2>&1; then command -v uv; return; fi
  if [ ! -x "$DIR/uv/bin/uv" ]; then
    python3 -m venv "$DIR/uv" >&2
    "$DIR/uv/bin/pip" install -q uv >&2
  fi
  echo "$DIR/uv/bin/uv"
}

# python_of VERSION: an interpreter of that version, also one that pyenv keeps
# but has not switched on; else the version itself, for uv to download.
python_of() {
  local found
  if found=$("$(uv_bin)" python find --no-python-downloads "$1" 2>/dev/null); then echo "$found"; return; fi
  if command -v pyenv >/dev/null 2>&1; then
    for found in "$(pyenv root)/versions/$1".*/bin/python; do
      if [ -x "$found" ]; then echo "$found"; return; fi
    done
  fi
  echo "$1"
}

# venv NAME PYTHON PACKAGE...: an environment NAME with the packages in it.
venv() {
  local name=$1 python uv
  python=$(python_of "$2")
  shift 2
  uv=$(uv_bin)
  "$uv" venv -q --clear --python "$python" "$DIR/$name"
  "$uv" pip install -q --python "$DIR/$name/bin/python" "$@"
}

# The wheel of perf_analyzer wants glibc 2.38 and libssl 3. On an older Debian its
# libraries are taken from Debian 13 and used by this one program alone.
debian13_libraries() {
  local pa=$1 arch
  command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 ||
    die "perf_analyzer needs glibc 2.38, this system has an older one, and without apt-get its libraries cannot be fetched"
  mkdir -p "$pa"/{lists/partial,sources,debs,root}
  local mirror key
  mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -1 | tr -d ' ' || true)
  key=/usr/share/keyrings/debian-archive-keyring.gpg
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' \
    "${mirror:-http://deb.debian.org/debian}" "$key" >"$pa/sources/trixie.sources"
  local apt=(-qq -o "Dir::Etc::sourceparts=$pa/sources" -o Dir::Etc::sourcelist=/dev/null -o "Dir::State::lists=$pa/lists")
  apt-get "${apt[@]}" update
  (cd "$pa/debs" && apt-get "${apt[@]}" download libc6 libstdc++6 libgcc-s1 libssl3t64 zlib1g libzstd1)
  local deb
  for deb in "$pa"/debs/*.deb; do dpkg-deb -x "$deb" "$pa/root"; done
  rm -rf "$pa/lists" "$pa/debs"
  arch=$(uname -m)
  cat >"$pa/perf_analyzer" <<SH
#!/bin/sh
here=\$(cd "\$(dirname "\$(readlink -f "\$0")")" && pwd)
lib=\$here/root/usr/lib/$arch-linux-gnu
exec "\$lib/ld-linux-${arch/_/-}.so.2" --library-path "\$lib" "\$here/wheel/perf_analyzer/bin/perf_analyzer" "\$@"
SH
  chmod +x "$pa/perf_analyzer"
}

perf_analyzer() {
  local pa=$DIR/perf_analyzer
  if runs "$pa/perf_analyzer" --version; then say "perf_analyzer is there"; return; fi
  say "installing perf_analyzer $PERF_ANALYZER"
  rm -rf "$pa"
  mkdir -p "$pa/wheel"
  python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux_2_38_x86_64 --python-version 3.11 \
    -d "$pa/wheel" "perf-analyzer==$PERF_ANALYZER"
  (cd "$pa/wheel" && python3 -m zipfile -e ./*.whl . && rm -f ./*.whl)
  chmod +x "$pa/wheel/perf_analyzer/bin/perf_analyzer"
  ln -s wheel/perf_analyzer/bin/perf_analyzer "$pa/perf_analyzer"
  if ! runs "$pa/perf_analyzer" --version; then
    rm "$pa/perf_analyzer"
    debian13_libraries "$pa"
  fi
  "$pa/perf_analyzer" --version >/dev/null || die "perf_analyzer was installed and does not start"
}

# A small byte-level BPE trained here on the standard library's own source, so
# that no peer has to ask a hub for a tokenizer.
tokenizer() {
  if [ -s "$DIR/tokenizer/tokenizer.json" ]; then say "tokenizer is there"; return; fi
  say "training a tokenizer"
  runs "$DIR/tokenizers/bin/python" -c 'import tokenizers' || venv tokenizers 3 "tokenizers==$TOKENIZERS"
  mkdir -p "$DIR/tokenizer"
  "$DIR/tokenizers/bin/python" - "$DIR/tokenizer" <<'PY'
import glob, json, os, sys, sysconfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

out = sys.argv[1]
special = ["<s>", "</s>", "<pad>", "<unk>"]
tok = Tokenizer(models.BPE(unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tok.decoder = decoders.ByteLevel()
corpus = sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "*.py")))[:150]
tok.train(corpus, trainers.BpeTrainer(
    vocab_size=8000, special_tokens=special, show_progress=False,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tok.save(os.path.join(out, "tokenizer.json"))
names = dict(zip(["bos_token", "eos_token", "pad_token", "unk_token"], special))
template = ("{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
            "{% if add_generation_prompt %}<s>assistant: {% endif %}")
def write(name, value):
    with open(os.path.join(out, name), "w") as f:
        json.dump(value, f)
write("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 131072,
                                "clean_up_tokenization_spaces": False, "chat_template": template, **names})
write("special_tokens_map.json", names)
write("config.json", {"model_type": "llama", "vocab_size": tok.get_vocab_size()})
PY
}

genai_perf() {
  if runs "$DIR/genai-perf/bin/genai-perf" --version; then say "genai-perf is there"; return; fi
  say "installing genai-perf $GENAI_PERF"
  # The perf-analyzer that it depends on needs a newer glibc than the resolver may
  # find here, so the program installed above is put on its path instead.
  venv genai-perf 3.11 "genai-perf==$GENAI_PERF"
  rm -f "$DIR/genai-perf/bin/perf_analyzer"
  ln -s ../../perf_analyzer/perf_analyzer "$DIR/genai-perf/bin/perf_analyzer"
}

aiperf() {
  if runs "$DIR/aiperf/bin/aiperf" --help; then say "aiperf is there"; return; fi
  say "installing aiperf $AIPERF"
  venv aiperf 3.11 "aiperf==$AIPERF"
}

inference_perf() {
  if runs "$DIR/inference-perf/bin/inference-perf" --help && runs "$DIR/inference-perf/bin/python" -c 'import matplotlib'; then
    say "inference-perf is there"
    return
  fi
  say "installing inference-perf $INFERENCE_PERF"
  venv inference-perf 3.12 "inference-perf[analysis]==$INFERENCE_PERF"
}

# A script without a release. LLM_PERF_SOURCE names another copy of its repository.
llm_perf() {
  if runs "$DIR/llm_perf/bin/python" "$DIR/llm_perf/source/inference_perf/llm_perf.py" --help; then say "llm_perf is there"; return; fi
  say "installing llm_perf"
  venv llm_perf 3.11 'tritonclient[grpc,http]' pandas numpy pydantic transformers
  git clone -q "${LLM_PERF_SOURCE:-https://github.com/chrjxj/triton_trtllm_tools}" "$DIR/llm_perf/source"
  git -C "$DIR/llm_perf/source" checkout -q "$LLM_PERF"
}

# What people read exports with.
frames() {
  if runs "$DIR/frames/bin/python" -c 'import duckdb, pandas, pyarrow'; then say "frames are there"; return; fi
  say "installing $FRAMES"
  # shellcheck disable=SC2086 # several packages
  venv frames 3.11 $FRAMES
}

# The SDKs that people reach servers with, for `make conformance-sdks`.
sdks() {
  if runs "$DIR/sdks/bin/python" -c 'import anthropic, cohere, openai, tritonclient.grpc, tritonclient.http'; then say "sdks are there"; return; fi
  say "installing $SDKS"
  # shellcheck disable=SC2086 # a list
  venv sdks 3.11 $SDKS
}

guidellm() {
  if runs "$DIR/guidellm/bin/guidellm" --help; then say "guidellm is there"; return; fi
  say "installing guidellm $GUIDELLM (several GB)"
  venv guidellm 3.11 "guidellm==$GUIDELLM"
}

# The Python client of vLLM alone: its files as they are, without the engine.
vllm() {
  if [ -e "$DIR/vllm/client/vllm/benchmarks/serve.py" ] && runs "$DIR/vllm/bin/python" -c "import transformers"; then say "vllm is there"; return; fi
  say "installing the client of vLLM $VLLM"
  venv vllm 3.11 aiohttp==3.14.0 numpy==2.4.6 pandas==3.0.3 tqdm==4.70.1 transformers==5.22.2 tokenizers==0.23.3 pillow==13.0.0 \
    pybase64==1.5.1 regex==2026.11.9 pyyaml==6.0.3 requests==2.34.2 datasets==5.2.0 jinja2==3.1.6 msgspec==0.22.0
  python3 scripts/vllm-client.py "$VLLM" "$VLLM_SOURCE" "$DIR/vllm/client"
  python3 scripts/vllm-client.py 0.10.0 a44e9013db26082a82c3931ed8772ac884d6d60566d36ecdb0e8dc01c65b241a "$DIR/vllm/script"
}

# The Python client of SGLang alone, which runs with what vLLM's runs with.
sglang() {
  vllm
  if [ -e "$DIR/sglang/client/sglang/benchmark/serving.py" ]; then say "sglang is there"; return; fi
  say "installing the client of $SGLANG"
  python3 scripts/sglang-client.py "$SGLANG" "$SGLANG_WHEEL" "$DIR/sglang/client"
}

# vLLM's Rust client lies ready-made in vLLM's wheel, of which only that one file is fetched.
vllm_bench() {
  if runs "$DIR/vllm-bench/vllm-rs" --version; then say "vllm-bench is there"; return; fi
  say "installing vllm-bench of vLLM $VLLM"
  mkdir -p "$DIR/vllm-bench"
  python3 scripts/wheel-member.py vllm "vllm-$VLLM-cp38-abi3-manylinux_2_28_x86_64.whl" vllm/vllm-rs "$VLLM_RS" "$DIR/vllm-bench/vllm-rs"
}

for peer in "${@:-all}"; do
  case $peer in
    all) perf_analyzer; tokenizer; genai_perf; aiperf; inference_perf; guidellm; vllm_bench ;;
    perf_analyzer) perf_analyzer ;;
    tokenizer) tokenizer ;;
    genai-perf) perf_analyzer; tokenizer; genai_perf ;;
    aiperf) tokenizer; aiperf ;;
    inference-perf) tokenizer; inference_perf ;;
    llm_perf) tokenizer; llm_perf ;;
    guidellm) tokenizer; guidellm ;;
    vllm-bench) tokenizer; vllm_bench ;;
    vllm) tokenizer; vllm ;;
    sglang) tokenizer; sglang ;;
    frames) frames ;;
    sdks) sdks ;;
    *) die "no peer is called $peer; known: all perf_analyzer tokenizer genai-perf aiperf inference-perf llm_perf guidellm vllm-bench vllm sglang frames sdks" ;;
  esac
done
