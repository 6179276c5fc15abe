#!/usr/bin/env bash
# Puts a real Prometheus server for tests under PROMETHEUS_DIR (.peers/prometheus by
# default): the Debian package, unpacked without installing it, which takes no root.
#
#   scripts/prometheus.sh
#   .peers/prometheus/prometheus --config.file=FILE ...
#
# What is already there and runs is left alone.
set -euo pipefail

cd "$(dirname "$0")/.."
DIR=${PROMETHEUS_DIR:-.peers/prometheus}

say() { printf 'prometheus: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd)
if "$DIR/prometheus" --version >/dev/null 2>&1; then say "is there"; exit 0; fi

if found=$(command -v prometheus); then
  say "taking $found"
  ln -sf "$found" "$DIR/prometheus"
  exit 0
fi
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
  die "without apt-get the package cannot be fetched: put a program called prometheus on the PATH"
rm -rf "$DIR"
mkdir -p "$DIR"/{deb,lists/partial,root}
say "fetching the Debian package"
# Lists of our own, where those of the system are empty and cannot be filled without root.
if ! (cd "$DIR/deb" && apt-get -qq download prometheus 2>/dev/null); then
  apt-get -qq -o "Dir::State::lists=$DIR/lists" update
  (cd "$DIR/deb" && apt-get -qq -o "Dir::State::lists=$DIR/lists" download prometheus)
fi
dpkg-deb -x "$DIR"/deb/prometheus_*.deb "$DIR/root"
mv "$DIR/root/usr/bin/prometheus" "$DIR/prometheus"
rm -rf "$DIR/deb" "$DIR/lists" "$DIR/root"
"$DIR/prometheus" --version >/dev/null 2>&1 || die "was fetched and does not start: $("$DIR/prometheus" --version 2>&1 | head -3)"
