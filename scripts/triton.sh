#!/usr/bin/env bash
# Installs a real Triton Inference Server for tests, from PyPI, under TRITON_DIR
# (.peers/triton by default), and leaves a program `tritonserver` there that runs it:
#
#   scripts/triton.sh
#   .peers/triton/tritonserver --model-repository=DIR ...
#
# The wheel nvidia-pytriton holds the server, its Python backend and a stub for each
# Python it may meet. The stub loads a shared libpython of its version, which is
# why not every Python will do. What is already there and runs is left alone.
set -euo pipefail

cd "$(dirname "$0")/.."
PYTRITON=0.7.0
NUMPY='numpy>=1.21,<2' # the stub is built for the arrays of numpy 1, of which there is none for Python 3.13
DIR=${TRITON_DIR:-.peers/triton}

say() { printf 'triton: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

[ "$(uname -s)" = Linux ] || die "the server runs on Linux only, this is $(uname -s)"
mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd)

# starts: whether the installed server runs at all. Asked for help, it gives it and fails.
starts() { [[ "$("$DIR/tritonserver" --help 2>&1)" == *--model-repository* ]]; }

if [ "$(cat "$DIR/installed" 2>/dev/null)" = "$PYTRITON" ] && starts; then
  say "is there"
  exit 0
fi

# fits PYTHON: whether the server can use it. It prints why not.
fits() {
  "$1" - <<'PY'
import importlib.util, os, sys, sysconfig
v = sys.version_info[:2]
if not (3, 8) <= v <= (3, 12):
    sys.exit("is Python %d.%d; 3.8 to 3.12 will do" % v)
var = sysconfig.get_config_var
name = var("INSTSONAME") or var("LDLIBRARY") or ""
if not var("Py_ENABLE_SHARED") or not any(
        os.path.exists(os.path.join(d, name)) for d in (var("LIBDIR"), os.path.join(sys.base_prefix, "lib")) if d):
    sys.exit("has no shared libpython (on Debian: apt-get install libpython3-dev)")
for module in ("venv", "ensurepip"):
    if importlib.util.find_spec(module) is None:
        sys.exit("has no %s (on Debian: apt-get install python3-venv)" % module)
PY
}

# candidates are the Pythons of this machine, the likeliest first.
candidates() {
  if [ -n "${TRITON_PYTHON:-}" ]; then echo "$TRITON_PYTHON"; return; fi
  local name
  for name in python3 python3.12 python3.11 python3.10 python3.9 python3.8; do
    type -ap "$name" || true
  done
  if command -v pyenv >/dev/null 2>&1; then
    ls -d "$(pyenv root)"/versions/3.*/bin/python 2>/dev/null || true
  fi
}

# managed asks uv for a Python of its own, which is always a shared one.
managed() {
  local uv
  uv=$(command -v uv) || uv=$DIR/../uv/bin/uv
  [ -x "$uv" ] || return 1
  "$uv" python install -q 3.11 >&2 && "$uv" python find --managed-python 3.11
}

python=
faults=
while read -r found; do
  if fault=$(fits "$found" 2>&1); then python=$found; break; fi
  faults+=$'\n'"  $found ${fault##*$'\n'}"
done < <(candidates | awk '!seen[$0]++')
if [ -z "$python" ]; then
  python=$(managed) || die "no Python of this machine will do:${faults:- there is none}
Install one, or name one with TRITON_PYTHON."
fi

say "installing nvidia-pytriton $PYTRITON with $python"
rm -rf "$DIR"
mkdir -p "$DIR/backends/python"
"$python" -m venv "$DIR/venv"
# Of what the wheel depends on, a server without pytriton's own Python side needs numpy alone.
"$DIR/venv/bin/python" -m pip install -q --no-deps "nvidia-pytriton==$PYTRITON" "$NUMPY"

ask() { "$DIR/venv/bin/python" -c "import sys, sysconfig; print($1)"; }
site=$(ask 'sysconfig.get_paths()["purelib"]')
version=$(ask '"%d.%d" % sys.version_info[:2]')
libdir=$(ask 'sysconfig.get_config_var("LIBDIR")')
base=$(ask 'sys.base_prefix')
server=$site/pytriton/tritonserver
stub=$server/python_backend_stubs/$version/triton_python_backend_stub
[ -e "$stub" ] || die "the wheel has no stub for Python $version, which $python is: name another with TRITON_PYTHON"

# The backend looks for the stub of its Python beside itself; the wheel keeps the
# stubs elsewhere, and installers may drop the x bit.
ln -s "$server/backends/python/libtriton_python.so" "$server/backends/python/triton_python_backend_utils.py" "$stub" "$DIR/backends/python/"
chmod +x "$server/bin/tritonserver" "$stub"

# The stub finds numpy through the first python3 on PATH.
cat >"$DIR/tritonserver" <<SH
#!/bin/sh
export LD_LIBRARY_PATH="$site/nvidia_pytriton.libs:$base/lib:$libdir\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export PATH="$DIR/venv/bin:\$PATH"
exec "$server/bin/tritonserver" --backend-directory="$DIR/backends" --cache-directory="$server/caches" "\$@"
SH
chmod +x "$DIR/tritonserver"

starts || die "was installed and does not start: $("$DIR/tritonserver" --help 2>&1 | head -3 || true)"
echo "$PYTRITON" >"$DIR/installed"
