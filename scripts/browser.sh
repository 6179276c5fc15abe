#!/usr/bin/env bash
# Installs a real Chromium for the tests of the report page, without root, from the packages of
# this Debian (12 or newer), and axe-core, which finds what keeps people from using a page. All
# of it is under BROWSER_DIR (.peers/browser by default):
#
#   scripts/browser.sh
#   .peers/browser/chromium --dump-dom file:///tmp/page.html
#
# What is already there and runs is left alone. BROWSER_NEW=1 takes the package that the source
# has today: Debian keeps no older one, so that the version cannot be pinned.
set -euo pipefail

cd "$(dirname "$0")/.."
AXE=4.14.0
DIR=${BROWSER_DIR:-.peers/browser}

say() { printf 'browser: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

mkdir -p "$DIR"
DIR=$(cd "$DIR" && pwd -P) # clones may share one by a link
exec 9>"$DIR/lock"
flock 9 # several may want it at once

axe() {
  [ -s "$DIR/axe-$AXE.js" ] && return
  say "fetching axe-core $AXE"
  curl -fsSL --retry 3 "${NPM_REGISTRY:-https://registry.npmjs.org}/axe-core/-/axe-core-$AXE.tgz" | tar -xzO package/axe.min.js >"$DIR/axe.part"
  mv "$DIR/axe.part" "$DIR/axe-$AXE.js"
}

draws() { # whether the browser at $1 shows a page
  local home; home=$(mktemp -d)
  printf '<p>seen</p>' >"$home/page.html"
  timeout 120 "$1" --user-data-dir="$home/profile" --dump-dom "file://$home/page.html" 2>"$home/errors" 9>&- | grep -q '<p>seen</p>' ||
    { tail -n 5 "$home/errors" >&2; rm -rf "$home"; return 1; }
  rm -rf "$home"
}

if [ -z "${BROWSER_NEW:-}" ] && [ "$(cat "$DIR/installed" 2>/dev/null)" = "$DIR" ] && [ -x "$DIR/chromium" ]; then
  axe; say "is there"; exit 0
fi
for program in apt-get apt-cache dpkg-deb ldd; do
  command -v "$program" >/dev/null || die "needs $program: Chromium is taken from the packages of Debian 12 or newer"
done

NEW=$DIR/new
rm -rf "$NEW" "$DIR/installed"
mkdir -p "$NEW"/{lists/partial,archives/partial,settings,packages,root}
trap 'rm -rf "$NEW"' EXIT

# apt with lists and a cache of its own, and with nothing installed, so that all that the browser
# needs is found, whatever this machine has. The machine's sources and proxies stay in force; hooks
# that clean up after an update do not.
: >"$NEW/status"
for file in /etc/apt/apt.conf.d/*; do [ -r "$file" ] && ln -s "$file" "$NEW/settings/"; done
printf '#clear %s;\n' APT::Update::Pre-Invoke APT::Update::Post-Invoke APT::Update::Post-Invoke-Success DPkg::Pre-Invoke DPkg::Post-Invoke >"$NEW/settings/zz-no-hooks"
printf 'Dir::Etc::parts "%s";\n' "$NEW/settings" >"$NEW/apt.conf"
export APT_CONFIG=$NEW/apt.conf
apt=(-qq -o "Dir::State::lists=$NEW/lists" -o "Dir::Cache=$NEW" -o "Dir::State::status=$NEW/status"
  -o Debug::NoLocking=1 -o Acquire::Languages=none -o Acquire::Retries=5 -o APT::Sandbox::User=root)
say "reading the lists of packages"
apt-get "${apt[@]}" update
about=$(apt-cache "${apt[@]}" show --no-all-versions chromium-headless-shell 2>/dev/null || true)
version=$(sed -n 's/^Version: //p' <<<"$about")
[ -n "$version" ] || die "the package sources of this machine have no chromium-headless-shell"

# Its libraries and four fonts, without what only a desktop needs. The C library is the machine's.
needs=$(sed -n 's/^Depends: //p' <<<"$about" | tr ',' '\n' | sed 's/[|(].*//; s/ //g' | grep -v '^chromium')
fonts="fonts-liberation2 fonts-dejavu-core fonts-noto-color-emoji fonts-wqy-microhei"
# shellcheck disable=SC2086 # lists of words
packages=$(apt-get "${apt[@]}" install -y --no-install-recommends --print-uris $needs $fonts | sed -n "s/^'[^']*' \([^_ ]*\)_.*/\1/p" |
  grep -xE 'lib.*|zlib1g|fonts-.*' | grep -vxE 'libc6|libcrypt1|libgcc-s1|lib.*-(data|common|config)')
say "fetching Chromium $version"
# shellcheck disable=SC2086
(cd "$NEW/packages" && apt-get "${apt[@]}" download "chromium-headless-shell=$version" "chromium-common=$version" $packages)
for package in "$NEW"/packages/*.deb; do dpkg-deb -x "$package" "$NEW/root"; done
if [ -d "$NEW/root/lib" ] && [ ! -L "$NEW/root/lib" ]; then cp -a "$NEW/root/lib/." "$NEW/root/usr/lib/"; fi
rm -rf "$NEW"/root/{lib,var,etc/init.d} "$NEW"/root/usr/share/{doc,man,lintian,locale,bug}

# Only these fonts, so that a page looks the same on every machine.
{
  echo '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd"><fontconfig>'
  echo "<dir>$DIR/root/usr/share/fonts</dir><cachedir>$DIR/fontcache</cachedir>"
  echo '<match target="font"><edit name="hinting" mode="assign"><bool>false</bool></edit><edit name="rgba" mode="assign"><const>none</const></edit></match>'
  while read -r family font; do
    echo "<alias binding=\"same\"><family>$family</family><prefer><family>$font</family><family>DejaVu Sans</family></prefer></alias>"
  done <<'F'
sans-serif Liberation Sans
system-ui Liberation Sans
Arial Liberation Sans
Helvetica Liberation Sans
serif Liberation Serif
monospace Liberation Mono
emoji Noto Color Emoji
F
  echo '<match target="pattern"><edit name="family" mode="append_last" binding="weak"><string>Liberation Sans</string><string>DejaVu Sans</string><string>WenQuanYi Micro Hei</string><string>Noto Color Emoji</string></edit></match>'
  echo '</fontconfig>'
} >"$NEW/fonts.conf"

cat >"$NEW/chromium" <<'S'
#!/bin/sh
# Chromium without a screen. Flags of the caller come last, and the last one counts.
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
lib=$(echo "$here"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH="$lib:$lib/pulseaudio" FONTCONFIG_FILE="$here/fonts.conf" FONTCONFIG_PATH="$here"
unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS LD_PRELOAD
[ -n "${HOME:-}" ] && [ -w "$HOME" ] || export HOME="${TMPDIR:-/tmp}"
# It refuses its sandbox to root, and has none where user namespaces are off.
if [ "$(id -u)" = 0 ] || ! unshare -Ur true 2>/dev/null; then set -- --no-sandbox "$@"; fi
# Containers often have 64 MB of shared memory, in which tabs crash.
room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
[ "${room:-0}" -ge 524288 ] || set -- --disable-dev-shm-usage "$@"
exec "$here/root/usr/lib/chromium/chromium-headless-shell" --headless --disable-gpu --hide-scrollbars --mute-audio --no-first-run \
  --no-default-browser-check --disable-background-networking --disable-component-update --disable-sync --disable-quic \
  --disable-breakpad --disable-extensions --disable-domain-reliability --force-color-profile=srgb --font-render-hinting=none --lang=en-US "$@"
S
chmod +x "$NEW/chromium"
mkdir "$NEW/fontcache"
for part in root fonts.conf fontcache chromium; do rm -rf "${DIR:?}/$part"; mv "$NEW/$part" "$DIR/"; done
lib=$(echo "$DIR"/root/usr/lib/*-linux-gnu)
missing=$(LD_LIBRARY_PATH="$lib:$lib/pulseaudio" ldd "$DIR/root/usr/lib/chromium/chromium-headless-shell" | grep 'not found' || true)
[ -z "$missing" ] || die "libraries are missing: $missing"
draws "$DIR/chromium" || die "was installed and shows no page"
axe
echo "$DIR" >"$DIR/installed"
say "$("$DIR/chromium" --version 2>/dev/null)"
