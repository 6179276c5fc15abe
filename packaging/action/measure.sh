#!/usr/bin/env bash
# The second step of action.yml: runs the command, and shows its report in the summary of the job.
set -euo pipefail

case $INPUT_COMMAND in
  run | capacity | compare) ;;
  *) echo "::error title=Inferometer::command: $INPUT_COMMAND is not one of run, capacity and compare"; exit 2 ;;
esac
arguments=()
# xargs knows quotes, and expands nothing: what a workflow passes on from a pull request stays text.
if [ -n "${INPUT_ARGS//[[:space:]]/}" ]; then
  words=$(mktemp)
  printf '%s\n' "$INPUT_ARGS" | xargs printf '%s\0' > "$words" || { echo "::error title=Inferometer::args: a quote is not closed"; exit 2; }
  while IFS= read -r -d '' word; do arguments+=("$word"); done < "$words"
  rm -f "$words"
fi
while IFS= read -r gate; do
  gate=${gate%$'\r'}
  if [ -n "${gate//[[:space:]]/}" ]; then arguments+=(--fail-if "$gate"); fi
done <<< "$INPUT_FAIL_IF"
while IFS= read -r gate; do
  gate=${gate%$'\r'}
  if [ -n "${gate//[[:space:]]/}" ]; then arguments+=(--fail-unless "$gate"); fi
done <<< "${INPUT_FAIL_UNLESS-}"

mkdir -p "$INPUT_OUT"
results=$INPUT_OUT/$INPUT_COMMAND report=$INPUT_OUT/report.html junit=$INPUT_OUT/junit.xml
code=0
# The report below has the gates, too: the program need not add them to the summary, nor annotate them twice.
GITHUB_STEP_SUMMARY='' "$PROGRAM" "$INPUT_COMMAND" "${arguments[@]+"${arguments[@]}"}" --out "$results" --html "$report" --junit "$junit" || code=$?

summary=$results/comparison.md
if [ "$INPUT_COMMAND" != compare ]; then
  summary=$INPUT_OUT/report.md
  GITHUB_ACTIONS='' "$PROGRAM" report "$results" --format md > "$summary" 2>/dev/null || true
fi
if [ -s "$summary" ]; then cat "$summary"; else echo "### Inferometer: no result"; echo; echo "Exit code $code: the log says why."; fi >> "$GITHUB_STEP_SUMMARY"
verdict=$(sed -n 's/^    "status": "\([a-z]*\)".*/\1/p' "$results/result.json" 2>/dev/null | head -n 1 | tr a-z A-Z) || true
{
  echo "exit-code=$code"
  echo "verdict=$verdict"
  echo "results=$results"
  echo "report=$report"
  echo "junit=$junit"
} >> "$GITHUB_OUTPUT"
exit "$code"
