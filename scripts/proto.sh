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
from google.protobuf import descriptor_pb2, empty_pb2

tools = pathlib.Path(sys.argv[1])

def definition(name):
    source = (tools / "client/tritonclient/grpc" / name).read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddSerializedFile":
            return descriptor_pb2.FileDescriptorProto.FromString(node.args[0].value)
    sys.exit(f"proto: {name} holds no definition; has tritonclient changed its layout?")

# Of these messages only the fields that are used here; what no message then refers to is left out.
USED = {
    "ModelConfig": "name platform backend version_policy max_batch_size input output dynamic_batching sequence_batching"
                   " ensemble_scheduling instance_group default_model_filename model_transaction_policy response_cache",
    "ModelVersionPolicy": "latest",
    "ModelInput": "name data_type dims is_shape_tensor optional",
    "ModelOutput": "name data_type dims",
    "ModelDynamicBatching": "preferred_batch_size max_queue_delay_microseconds",
    "ModelSequenceBatching": "max_sequence_idle_microseconds direct",
    "ModelSequenceBatching.StrategyDirect": "",
    "ModelEnsembling": "step",
    "ModelEnsembling.Step": "model_name model_version input_map output_map",
    "ModelInstanceGroup": "name count kind",
    "ModelStatistics": "name version last_inference inference_count execution_count inference_stats batch_stats response_stats",
    "RepositoryIndexRequest": "ready",
    "RepositoryModelLoadRequest": "model_name",
    "RepositoryModelUnloadRequest": "model_name parameters",
    "ModelRepositoryParameter": "bool_param",
    "TraceSettingResponse": "",
    "LogSettingsRequest": "",
    "LogSettingsResponse": "",
    "CudaSharedMemoryStatusRequest": "",
    "CudaSharedMemoryStatusResponse": "",
    "CudaSharedMemoryRegisterRequest": "",
    "CudaSharedMemoryUnregisterRequest": "",
}


def narrow(message, name):
    if name in USED:
        kept = [f for f in message.field if f.name in USED[name].split()]
        oneofs = sorted({f.oneof_index for f in kept if f.HasField("oneof_index")})
        for f in kept:
            if f.HasField("oneof_index"):
                f.oneof_index = oneofs.index(f.oneof_index)
        names = [message.oneof_decl[i] for i in oneofs]
        for items, keep in (message.field, kept), (message.oneof_decl, names):
            keep = [type(k).FromString(k.SerializeToString()) for k in keep]
            del items[:]
            items.extend(keep)
    for inner in message.nested_type:
        narrow(inner, f"{name}.{inner.name}")


def reach(name, all, seen):
    if name in all and name not in seen:
        seen.add(name)
        for field in getattr(all[name], "field", []):
            reach(field.type_name, all, seen)


def index(prefix, holder, all):
    for message in getattr(holder, "message_type", getattr(holder, "nested_type", [])):
        all[f"{prefix}.{message.name}"] = message
        index(f"{prefix}.{message.name}", message, all)
    for enum in holder.enum_type:
        all[f"{prefix}.{enum.name}"] = enum


def sweep(prefix, holder, seen):
    """Leaves out what is not reached, and holds nothing that is."""
    for items in getattr(holder, "message_type", getattr(holder, "nested_type", None)), holder.enum_type:
        for i in reversed(range(len(items))):
            name = f"{prefix}.{items[i].name}"
            if hasattr(items[i], "nested_type"):
                sweep(name, items[i], seen)
            if not any(s == name or s.startswith(name + ".") for s in seen):
                del items[i]


files = descriptor_pb2.FileDescriptorSet(file=[definition("model_config_pb2.py"), definition("service_pb2.py")])
all, seen = {}, set()
for file in files.file:
    for message in file.message_type:
        narrow(message, message.name)
    index("." + file.package, file, all)


def known(name):
    """All messages without fields are one: on the wire they are the same."""
    return name if all[name].field else ".google.protobuf.Empty"


for file in files.file:
    for service in file.service:
        for method in service.method:
            method.input_type, method.output_type = known(method.input_type), known(method.output_type)
            reach(method.input_type, all, seen)
            reach(method.output_type, all, seen)
for file in files.file:
    sweep("." + file.package, file, seen)
empty = descriptor_pb2.FileDescriptorProto.FromString(empty_pb2.DESCRIPTOR.serialized_pb)
files.file[-1].dependency.append(empty.name)
files.file.insert(0, empty)
(tools / "triton.protoset").write_bytes(files.SerializeToString(deterministic=True))
PY

"$TOOLS/bin/python" -m grpc_tools.protoc \
  --descriptor_set_in="$TOOLS/triton.protoset" \
  --plugin="protoc-gen-go=$TOOLS/bin/protoc-gen-go" \
  --go_out="$OUT" --go_opt=paths=source_relative \
  --go_opt=Mmodel_config.proto=github.com/inferometer/inferometer/internal/lib/kserve \
  --go_opt=Mgrpc_service.proto=github.com/inferometer/inferometer/internal/lib/kserve \
  model_config.proto grpc_service.proto
say "wrote $OUT/model_config.pb.go and $OUT/grpc_service.pb.go"
