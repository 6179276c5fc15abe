#!/usr/bin/env bash
# Runs the chart on a real Kubernetes: four workers against the mock, undisturbed, with a pod deleted, a process killed, a
# node lost, and the release uninstalled in the middle. Each must end with one report that says what happened, and with a
# record of every request that the mock saw.
#
#   scripts/conformance-kubernetes.sh INFEROMETER
#
# It needs kubectl, helm (both are looked for in $KUBE/bin, too), and one of
#   KUBE=DIR          a folder with start-cri.sh and stop.sh, which start and stop a cluster of real kubelets on this machine
#                     (etcd, API server, controllers, scheduler, three nodes with containerd; see docs/kubernetes.md); as root
#   KUBECONFIG=FILE   any other cluster of two nodes or more, with
#     SHARED=DIR        a directory that all nodes and this machine have under this path, writable for user 65532
#     LOAD=COMMAND      loads an image archive on all nodes: kind load image-archive
#     KILL=COMMAND      kills the process of a pod: is given its name; without it, that is NOT CHECKED
#     LOSE=COMMAND      takes a node away: is given its name; without it, that is NOT CHECKED
# ONLY="NAME..." runs these of: whole deleted killed uninstalled lost. What was said stays in .conformance/kubernetes.
set -euo pipefail
[ $# = 1 ] || { echo "usage: $0 INFEROMETER" >&2; exit 2; }
PROGRAM=$(realpath "$1")
ROOT=$(cd "$(dirname "$0")/.." && pwd)
OUT=$ROOT/.conformance/kubernetes
ONLY=${ONLY:-whole deleted killed uninstalled lost}
IMAGE=registry.invalid/inferometer:conformance
rm -rf "$OUT"
mkdir -p "$OUT"
cd "$ROOT"
say() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; failed=1; }
failed=

go run -C scripts/release ./image "$PROGRAM" "$IMAGE" "$OUT/image.tar"

# The machine's own cluster.
own_kill() { # of the process of worker $2 of run $1, seen from outside of its container
  local pid
  pid=$(pgrep -f "^inferometer worker --join nats://$1:4222 --name $2 ") && kill -9 "$pid"
}
own_lose() { # nothing leaves the node any more, and then nothing runs there
  local i=0 n p c
  for n in $(kubectl get nodes -o name | sort); do
    [ "$n" = "node/$1" ] && ip link set "kubetest-$i" down
    i=$((i + 1))
  done
  for p in $(pgrep -f -- "kubelet .*--hostname-override $1 ") $(pgrep -f "containerd --config $KUBE/run/cri/$1/") $(pgrep -f "containerd-shim-runc-v2 .*-address $KUBE/run/cri/$1/"); do
    for c in $(pgrep -P "$p"); do kill -9 "$c" 2>/dev/null || true; done
    kill -9 "$p" 2>/dev/null || true
  done
}
if [ -n "${KUBE:-}" ]; then
  KUBE=$(realpath "$KUBE")
  export PATH=$KUBE/bin:$PATH KUBECONFIG=$KUBE/run/admin.kubeconfig
  SHARED=$OUT/shared
  mkdir -p "$SHARED"
  chmod 777 "$SHARED"
  trap '"$KUBE/stop.sh" > "$OUT/stop.log" 2>&1' EXIT
  # Nodes are found to be gone after 25 s instead of 50.
  IMAGES="$KUBE/cri/pause.tar $OUT/image.tar" KCM_ARGS="--node-monitor-period=1s --node-monitor-grace-period=25s" nice -n 5 "$KUBE/start-cri.sh" > "$OUT/start.log" 2>&1
else
  [ -n "${KUBECONFIG:-}" ] && [ -n "${SHARED:-}" ] && [ -n "${LOAD:-}" ] || { echo "set KUBE, or KUBECONFIG, SHARED and LOAD: $0 says what they are" >&2; exit 2; }
  $LOAD "$OUT/image.tar"
fi
NS=inferometer-conformance
k() { kubectl -n $NS "$@"; }
say "the cluster"
kubectl version | sed -n 's/^Server/Kubernetes/p'
kubectl get nodes
FIRST=$(kubectl get nodes -o jsonpath='{.items[0].metadata.name}')

# The mock and the coordinator are on the first node, which stays.
setup() {
  kubectl create namespace $NS
  kubectl label namespace $NS pod-security.kubernetes.io/enforce=restricted
  k apply -f - <<Y
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NS}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  storageClassName: $NS
  hostPath: {path: $SHARED}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: shared}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: $NS
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Service
metadata: {name: mock}
spec:
  clusterIP: None
  selector: {app: mock}
  ports: [{name: http, port: 8000}]
Y
  cat > "$OUT/values.yaml" <<Y
image: $IMAGE
plan:
  target: {urls: ["http://mock:8000"], model: mock, preflight: false}
  data: {source: synthetic, input: 64, output: 8}
  seed: 7
  stages: [{concurrency: 12, duration: 25s}]
workers:
  count: 4
  resources: {requests: {cpu: 250m, memory: 128Mi}, limits: {cpu: "1", memory: 512Mi}}
coordinator:
  resources: {requests: {cpu: 250m, memory: 128Mi}, limits: {cpu: "1", memory: 512Mi}}
  nodeSelector: {kubernetes.io/hostname: $FIRST}
results: {existingClaim: shared}
Y
}
setup > "$OUT/setup.log" 2>&1

# mock NAME starts a mock that writes its truth to NAME.jsonl; no name ends it, and the truth is whole.
mock() {
  k delete deployment mock --ignore-not-found --wait > /dev/null
  k wait --for=delete pod -l app=mock --timeout=120s > /dev/null 2>&1 || true
  [ $# = 1 ] || return 0
  k apply -f - > /dev/null <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: mock}
spec:
  selector: {matchLabels: {app: mock}}
  template:
    metadata: {labels: {app: mock}}
    spec:
      nodeSelector: {kubernetes.io/hostname: $FIRST}
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: mock
          image: $IMAGE
          command: [inferometer, mock, --listen, "0.0.0.0:8000", --ttft, 400ms, --itl, 25ms, --truth, /shared/$1.jsonl]
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
          volumeMounts: [{name: shared, mountPath: /shared}]
      volumes: [{name: shared, persistentVolumeClaim: {claimName: shared}}]
Y
  k rollout status deployment/mock --timeout=120s > /dev/null
}

RUN= # the name of the run under way
log() { k logs "job/$RUN-coordinator" --tail=-1; }
# await waits for a condition for two minutes.
await() { # WHAT COMMAND...
  local what=$1 i
  shift
  for ((i = 0; i < 240; i++)); do "$@" && return 0; sleep 0.5; done
  fail "waited in vain for $what"
  log >&2 || true
  exit 1
}
sending() { log 2>/dev/null | grep -q ' [1-9][0-9]* ok ' || reported; }
reported() { k get pods -l "inferometer-run=$RUN,app.kubernetes.io/component=coordinator" -o jsonpath='{.items[*].status.phase}' | grep -Eq 'Succeeded|Failed'; }
settled() { [ -z "$(k get job "$RUN-workers" -o jsonpath='{.status.active}{.status.terminating}' | tr -d 0)" ]; }
pod() { k get pods -l "inferometer-run=$RUN,batch.kubernetes.io/job-completion-index=$1" -o jsonpath='{.items[0].metadata.name}'; }

# begin NAME starts a run, and returns when it is sending.
begin() {
  say "$1"
  mock "$1"
  helm -n $NS upgrade --install bench deploy/inferometer -f "$OUT/values.yaml" --set "run=$1" > "$OUT/$1.helm.log"
  RUN=$(sed -n 's,.*job/\(.*\)-coordinator$,\1,p' "$OUT/$1.helm.log")
  await "the first answers" sending
}

# finish NAME [LOST] waits for the report, prints the end of it and compares the records.
finish() {
  await "the report" reported
  log > "$OUT/$1.log"
  sed -n '/^  [0-9].* requests in /p; /^ *Failures/p; /^\(VALID\|INVALID\|INCONCLUSIVE\)/,/^$/p' "$OUT/$1.log"
  [ "$1" = lost ] || await "the workers to end" settled
  k get jobs,pods -l "app.kubernetes.io/instance=bench" -o wide | cut -c1-150 > "$OUT/$1.objects"
  k get job "$RUN-workers" -o jsonpath='indexes of the workers: completed {.status.completedIndexes}, failed {.status.failedIndexes}, active pods {.status.active}{"\n"}'
  compare "$@"
}
compare() {
  mock
  go run ./scripts/truth -lost "${2:-0}" -workers 4 "$SHARED/$1.jsonl" "$SHARED/$RUN/requests.jsonl.zst" || fail "$1: records"
}
says() { grep -q -- "$2" "$OUT/$1.log" || fail "$1: the report does not say: $2"; }
silent() { ! grep -q -- "$2" "$OUT/$1.log" || fail "$1: the report says: $2"; }

for scene in $ONLY; do
  case $scene in
  whole)
    begin whole
    finish whole
    says whole '^VALID\|^INCONCLUSIVE'
    silent whole 'before the run'
    token=$(k get secret bench-inferometer-token -o jsonpath='{.data.token}')
    ;;
  deleted)
    begin deleted
    [ "$(k get secret bench-inferometer-token -o jsonpath='{.data.token}')" = "${token:-$(k get secret bench-inferometer-token -o jsonpath='{.data.token}')}" ] || fail "the token changed with an upgrade"
    echo "\$ kubectl delete pod $(pod 1)"
    k delete pod "$(pod 1)" --wait=false > /dev/null
    finish deleted
    says deleted '1 worker of 4 left before the run ended, told to stop'
    silent deleted 'worker lost'
    ;;
  killed)
    begin killed
    if [ -n "${KUBE:-}" ]; then own_kill "$RUN" pod-2; elif [ -n "${KILL:-}" ]; then $KILL "$(pod 2)"; else echo "a worker that is killed: NOT CHECKED"; continue; fi
    echo "\$ kill -9 (the process of $(pod 2))"
    finish killed 1
    says killed '1 worker of 4 ended or was cut off before the run did'
    ;;
  uninstalled)
    begin uninstalled
    echo "\$ helm uninstall bench"
    helm -n $NS uninstall bench > /dev/null
    await "the pods to end" eval '[ -z "$(k get pods -l app.kubernetes.io/instance=bench -o name)" ]'
    "$PROGRAM" report "$SHARED/$RUN" > "$OUT/uninstalled.log" || true
    sed -n '/^  [0-9].* requests in /p; /^\(VALID\|INVALID\|INCONCLUSIVE\)/,/^$/p' "$OUT/uninstalled.log"
    compare uninstalled
    ;;
  lost)
    begin lost
    node=$(k get pods -l "inferometer-run=$RUN,app.kubernetes.io/component=worker" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | grep -v "^$FIRST\$" | sort | uniq -c | sort -n | awk 'NR == 1 {print $2}')
    workers=$(k get pods -l "inferometer-run=$RUN,app.kubernetes.io/component=worker" --field-selector "spec.nodeName=$node" -o name | wc -l)
    if [ -n "${KUBE:-}" ]; then own_lose "$node"; elif [ -n "${LOSE:-}" ]; then $LOSE "$node"; else echo "a node that is lost: NOT CHECKED"; continue; fi
    echo "node $node is gone, with $workers worker(s)"
    finish lost "$workers"
    says lost "$workers worker.* of 4 ended or was cut off before the run did"
    kubectl get nodes
    ;;
  esac
done
say "${failed:+NOT }as it should be"
[ -z "$failed" ]
