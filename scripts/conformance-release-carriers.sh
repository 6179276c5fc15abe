#!/usr/bin/env bash
# Tries what carries the program in a release, from its files alone and without a network: the image, the npm packages and
# the wheels, each in a root that holds nothing else but what it needs (nothing, Node, Python); and the shell parts of the
# GitHub Action and the GitLab component.
#
#   scripts/conformance-release-carriers.sh DIST [image|npm|wheel|action|gitlab...]
#
# As root, on Linux: it needs unshare, ip and python3, and Node with npm and a Python with pip for their forms. What is
# missing is NOT CHECKED. conformance-release.sh sources this file and calls `carriers DIST WORK`.
set -euo pipefail
CARRIERS=$(realpath "${BASH_SOURCE[0]}")

# isolated ROOT COMMAND...: in namespaces of its own, without a network but loopback. $BIND are directories of this machine
# that the root has, too. When the command ends, all that it started does.
isolated() {
  local root=$1
  shift
  mkdir -p "$root"/{proc,dev,tmp,dist}
  chmod 1777 "$root/tmp"
  # shellcheck disable=SC2016 # expanded inside
  root=$root unshare --net --mount --pid --fork bash -euc '
    ip link set lo up
    mount -t proc proc /proc
    mount --bind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --bind -o ro "$DIST" "$root/dist"
    for dir in $BIND; do mkdir -p "$root$dir"; mount --bind -o ro "$dir" "$root$dir"; done
    exec "$@"' isolated "$@"
}

# libraries ROOT PROGRAM...: copies what these are linked with.
libraries() {
  local root=$1
  shift
  { ldd "$@" 2>/dev/null || true; } | grep -o '/[^ )]*' | grep -v ':$' | sort -u | while read -r lib; do
    mkdir -p "$root$(dirname "$lib")"
    cp -nL "$lib" "$root$lib" 2>/dev/null || true
  done
}

# uses ROOT USER COMMAND...: what a newcomer does with the program, inside of a root: asks for the version, runs the demo,
# and one of the other tools against the mock. Runs inside of isolated.
uses() {
  local root=$1 user=$2 mock
  shift 2
  within() { chroot --userspec="$user" "$root" "$@"; }
  within "$@" version | tee "$WORK/version"
  grep -qF "inferometer $VERSION (commit " "$WORK/version" || { echo "that is not version $VERSION with its commit" >&2; return 1; }
  # A busy machine may make it INVALID or INCONCLUSIVE, exit codes 1 and 4: that it says so is what counts.
  within "$@" run > "$WORK/demo" 2>&1 || [[ $? = [14] ]]
  grep -E '^(VALID|INVALID|INCONCLUSIVE)' "$WORK/demo" || { tail "$WORK/demo" >&2; return 1; }
  (exec chroot --userspec="$user" "$root" "$@" mock --listen 127.0.0.1:8000) > "$WORK/mock" 2>&1 &
  mock=$!
  until grep -q 'mock listening' "$WORK/mock"; do kill -0 $mock && sleep 0.2; done
  within "$@" genai-perf profile -m mock --endpoint-type chat --streaming -u http://127.0.0.1:8000 --tokenizer builtin:gpt2 --concurrency 2 --request-count 8 --artifact-dir /tmp/artifacts > "$WORK/front" 2>&1 || [[ $? = [14] ]]
  grep -m 1 'Time To First Token' "$WORK/front" || { tail "$WORK/front" >&2; return 1; }
  kill -TERM $mock
  wait $mock || true
  # What was passed through a launcher has reached the program, too.
  if pgrep -f 'mock --listen 127.0.0.1:8000' >/dev/null; then echo "the mock still runs after SIGTERM" >&2; return 1; fi
}

carriers_image() {
  local layout root=$WORK/image
  layout=$(echo "$DIST"/inferometer_*_oci)
  mkdir -p "$WORK/layout" "$root"
  tar -xf "$layout.tar" -C "$WORK/layout"
  diff -r "$layout" "$WORK/layout"
  python3 - "$layout" "$WORK" <<'PYTHON'
import hashlib, json, os, platform, subprocess, sys
layout, work = sys.argv[1:]
def blob(d):
    data = open(f"{layout}/blobs/{d['digest'].replace(':', '/')}", "rb").read()
    assert len(data) == d["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == d["digest"], d
    return data
[whole] = json.load(open(layout + "/index.json"))["manifests"]
index = json.loads(blob(whole))
manifests = {m["platform"]["architecture"]: json.loads(blob(m)) for m in index["manifests"]}
assert set(manifests) == {"amd64", "arm64"}, manifests
for m in manifests.values():
    config = json.loads(blob(m["config"]))
    assert config["config"]["User"] == "65532:65532", config
    for d in m["layers"]:
        blob(d)
notes = index["annotations"]
for key in "version", "revision", "created", "source", "licenses":
    print(f"  {key}: {notes['org.opencontainers.image.' + key]}")
mine = manifests[{"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]]
for d in mine["layers"]:
    subprocess.run(["tar", "-xpz", "--numeric-owner", "-C", work + "/image"], input=blob(d), check=True)
PYTHON
  [ "$(find "$root" -type f -perm /111 | wc -l)" = 1 ] || { echo "there is more than one program in the image" >&2; return 1; }
  BIND='' isolated "$root" "$CARRIERS" inside "$root" 65532:65532 /usr/local/bin/inferometer
}

carriers_npm() {
  local root=$WORK/npm node npm
  node=$(command -v node) && npm=$(npm root -g 2>/dev/null)/npm && [ -d "$npm" ] || { echo "NOT CHECKED: there is no Node with npm"; return; }
  node=$(realpath "$node")
  mkdir -p "$root"/{usr/bin,bin,trial}
  cp "$node" "$root/usr/bin/node"
  cp -L "$(command -v env)" "$root/usr/bin/env"
  cp -L "$(command -v sh)" "$root/bin/sh"
  libraries "$root" "$node" "$(command -v env)" "$(command -v sh)"
  ln -s "$npm/bin/npm-cli.js" "$root/usr/bin/npm"
  ln -s "$npm/bin/npx-cli.js" "$root/usr/bin/npx"
  BIND=$npm isolated "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp WORK="$WORK" VERSION="$VERSION" "$CARRIERS" inside-npm "$root"
}

inside_npm() {
  local root=$1 cpu
  cpu=$(chroot "$root" node -p 'process.arch')
  ls "$root/usr/bin" "$root/bin" | paste -sd' '
  chroot "$root" sh -c "cd /trial && npm install --offline --no-audit --no-fund --loglevel=error /dist/inferometer_${VERSION#v}_npm.tgz /dist/inferometer_${VERSION#v}_npm_linux-$cpu.tgz"
  uses "$root" 0:0 /trial/node_modules/.bin/inferometer
  chroot "$root" sh -c 'cd /trial && npx --offline inferometer version && npx --offline inferometer run' > "$WORK/npx" 2>/dev/null || [[ $? = [14] ]]
  grep -E "^inferometer $VERSION |^(VALID|INVALID|INCONCLUSIVE)" "$WORK/npx" | tee "$WORK/lines"
  [ "$(wc -l < "$WORK/lines")" = 2 ]
  rm -rf "$root/trial/node_modules/@inferometer"
  if chroot "$root" sh -c 'cd /trial && npx --offline inferometer version' 2> "$WORK/missing"; then return 1; fi
  cat "$WORK/missing"
  grep -q 'is not installed: install again' "$WORK/missing"
}

carriers_wheel() {
  local root=$WORK/wheel python prefix uv
  python=$(python3 -c 'import pip, sys, venv; print(sys.executable)' 2>/dev/null) || { echo "NOT CHECKED: there is no Python with pip"; return; }
  prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
  mkdir -p "$root/trial"
  libraries "$root" "$python" "$prefix"/lib/python3*/lib-dynload/*.so
  uv=$(command -v uv) && cp "$uv" "$root/trial/uv" && libraries "$root" "$uv" || echo "NOT CHECKED: uv is not there"
  BIND=$prefix isolated "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp WORK="$WORK" VERSION="$VERSION" "$CARRIERS" inside-wheel "$root" "$prefix/bin/python3"
}

inside_wheel() {
  local root=$1 python=$2
  chroot "$root" "$python" -m venv /trial/venv
  chroot "$root" /trial/venv/bin/python -m pip install -q --disable-pip-version-check --no-index --find-links /dist --pre inferometer
  uses "$root" 0:0 /trial/venv/bin/inferometer
  if [ -e "$root/trial/uv" ]; then
    chroot "$root" /trial/uv tool run --offline --no-index --find-links /dist --prerelease allow --python "$python" --cache-dir /trial/cache inferometer version
  fi
}

# The action, as a runner goes through its steps: with the files that it hands to them, and the install script's release.
carriers_action() {
  local repository dir=$WORK/action
  repository=$(dirname "$(dirname "$CARRIERS")")
  mkdir -p "$dir/temp"
  carriers_inputs
  # step SCRIPT NAME=VALUE...: one step, in the directory of the job.
  step() {
    local script=$1
    shift
    (cd "$dir" && env -i PATH="$PATH" HOME="$dir" CI=true GITHUB_ACTIONS=true GITHUB_ACTION_PATH="$repository" RUNNER_TEMP="$dir/temp" \
      GITHUB_OUTPUT="$dir/output" GITHUB_PATH="$dir/path" GITHUB_STEP_SUMMARY="$dir/summary" BASE_URL="$DIST" "$@" "$repository/packaging/action/$script")
  }
  given() { grep -qxF "$1" "$dir/output" || { echo "output lacks $1:" >&2; cat "$dir/output" >&2; return 1; }; }
  step install.sh INPUT_PROGRAM= INPUT_VERSION= ACTION_REF="$VERSION"
  given "program=$dir/temp/inferometer-bin/inferometer"
  local program=$dir/temp/inferometer-bin/inferometer code=0
  step install.sh INPUT_PROGRAM="$program" INPUT_VERSION= ACTION_REF=main
  ! step install.sh INPUT_PROGRAM=./nowhere INPUT_VERSION= ACTION_REF=main

  # 3 is a missed gate; 1, of a result that a busy machine made no good, comes before it.
  : > "$dir/output"
  step measure.sh PROGRAM="$program" INPUT_COMMAND=run INPUT_OUT=out INPUT_FAIL_IF=$'ttft.p50 > 1ms\n\nerrors > 1%\n' \
    INPUT_ARGS=$'--concurrency 4 --requests 64\n  --name "$(touch owned) `touch owned`"' > "$dir/log" 2>&1 || code=$?
  [ $code = 3 ] || [ $code = 1 ] || { cat "$dir/log" >&2; return 1; }
  given "exit-code=$code" && given "results=out/run" && given "report=out/report.html" && given "junit=out/junit.xml"
  grep -E '^verdict=(VALID|INVALID|INCONCLUSIVE)$' "$dir/output"
  grep -q '::error title=Gate missed' "$dir/log"
  grep -m 1 '^### .*touch owned' "$dir/summary"
  [ "$(grep -c '^### ' "$dir/summary")" = 1 ]
  [ -s "$dir/out/report.html" ] && grep -q '<testsuite' "$dir/out/junit.xml" && [ -d "$dir/out/run" ] && [ ! -e "$dir/owned" ]
  grep -q 'touch owned' "$dir/out/run/plan.yaml"

  step measure.sh PROGRAM="$program" INPUT_COMMAND=compare INPUT_OUT=compared INPUT_FAIL_IF= INPUT_ARGS='out/run out/run' > "$dir/log" 2>&1 || [[ $? = [14] ]]
  grep -m 1 '^### Comparison' "$dir/summary"
  local bad
  for bad in 'INPUT_COMMAND=rm INPUT_ARGS=x' "INPUT_COMMAND=run INPUT_ARGS=--model='x" 'INPUT_COMMAND=run INPUT_ARGS=--no-such-flag'; do
    code=0
    # shellcheck disable=SC2086 # two words
    step measure.sh PROGRAM="$program" INPUT_OUT=bad INPUT_FAIL_IF= $bad > "$dir/log" 2>&1 || code=$?
    [ $code = 2 ] || { echo "$bad: exit code $code" >&2; cat "$dir/log" >&2; return 1; }
  done
}

# The inputs that docs/gates.md gives in its examples are some that there are, and it says what each is.
carriers_inputs() {
  python3 -c 'import yaml' 2>/dev/null || { echo "NOT CHECKED: there is no Python with yaml"; return; }
  python3 - "$(dirname "$(dirname "$CARRIERS")")" <<'PYTHON'
import re, sys, yaml
blocks = [yaml.safe_load(b) for b in re.findall(r"```yaml\n(.*?)```", open(sys.argv[1] + "/docs/gates.md").read(), re.S)]
action = yaml.safe_load(open(sys.argv[1] + "/action.yml"))["inputs"]
component = next(yaml.safe_load_all(open(sys.argv[1] + "/templates/inferometer/template.yml")))["spec"]["inputs"]
github = next(b for b in blocks if "jobs" in b)["jobs"]["latency"]["steps"][0]["with"]
gitlab = next(b for b in blocks if "include" in b)["include"][0]["inputs"]
assert set(github) <= set(action) and set(gitlab) <= set(component), (github, gitlab)
for name in [*action, *component]:
    assert f"`{name}`" in open(sys.argv[1] + "/docs/gates.md").read(), f"docs/gates.md does not say what {name} is"
PYTHON
}

# The script of the GitLab component, as a runner's shell gets it: with its inputs filled in.
carriers_gitlab() {
  local repository dir=$WORK/gitlab code=0
  repository=$(dirname "$(dirname "$CARRIERS")")
  mkdir -p "$dir"
  python3 -c 'import yaml' 2>/dev/null || { echo "NOT CHECKED: there is no Python with yaml"; return; }
  VERSION=$VERSION python3 - "$repository/templates/inferometer/template.yml" > "$dir/script" <<'PYTHON'
import os, re, shlex, sys, yaml
head, job = yaml.safe_load_all(open(sys.argv[1]))
given = {"args": "--concurrency 4 --requests 64 --name 'a b'", "fail_if": "ttft.p50 > 1ms\nerrors > 1%", "base_url": "http://127.0.0.1:8001", "version": os.environ["VERSION"]}
inputs = {name: given.get(name, spec.get("default")) for name, spec in head["spec"]["inputs"].items()}
assert set(given) <= set(inputs), given
fill = lambda text: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: str(inputs[m[1]]), text)
[(name, job)] = job.items()
assert fill(name) == "inferometer" and inputs["tags"] == [], name
for name, value in job["variables"].items():
    print(f"export {name}={shlex.quote(fill(value))}")
print("set -e")
for line in job["script"]:
    print(fill(line))
assert "$[[" not in fill(yaml.dump(job)), job
PYTHON
  # The release is served as a mirror would, and the shell has no program of that name in its PATH.
  WORK="$WORK" DIST="$DIST" BIND='' unshare --net --pid --fork bash -euc '
    ip link set lo up
    python3 -m http.server -d "$DIST" --bind 127.0.0.1 8001 >/dev/null 2>&1 &
    until curl -fs -o /dev/null http://127.0.0.1:8001/SHA256SUMS; do kill -0 $!; sleep 0.2; done
    cd "$WORK/gitlab" && GITLAB_CI=true sh ./script' > "$dir/log" 2>&1 || code=$?
  [ $code = 3 ] || [ $code = 1 ] || { cat "$dir/log" >&2; return 1; }
  grep -E '^(VALID|INVALID|INCONCLUSIVE)' "$dir/log"
  grep 'ttft.p50 > 1ms .*MISSED' "$dir/log"
  [ -s "$dir/inferometer/report.html" ] && grep -q '<testsuite' "$dir/inferometer/junit.xml" && grep -q 'a b' "$dir/inferometer/run/plan.yaml"
}

# carriers DIST WORK [FORM...]: tries the forms, each as far as it goes, and fails if one did.
carriers() {
  DIST=$(realpath "$1") WORK=$(realpath "$2")
  shift 2
  export DIST WORK
  VERSION=v$(basename "$DIST"/inferometer_*_oci.tar | sed 's/^inferometer_\(.*\)_oci.tar$/\1/')
  export VERSION
  local form bad=0
  [ $# -gt 0 ] || set -- image npm wheel action gitlab
  for form; do
    printf '\n== %s\n' "$form"
    "$CARRIERS" "$form-of" || { echo "FAILED: $form" >&2; bad=1; }
  done
  return $bad
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  case ${1:-} in
    inside) shift; uses "$@" ;;
    inside-npm) inside_npm "$2" ;;
    inside-wheel) inside_wheel "$2" "$3" ;;
    *-of) "carriers_${1%-of}" ;;
    '') echo "usage: $0 DIST [image|npm|wheel|action|gitlab...]" >&2; exit 2 ;;
    *)
      [ "$(id -u)" = 0 ] || { echo "$0: run this as root, which chroot needs" >&2; exit 2; }
      work=$(mktemp -d)
      trap 'rm -rf "$work"' EXIT
      dist=$1
      shift
      carriers "$dist" "$work" "$@" ;;
  esac
fi
