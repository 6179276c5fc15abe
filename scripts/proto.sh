#!/usr/bin/env bash
# Writes internal/lib/kserve/kserve.protoset anew: the definition of the KServe v2 protocol as
# Triton speaks it, a FileDescriptorSet. It comes out of NVIDIA's Python client, which carries
# it compiled, at a fixed version, so the same file comes out each time.
#
#   scripts/proto.sh [FILE]     where it goes; internal/lib/kserve/kserve.protoset by default
set -euo pipefail

cd "$(dirname "$0")/.."
OUT=${1:-internal/lib/kserve/kserve.protoset}
TRITONCLIENT=2.73.0

DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
python3 -m pip download -q --no-deps -d "$DIR" "tritonclient==$TRITONCLIENT"

# The compiled definition is a bytes literal in the generated Python, which is read and not
# run. A FileDescriptorSet has each file as its field 1.
python3 - "$DIR"/tritonclient-*.whl "$OUT" <<'PY'
import ast, pathlib, sys, zipfile

wheel, out = sys.argv[1:]


def definition(name):
    for node in ast.walk(ast.parse(zipfile.ZipFile(wheel).read("tritonclient/grpc/" + name))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddSerializedFile":
            return node.args[0].value
    sys.exit(f"proto: {name} holds no definition; has tritonclient changed its layout?")


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


files = [definition(name) for name in ("model_config_pb2.py", "service_pb2.py")]
pathlib.Path(out).write_bytes(b"".join(b"\n" + varint(len(f)) + f for f in files))
PY
printf 'proto: wrote %s\n' "$OUT" >&2
