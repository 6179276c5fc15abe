#!/usr/bin/env bash
# Packs bin/inferometer as the image of the Containerfile's nonroot stage, without a container engine: an archive
# (OCI layout, one layer) that `ctr images import`, `kind load image-archive` and `skopeo copy oci-archive:` take.
#
#   scripts/image.sh PROGRAM NAME:TAG OUT.tar
set -euo pipefail
[ $# = 3 ] || { echo "usage: $0 PROGRAM NAME:TAG OUT.tar" >&2; exit 2; }
program=$(realpath "$1") name=$2 out=$(realpath -m "$3")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

mkdir -p root/usr/local/bin root/etc root/home/nonroot/.cache/huggingface root/workspace oci/blobs/sha256
mkdir -m 1777 root/tmp
cp "$program" root/usr/local/bin/inferometer
for tool in inference-perf genai-perf perf_analyzer llm_perf; do ln -s inferometer root/usr/local/bin/$tool; done
if [ -r /etc/ssl/certs/ca-certificates.crt ]; then mkdir -p root/etc/ssl/certs && cp /etc/ssl/certs/ca-certificates.crt root/etc/ssl/certs/; fi
printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' > root/etc/passwd
printf 'root:x:0:\nnonroot:x:65532:\n' > root/etc/group

# add puts a file among the blobs, and gives its descriptor.
add() { # FILE TYPE
  local sum size
  sum=$(sha256sum "$1" | cut -d' ' -f1) size=$(stat -c %s "$1")
  mv "$1" "oci/blobs/sha256/$sum"
  printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%s}' "$2" "$sum" "$size"
}
tar --sort=name --mtime=@0 --owner=65532 --group=65532 --numeric-owner -C root -cf layer .
diff=$(sha256sum layer | cut -d' ' -f1)
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=$(uname -m) ;; esac
printf '{"architecture":"%s","os":"linux","rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"config":{"User":"65532:65532","WorkingDir":"/workspace","Cmd":["inference-perf"],"Env":["PATH=/usr/local/bin","HOME=/home/nonroot"]}}' "$arch" "$diff" > config
layer=$(add layer layer.v1.tar)
config=$(add config config.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' "$config" "$layer" > manifest
manifest=$(add manifest manifest.v1+json)
# containerd takes the whole name from its own annotation, other tools the tag.
printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}' "${manifest%\}}" "$name" "${name##*:}" > oci/index.json
printf '{"imageLayoutVersion":"1.0.0"}' > oci/oci-layout
tar -C oci -cf "$out" oci-layout index.json blobs
