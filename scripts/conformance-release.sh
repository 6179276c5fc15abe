#!/usr/bin/env bash
# Installs what `make release` left in dist/ as its users will, in chroots that have neither Go nor Python nor a network,
# and runs it there: the version, the demo, and genai-perf against the built-in mock. The program for the other
# architecture runs under QEMU. What cannot run here (macOS, Windows) is looked at; what carries the program is tried by conformance-release-carriers.sh. Needs root, Debian's
# packages, and for some checks a network outside the chroots.
#
#   scripts/conformance-release.sh [DIST [PATTERN]]    PATTERN: only the checks whose names match
#
# Whatever could not be checked is listed, and the script fails.
set -euo pipefail
cd "$(dirname "$0")/.."
DIST=$(cd "${1:-dist}" && pwd)
ONLY=${2:-.}
GO=${GO:-go}
mkdir -p .peers/release
PEERS=$(cd .peers/release && pwd -P) # clones may share one by a link
WORK=$(mktemp -d "${TMPDIR:-/tmp}/inferometer-conformance-XXXXXX")
trap 'rm -rf "$WORK"' EXIT
failed=() skipped=0

say() { printf '%s\n' "$*"; }
stop() { say "NOT CHECKED: $*"; exit 1; }

# check NAME COMMAND… runs a check, and goes on if it fails.
check() {
  local name=$1 log; shift
  if ! grep -qE "$ONLY" <<<"$name"; then skipped=$((skipped + 1)); return; fi
  log=$WORK/log.$RANDOM
  if "$@" >"$log" 2>&1 && ! grep 'NOT CHECKED' "$log"; then say "ok     $name"; else say "FAILED $name"; sed 's/^/       /' "$log" | tail -n 40; failed+=("$name"); fi
}

[ "$(uname -s)" = Linux ] || stop "all: chroots are Linux's"
[ "$(id -u)" = 0 ] || stop "all: chroot needs root"
unshare -n -m -p --fork true 2>/dev/null || stop "all: this machine gives no namespaces (unshare)"
for program in apt-get dpkg-deb chroot; do command -v "$program" >/dev/null || stop "all: there is no $program; the chroots are made of Debian's packages"; done
case $(uname -m) in x86_64) arch=amd64 other=arm64 machine=aarch64 ;; aarch64) arch=arm64 other=amd64 machine=x86_64 ;; *) stop "all: there is no program for $(uname -m)" ;; esac
[ -s "$DIST/SHA256SUMS" ] || stop "all: $DIST holds no release; run make release"
archive=$(cd "$DIST" && ls inferometer_*_linux_$arch.tar.gz)
VERSION=v${archive#inferometer_}
VERSION=${VERSION%_linux_*}

# packages NAME WORD… unpacks Debian packages and all they need into a directory, which is kept for the next time.
packages() {
  local name=$1 to=$PEERS/$1 apt; shift
  [ "$(cat "$to.done" 2>/dev/null)" = "$*" ] && return
  say "fetching $*"
  rm -rf "$to" "$to.apt" "$to.done"
  mkdir -p "$to" "$to.apt"/{lists/partial,archives/partial}
  : >"$to.apt/status"
  apt=(-qq -o "Dir::State::lists=$to.apt/lists" -o "Dir::Cache=$to.apt" -o "Dir::State::status=$to.apt/status" -o Debug::NoLocking=1
    -o Acquire::Languages=none -o Acquire::Retries=5 -o APT::Sandbox::User=root -o APT::Update::Post-Invoke-Success= -o APT::Update::Post-Invoke=
    -o DPkg::Post-Invoke= -o APT::Keep-Downloaded-Packages=true -o Dir::Etc::sourceparts=/dev/null -o "Dir::Etc::sourcelist=$to.apt/sources.list")
  grep -rhE '^deb .*debian' /etc/apt/sources.list /etc/apt/sources.list.d/*.list >"$to.apt/sources.list" 2>/dev/null || true
  [ -s "$to.apt/sources.list" ] || (. /etc/os-release; echo "deb http://deb.debian.org/debian $VERSION_CODENAME main" >"$to.apt/sources.list")
  apt-get "${apt[@]}" update && apt-get "${apt[@]}" install -y --no-install-recommends --download-only "$@" || return 1
  for package in "$to.apt"/archives/*.deb; do dpkg-deb -x "$package" "$to"; done
  rm -rf "$to.apt" "$to"/usr/share/{doc,man,locale}
  echo "$*" >"$to.done"
}

# root NAME [FROM] makes a directory to chroot into: with busybox and nothing else, or with what FROM holds besides.
root() {
  local to=$WORK/$1
  mkdir -p "$to"
  [ -z "${2:-}" ] || cp -a "$PEERS/$2/." "$to"
  mkdir -p "$to"/{bin,usr/bin,usr/sbin,dev,proc,tmp,root,dist,etc,var/log,var/lib/dpkg/{info,updates,triggers}}
  chmod 1777 "$to/tmp"
  cp "$PEERS/busybox/bin/busybox" "$to/bin/busybox"
  mkdir -p "$to/busybox"
  chroot "$to" /bin/busybox --install -s /busybox
  [ -e "$to/bin/sh" ] || ln -s busybox "$to/bin/sh"
  : >"$to/var/lib/dpkg/status"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$to/etc/passwd"
  echo 'root:x:0:' >"$to/etc/group"
  echo '127.0.0.1 localhost' >"$to/etc/hosts"
  local device
  for device in 'null 3' 'zero 5' 'random 8' 'urandom 9'; do mknod -m 666 "$to/dev/${device% *}" c 1 "${device#* }"; done
  cat >"$to/try" <<'S'
# What a user does first. The verdict is about this machine, which may be busy: INVALID (1) is an answer too.
set -eu
say() { echo "== $*"; }
for other in go gofmt python python3; do if command -v $other; then echo "$other is here"; exit 1; fi; done
if ip -o addr 2>/dev/null | grep -v ' lo '; then echo "there is a network"; exit 1; fi
say version; inferometer version | tee /tmp/version; grep -qF "inferometer $1 (commit " /tmp/version
say demo; code=0; inferometer run --concurrency 4 --requests 40 >/tmp/demo 2>&1 || code=$?
cat /tmp/demo; case $code in 0 | 1 | 4) ;; *) exit 1 ;; esac; grep -qE '\b(VALID|INVALID|INCONCLUSIVE)\b' /tmp/demo
say genai-perf; inferometer mock --listen 127.0.0.1:8000 >/tmp/mock 2>&1 & mock=$!
trap 'kill $mock' EXIT
for i in $(seq 120); do wget -q -O /dev/null http://127.0.0.1:8000/v1/models 2>/dev/null && break; sleep 1; done
cd /tmp; ln -s "$(command -v inferometer)" genai-perf
code=0; ./genai-perf profile -m gpt2 --endpoint-type chat --streaming --url 127.0.0.1:8000 --isl 20 --osl 8 --concurrency 2 --request-count 20 >/tmp/front 2>&1 || code=$?
cat /tmp/front; case $code in 0 | 1 | 4) ;; *) exit 1 ;; esac; grep -q 'Time To First Token' /tmp/front
S
}

# inside NAME COMMAND… runs a command in a root, without a network but for the loopback. Its path is absolute: busybox has a
# dpkg and an rpm of its own, and its shell prefers them.
inside() {
  local to=$WORK/$1; shift
  unshare -n -m -p --fork --mount-proc="$to/proc" chroot "$to" /bin/busybox env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/busybox HOME=/root TERM=dumb \
    /bin/busybox sh -c '/bin/busybox ifconfig lo up && exec "$@"' sh "$@"
}

from_archive() {
  root archive && cp "$DIST/$archive" "$WORK/archive/dist/" &&
    inside archive /bin/sh -ec "cd /tmp && tar -xzf /dist/$archive && mkdir -p /usr/local/bin && mv ${archive%.tar.gz}/inferometer /usr/local/bin/ && ls -R ${archive%.tar.gz}; sh /try $VERSION"
}

# It goes by the name that it is called by, which QEMU has to be told.
from_other() {
  local name=${archive%_$arch.tar.gz}_$other
  root other && cp "$DIST/$name.tar.gz" "$WORK/other/dist/" && cp "$PEERS/qemu/usr/bin/qemu-$machine-static" "$WORK/other/qemu" &&
    inside other /bin/sh -ec "cd /tmp && tar -xzf /dist/$name.tar.gz && mv $name/inferometer /program && mkdir -p /usr/local/bin
      printf '#!/bin/sh\nexec /qemu -0 \"\$0\" /program \"\$@\"\n' >/usr/local/bin/inferometer; chmod +x /usr/local/bin/inferometer
      inferometer version | grep linux/$other; sh /try $VERSION"
}

from_script() {
  root script && cp "$DIST/install.sh" "$DIST/SHA256SUMS" "$DIST/$archive" "$WORK/script/dist/" &&
    inside script /bin/sh -ec "BASE_URL=/dist sh /dist/install.sh --dir /usr/local/bin; sh /try $VERSION"
}

# A file that is not the one published is refused, and nothing is installed.
spoiled_script() {
  root spoiled && cp "$DIST/install.sh" "$DIST/SHA256SUMS" "$WORK/spoiled/dist/" && echo another >"$WORK/spoiled/dist/$archive" &&
    inside spoiled /bin/sh -ec 'if BASE_URL=/dist sh /dist/install.sh --dir /tmp/bin 2>/tmp/said; then exit 1; fi; cat /tmp/said; grep -q "wrong checksum" /tmp/said; [ ! -e /tmp/bin/inferometer ]'
}

places='/usr/bin/inferometer /usr/share/doc/inferometer/copyright /usr/share/man/man1/inferometer.1.gz /usr/share/man/man1/inferometer-run.1.gz /usr/share/bash-completion/completions/inferometer /usr/share/fish/vendor_completions.d/inferometer.fish'

from_deb() {
  root deb system && cp "$DIST/${archive%.tar.gz}.deb" "$WORK/deb/dist/package.deb" &&
    inside deb /bin/sh -ec "dpkg -i /dist/package.deb; dpkg -V inferometer; ls -l $places /usr/share/zsh/vendor-completions/_inferometer; sh /try $VERSION; dpkg -r inferometer; if ls $places; then exit 1; fi"
}

from_rpm() {
  root rpm system && cp "$DIST/${archive%.tar.gz}.rpm" "$WORK/rpm/dist/package.rpm" &&
    inside rpm /bin/sh -ec "rpm --initdb; rpm -K --nosignature /dist/package.rpm; rpm -i /dist/package.rpm; rpm -V inferometer; ls -l $places /usr/share/zsh/site-functions/_inferometer; sh /try $VERSION; rpm -e inferometer; if ls $places; then exit 1; fi"
}

formula() { root ruby ruby && cp "$DIST/inferometer.rb" "$WORK/ruby/dist/" && inside ruby /usr/bin/ruby -wc /dist/inferometer.rb; }

# pypi NAME VERSION PROGRAM has a program of PyPI in the PATH, last.
pypi() {
  "$PEERS/$1/bin/$3" --help >/dev/null 2>&1 || { rm -rf "${PEERS:?}/$1" && python3 -m venv "$PEERS/$1" && "$PEERS/$1/bin/pip" -q install "$1==$2"; } || return 1
  mkdir -p "$PEERS/bin" && ln -sf "../$1/bin/$3" "$PEERS/bin/$3"
}
PATH=$PATH:$PEERS/bin

valid_sbom() { pypi spdx-tools 0.8.5 pyspdxtools && pyspdxtools --version SPDX-2.3 -i "$DIST"/inferometer_*.spdx.json; }

# What `go install …@VERSION` fetches comes from a proxy of files, and so does all that it needs: this machine has it.
go_install() {
  local version=${VERSION%%+*} have
  have=$($GO env GOMODCACHE)/cache/download
  $GO run -C scripts/release -trimpath -buildvcs=false ./proxy "$PWD" "$version" "$WORK/proxy" &&
    (cd / && GOPROXY="file://$WORK/proxy,file://$have" GONOSUMDB='*' GOFLAGS='-trimpath -modcacherw' GOWORK=off GOMODCACHE=$WORK/modules GOBIN=$WORK/gobin CGO_ENABLED=0 \
      $GO install "github.com/inferometer/inferometer/cmd/inferometer@$version") &&
    "$WORK/gobin/inferometer" version | tee /dev/stderr | grep -F "inferometer $version "
}

check "SHA256SUMS" sh -c "cd '$DIST' && sha256sum --quiet -c SHA256SUMS"
check "every file of the release" env INFEROMETER_DIST="$DIST" "$GO" test -C scripts/release -count=1 ./...
packages busybox busybox-static || stop "all installations: busybox cannot be fetched"
check "archive in a bare chroot" from_archive
if packages qemu qemu-user-static; then check "archive for $other, under QEMU" from_other; else say "NOT CHECKED: archive for $other: QEMU cannot be fetched"; failed+=("archive for $other"); fi
check "install script in a bare chroot" from_script
check "install script refuses a wrong checksum" spoiled_script
if packages system dpkg rpm dash bash coreutils grep libc-bin; then
  check "deb with dpkg" from_deb
  check "rpm with rpm" from_rpm
else say "NOT CHECKED: deb, rpm: Debian's packages cannot be fetched"; failed+=("deb and rpm"); fi
if packages ruby ruby; then check "Homebrew formula" formula; else say "NOT CHECKED: Homebrew formula: ruby cannot be fetched"; failed+=("Homebrew formula"); fi
check "SBOM with the SPDX project's own validator" valid_sbom
check "go install" go_install

pypi uv 0.13.8 uv || true # without it, what is NOT CHECKED is said below
for carrier in image npm wheel action gitlab; do check "$carrier" scripts/conformance-release-carriers.sh "$DIST" "$carrier"; done

[ ${#failed[@]} = 0 ] || { say "failed: $(printf '%s; ' "${failed[@]}")"; exit 1; }
[ $skipped = 0 ] || { say "$skipped checks were not asked for"; exit; }
say "everything that can be installed here was installed and ran: $VERSION"
