#!/bin/sh
# Installs the inferometer program for this machine, after it has compared its checksum.
#
#   curl -fsSL https://github.com/inferometer/inferometer/releases/latest/download/install.sh | sh
#   sh install.sh [--version v1.2.3] [--dir DIRECTORY]
#
# BASE_URL is where the files of the release are: an address, or a directory of this machine.
set -eu

RELEASES=https://github.com/inferometer/inferometer/releases

usage() {
  cat <<'END'
usage: install.sh [--version VERSION] [--dir DIRECTORY]

  --version VERSION  release to install, such as v1.2.3 (default: the latest)
  --dir DIRECTORY    where to put the program (default: /usr/local/bin if it
                     can be written to, else ~/.local/bin)

BASE_URL overrides where files come from: an address or a directory that holds
SHA256SUMS and the archives of one release.
END
}

fail() { echo "install.sh: $*" >&2; exit 1; }

has() { command -v "$1" >/dev/null 2>&1; }

# fetch NAME TO brings a file of the release here.
fetch() {
  case $BASE in
    http://* | https://*)
      if has curl; then curl -fsSL --retry 3 -o "$2" "$BASE/$1"
      elif has wget; then wget -q -O "$2" "$BASE/$1"
      else fail "neither curl nor wget is installed: install one, or download the archive from $BASE"
      fi ;;
    *) cp "${BASE#file://}/$1" "$2" ;;
  esac || fail "cannot fetch $BASE/$1: check the address and the version"
}

checksum() {
  if has sha256sum; then sha256sum <"$1"
  elif has shasum; then shasum -a 256 <"$1"
  else openssl dgst -sha256 -r <"$1"
  fi | cut -d' ' -f1
}

# platform names this machine as archives do.
platform() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no program for $(uname -s) that this script can install; on Windows use Scoop or the zip of $RELEASES" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no program for $(uname -m): build it with go install github.com/inferometer/inferometer/cmd/inferometer@latest" ;;
  esac
  # A shell that Rosetta translates says x86_64 on an Apple processor.
  if [ $system = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  echo "${system}_$arch"
}

# All is in a function, so that a script cut short in the pipe does nothing.
main() {
  version='' dir=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version=*) version=${1#*=} ;;
      --dir=*) dir=${1#*=} ;;
      --version | --dir)
        [ $# -gt 1 ] || fail "$1 needs a value"
        if [ "$1" = --dir ]; then dir=$2; else version=$2; fi
        shift ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; fail "unknown argument: $1" ;;
    esac
    shift
  done
  case $version in
    '' | v*) ;;
    latest) version='' ;;
    *) version=v$version ;;
  esac
  case $version in *[!A-Za-z0-9.+-]*) fail "\"$version\" is not a version such as v1.2.3" ;; esac
  BASE=${BASE_URL:-$RELEASES/${version:+download/$version}}
  [ -n "${BASE_URL:-}$version" ] || BASE=$RELEASES/latest/download
  if [ -z "$dir" ]; then
    dir=/usr/local/bin
    [ -d "$dir" ] && [ -w "$dir" ] || dir=${HOME:?is not set: name a directory with --dir}/.local/bin
  fi

  BASE=${BASE%/}

  has sha256sum || has shasum || has openssl || fail "cannot verify a download: install sha256sum, shasum or openssl"
  where=$(platform)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch SHA256SUMS "$work/SHA256SUMS"
  line=$(grep -E "  inferometer_[^/]*_$where\.tar\.gz\$" "$work/SHA256SUMS" | head -n 1) || true
  [ -n "$line" ] || fail "$BASE has no archive for $where"
  want=${line%% *} archive=${line##* }
  if [ -n "$version" ] && [ "$archive" != "inferometer_${version#v}_$where.tar.gz" ]; then
    fail "$BASE holds $archive, not version $version"
  fi
  fetch "$archive" "$work/archive.tar.gz"
  got=$(checksum "$work/archive.tar.gz")
  [ "$got" = "$want" ] || fail "wrong checksum, nothing was installed: $BASE/$archive has SHA-256 $got, and SHA256SUMS says $want. Try again; if it stays wrong, do not use the file"

  (cd "$work" && tar -xzf archive.tar.gz) || fail "cannot unpack $archive"
  mkdir -p "$dir" || fail "cannot make $dir: name another directory with --dir"
  # Moving it into place replaces a program that is running.
  { cp "$work/${archive%.tar.gz}/inferometer" "$dir/.inferometer.new" && chmod 755 "$dir/.inferometer.new" && mv -f "$dir/.inferometer.new" "$dir/inferometer"; } ||
    fail "cannot write to $dir: name another directory with --dir, or run this as root"
  "$dir/inferometer" version || fail "$dir/inferometer does not run on this machine"
  echo "installed $dir/inferometer"
  case :${PATH:-}: in *":$dir:"*) ;; *) echo "$dir is not in your PATH: add it, or call $dir/inferometer" ;; esac
}

main "$@"
