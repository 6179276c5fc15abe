#!/usr/bin/env bash
# Gives the module another path, everywhere it is written: in go.mod files, imports, scripts, docs and
# container files. Whoever publishes the repository runs it once, with the path that `go install` will use:
#
#   scripts/module-path.sh github.com/inferometer/inferometer
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# = 1 ] && [[ $1 =~ ^[a-z0-9.-]+(/[A-Za-z0-9._~-]+)*$ ]] || { echo "usage: $0 MODULE_PATH, such as github.com/someone/inferometer" >&2; exit 2; }
OLD=$(sed -n 's/^module //p' go.mod)
export OLD NEW=$1

# Everything with dots before it (.git, .peers) and what was built is left alone.
files() { find . \( -name '.?*' -o -path ./bin -o -path ./out \) -prune -o -type f "$@" -print0; }

# A path of the module begins with it and goes on with one of its directories: other things have its name too.
HERE=$(find . -mindepth 2 -name '*.go' -not -path './.*' | cut -d/ -f2 | sort -u | paste -sd'|' -)
export HERE

files -name go.mod | xargs -0 perl -pi -e 's{^(module\s+|\s*|require\s+|replace\s+)\Q$ENV{OLD}\E(?=[/\s]|$)}{$1$ENV{NEW}}'
files -name '*.go' | xargs -0 perl -pi -e 's{^(import\s+|\s*)((?:[\w.]+\s+)?")\Q$ENV{OLD}\E(?=/(?:$ENV{HERE})[/"])}{$1$2$ENV{NEW}}'
files \( -name '*.sh' -o -name '*.md' -o -name Makefile -o -name Containerfile -o -name '*.yaml' -o -name '*.yml' \) |
  xargs -0 perl -pi -e 's{(?<![\w./~-])\Q$ENV{OLD}\E(?=/(?:$ENV{HERE})(?:/|\b))}{$ENV{NEW}}g'
gofmt -w cmd internal bench deploy scripts # imports are sorted by path
echo "$OLD is now $NEW. Look at git diff, and run make test."
