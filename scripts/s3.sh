#!/usr/bin/env bash
# Installs a real S3 server for tests, moto from PyPI, under S3_DIR (.peers/s3 by
# default), and leaves a program `s3server` there that runs it:
#
#   scripts/s3.sh
#   .peers/s3/s3server -H 127.0.0.1 -p 5000
#
# What is already there and runs is left alone.
set -euo pipefail

cd "$(dirname "$0")/.."
MOTO=5.2.5
DIR=${S3_DIR:-.peers/s3}

say() { printf 's3: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd)
if [ "$(cat "$DIR/installed" 2>/dev/null)" = "$MOTO" ] && "$DIR/s3server" --help >/dev/null 2>&1; then say "is there"; exit 0; fi

say "installing moto $MOTO"
rm -rf "$DIR"
python3 -m venv "$DIR/venv" || die "python3 has no venv (on Debian: apt-get install python3-venv)"
# uv installs the many small packages in seconds, pip in minutes.
uv=$(command -v uv) || uv=$DIR/../uv/bin/uv
if [ ! -x "$uv" ]; then
  "$DIR/venv/bin/python" -m pip install -q uv
  uv=$DIR/venv/bin/uv
fi
"$uv" pip install -q --python "$DIR/venv/bin/python" "moto[s3,iam,server]==$MOTO"
ln -s venv/bin/moto_server "$DIR/s3server"
"$DIR/s3server" --help >/dev/null 2>&1 || die "was installed and does not start: $("$DIR/s3server" --help 2>&1 | tail -3)"
echo "$MOTO" >"$DIR/installed"
