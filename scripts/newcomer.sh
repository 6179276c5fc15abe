#!/usr/bin/env bash
# newcomer.sh PROGRAM PAGE.md|GUESSES.txt...: types every command of the pages, as someone would who reads them for the first time.
#
# The commands are the lines of the pages' ```sh blocks, in order, in one shell per page and a new directory, with PROGRAM
# on the PATH. Only ports are changed (:8000 becomes a free one). A block that cannot be run here has a line of its own above
# it, <!-- not run: REASON -->, and is printed as not run. The pages are read side by side.
#
# Exit codes of 1 and 4 are fine where the verdict on the result is the reason, since a busy machine earns it, and one of 3 where
# there is a gate or an objective. A usage error, a crash, requests that fail or a file that is not there end it with 1.
# A command that does not end within ten minutes fails with a stack of all its goroutines.
set -uo pipefail
[ $# -ge 2 ] || { echo "usage: newcomer.sh PROGRAM PAGE.md..." >&2; exit 2; }
program=$(realpath "$1"); shift
[ -x "$program" ] || { echo "newcomer: $program is not there: run make build" >&2; exit 2; }
top=$(mktemp -d) readers=(); trap 'kill "${readers[@]}" 2>/dev/null; rm -rf "$top"' EXIT
mkdir "$top/bin" && ln -s "$program" "$top/bin/inferometer" || exit 2
export PATH="$top/bin:$PATH" LC_ALL=C.UTF-8

# inferometer ARGUMENT...: the program, for as long as one may wait for it. A server runs until it is killed.
inferometer() {
  [ "$1" != mock ] || exec "$program" "$@"
  timeout --signal=QUIT --kill-after=20 600 "$program" "$@"
}
unset GITHUB_ACTIONS GITLAB_CI INFEROMETER_LIVE_TOKEN

# commands PAGE: LINE, reason not to run it, command, for each command of a page.
commands() {
  awk -v S=$'\037' '
    !fence && /^<!-- not run: .+ -->$/ { reason = substr($0, 15, length($0) - 18); next }
    /^```/ && fence { fence = 0; reason = ""; next }
    /^```/ { fence = 1; lang = substr($0, 4); if (lang == "") print NR S S "false # a block without a language: say sh, text or yaml"; next }
    !fence { if (NF) reason = ""; next }
    lang != "sh" || !NF { next }
    { if (!line) line = NR; if (sub(/\\$/, "")) { text = text $0; next } print line S reason S text $0; text = ""; line = 0 }
    END { if (fence) print NR S S "false # a block that does not end" }' "$1"
}

# free PORT: the port that stands in for one of the page, the same each time.
free() {
  local file="ports/$1" port
  if [ ! -e "$file" ]; then
    while port=$((10000 + RANDOM % 20000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo "$port" >"$file"
  fi
  cat "$file"
}

# await COMMAND: until the server that it starts listens.
await() {
  [[ $1 =~ --listen\ [^\ ]*:([0-9]+) ]] || return 0
  local port=${BASH_REMATCH[1]}
  for _ in {1..300}; do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return 0; sleep 0.2; done
  echo "the server does not listen on port $port"; return 1
}

# judge CODE COMMAND: what is wrong with how a command ended; nothing where all is well.
judge() {
  case $1 in
    0) ;;
    4) grep -qE '(^|is |, )INCONCLUSIVE' out || echo "exit code 4, and nothing is INCONCLUSIVE" ;;
    1) grep -qE '(^|is |, )(INVALID|invalid)' out && ! grep -qE ': 0 ok' out || echo "exit code 1, and not because of the verdict" ;;
    3) [[ $2 == *--fail-if* || $2 == *--slo* ]] || echo "exit code 3 without a gate" ;;
    *) echo "exit code $1" ;;
  esac
  local words=($2) i
  for ((i = 0; i + 1 < ${#words[@]}; i++)); do
    case ${words[i]} in --out | --html | --junit) [ -e "${words[i + 1]}" ] || echo "it has not written ${words[i + 1]}" ;; esac
  done
}

# read_page PAGE: runs it in a directory of its own.
read_page() {
  local page=$1 line reason command code wrong bad=0 n=0 skipped=0
  mkdir -p "$top/$2/ports" && cd "$top/$2" || exit 2
  export HOME=$PWD
  trap 'kill $(jobs -p) 2>/dev/null' EXIT
  while IFS=$'\037' read -r line reason command <&4; do
    if [ -n "$reason" ]; then echo "$page:$line: NOT RUN ($reason): $command"; skipped=$((skipped + 1)); continue; fi
    while [[ $command =~ :(80[0-9][0-9])($|[^0-9]) ]]; do command=${command//:${BASH_REMATCH[1]}/:$(free "${BASH_REMATCH[1]}")}; done
    local began=$SECONDS
    rm -f out # a server may still write to it
    eval "$command" >out 2>&1 </dev/null; code=$?
    wrong=$(judge "$code" "$command")
    if [[ $command == *"&" ]]; then wrong+=$(await "$command"); fi
    n=$((n + 1))
    echo "$page:$line: $command  # exit $code after $((SECONDS - began)) s"
    if [ -n "$wrong" ]; then echo "$page:$line: FAILED: $wrong"; sed 's/^/    /' out; bad=$((bad + 1)); fi
  done 4< <(commands "$page")
  echo "$page: $n commands run, $skipped not run, $bad failed"
  [ "$n" -gt 0 ] && [ "$bad" -eq 0 ]
}

# read_guesses FILE: types every line of it after "inferometer", as someone would who has read nothing. One without => must
# do what it says; the others must name the line that does, in their first lines, and send nothing.
read_guesses() {
  local file=$1 line want code n=0 bad=0 port
  mkdir -p "$top/$2/ports" && cd "$top/$2" || exit 2
  export HOME=$PWD
  port=$(free guesses)
  "$program" mock --listen "127.0.0.1:$port" --ttft 5ms --itl 1ms --output-tokens 4 >mock.log 2>&1 & server=$!
  trap 'kill $server 2>/dev/null' EXIT
  await "--listen :$port" || return 1
  printf 'load: {type: constant}\nserver: {type: vllm}\n' >infperf.yaml
  printf 'model_name: m\nendpoint: {}\n' >genai.yaml
  printf 'services: {}\n' >compose.yaml
  : >x.pem
  while IFS= read -r line <&4; do
    [[ -z $line || $line == "#"* ]] && continue
    want=""
    if [[ $line == *" => "* ]]; then want=${line#* => } line=${line% => *}; fi
    local typed=$line
    typed=$(sed -E "s#(^| )U(/| |\$)#\1http://127.0.0.1:$port\2#; s#(^| )H(/| |\$)#\1127.0.0.1:$port\2#" <<<"$typed")
    eval "inferometer $typed" >out 2>&1 </dev/null; code=$?
    n=$((n + 1))
    if [ -n "$want" ]; then
      { [ "$code" -ne 0 ] && grep -qF -- "$want" out; } && continue
    elif [[ $code = [014] ]] && ! grep -qE 'None of .* succeeded|panic:' out; then
      continue
    fi
    echo "$file: FAILED, exit $code: inferometer $line${want:+ => $want}"; sed 's/^/    /' out | head -8; bad=$((bad + 1))
  done 4<"$file"
  echo "$file: $n guesses, $bad failed"
  [ "$n" -gt 0 ] && [ "$bad" -eq 0 ]
}

pages=("$@") failed=0
for i in "${!pages[@]}"; do
  page=$(realpath "${pages[i]}") || exit 2
  reader=read_page; [[ $page != *.txt ]] || reader=read_guesses
  (cd "$(dirname "$page")" && $reader "$page" "$i") >"$top/$i.log" 2>&1 & readers+=($!)
done
for i in "${!pages[@]}"; do
  wait "${readers[i]}" || failed=1
  sed "s|^$(realpath "${pages[i]}")|${pages[i]}|" "$top/$i.log"
done
exit $failed
