#!/bin/sh
# Takes the README's picture of a report: the sample, in Chromium.
#
#   cargo build && sh tests/report/screenshot.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sh "$here/sample.sh" "$here/../../target/debug/evolve" "$folder"
browser=$(command -v chromium-headless-shell || command -v chromium)
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --blink-settings=preferredColorScheme=1 \
  --window-size=1100,1820 --screenshot="$here/report.png" "file://$folder/parser/.git/evolve/report.html"
