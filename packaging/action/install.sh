#!/usr/bin/env bash
# The first step of action.yml: the program that INPUT_PROGRAM names, or a release. Either is in the PATH of later steps.
set -euo pipefail

program=$INPUT_PROGRAM
if [ -z "$program" ]; then
  version=$INPUT_VERSION
  # uses: inferometer/inferometer@v0.1.0 means that release; a branch or a commit says none.
  if [ -z "$version" ] && [[ ${ACTION_REF:-} =~ ^v[0-9]+\.[0-9]+\.[0-9] ]]; then version=$ACTION_REF; fi
  dir=${RUNNER_TEMP:?}/inferometer-bin
  mkdir -p "$dir"
  sh "$GITHUB_ACTION_PATH/scripts/install.sh" --dir "$dir" ${version:+--version "$version"}
  program=$dir/inferometer
fi
[ -x "$program" ] || { echo "::error title=Inferometer::there is no program at $program: check the input program"; exit 2; }
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
"$program" version
dirname "$program" >> "$GITHUB_PATH"
echo "program=$program" >> "$GITHUB_OUTPUT"
