#!/usr/bin/env bash
# Regenerates internal/lib/kserve from the definitions of the KServe v2 protocol as Triton
# speaks it. The definitions come out of NVIDIA's Python client, which carries them
# compiled; protoc comes from grpcio-tools and the Go generator from its own module,
# all at fixed versions, so the same files come out each time.
#
#   scripts/proto.sh [DIRECTORY]     where the files go; internal/lib/kserve by default
set -euo pipefail

cd "$(dirname "$0")/.."
OUT=${1:-internal/lib/kserve}
PEERS_DIR=${PEERS_DIR:-.peers}
GO=${GO:-go}

TRITONCLIENT=2.73.0
GRPCIO_TOOLS=1.85.1
PROTOC_GEN_GO=v1.36.12

say() { printf 'proto: %s\n' "$*" >&2; }

mkdir -p "$PEERS_DIR/proto" "$OUT"
DIR=$(cd "$PEERS_DIR/proto" && pwd)
OUT=$(cd "$OUT" && pwd)

# The directory is named after the versions: a change of version starts afresh.
TOOLS=$DIR/$TRITONCLIENT-$GRPCIO_TOOLS-$PROTOC_GEN_GO
if [ ! -e "$TOOLS/done" ]; then
  say "installing protoc of grpcio-tools $GRPCIO_TOOLS, protoc-gen-go $PROTOC_GEN_GO, tritonclient $TRITONCLIENT"
  rm -rf "$TOOLS"
  python3 -m venv "$TOOLS"
  "$TOOLS/bin/pip" install -q "grpcio-tools==$GRPCIO_TOOLS"
  "$TOOLS/bin/pip" install -q --no-deps --target "$TOOLS/client" "tritonclient==$TRITONCLIENT"
  GOBIN=$TOOLS/bin "$GO" install "google.golang.org/protobuf/cmd/protoc-gen-go@$PROTOC_GEN_GO"
  touch "$TOOLS/done"
fi

# The compiled definition is a bytes literal in the generated Python, which is read and
# not run.
"$TOOLS/bin/python" - "$TOOLS" <<'PY'
import ast, pathlib, sys
from google.protobuf import descriptor_pb2

tools = pathlib.Path(sys.argv[1])

def definition(name):
    source = (tools / "client/tritonclient/grpc" / name).read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddSerializedFile":
            return descriptor_pb2.FileDescriptorProto.FromString(node.args[0].value)
    sys.exit(f"proto: {name} holds no definition; has tritonclient changed its layout?")

files = descriptor_pb2.FileDescriptorSet(file=[definition("model_config_pb2.py"), definition("service_pb2.py")])
(tools / "triton.protoset").write_bytes(files.SerializeToString(deterministic=True))
PY

"$TOOLS/bin/python" -m grpc_tools.protoc \
  --descriptor_set_in="$TOOLS/triton.protoset" \
  --plugin="protoc-gen-go=$TOOLS/bin/protoc-gen-go" \
  --go_out="$OUT" --go_opt=paths=source_relative \
  --go_opt=Mmodel_config.proto=inferometer/internal/lib/kserve \
  --go_opt=Mgrpc_service.proto=inferometer/internal/lib/kserve \
  model_config.proto grpc_service.proto
say "wrote $OUT/model_config.pb.go and $OUT/grpc_service.pb.go"
