#!/bin/sh
# Takes the README's picture of the end of the screen: a session in a terminal of tmux, as an agent works and as checks run, in Chromium.
#
#   cargo build && sh tests/report/live.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
evolve=${CARGO_TARGET_DIR:-$here/../../target}/debug/evolve
folder=$(mktemp -d)
in_tmux() { tmux -S "$folder/tmux" -f /dev/null "$@"; }
trap 'in_tmux kill-server 2>/dev/null || true; rm -rf "$folder"' EXIT
mkdir -p "$folder/home" "$folder/bin" "$folder/parser/src"
export HOME="$folder/home" PATH="$folder/bin:$PATH" GIT_CONFIG_NOSYSTEM=1
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME NO_COLOR CI
cd "$folder/parser"
cat >GOALS.yaml <<'END'
mission: Keep the parser healthy
evolve: {limits: {max_time: 4h}}
goals:
  - {id: tests-pass, description: All tests pass, check: sleep 4; test -e src/numbers, weight: 9}
  - {id: lint-clean, description: No lint warnings, check: sleep 3, weight: 6}
  - {id: docs-build, description: The manual builds, check: test -e docs, weight: 4}
  - {id: parse-time, description: Parsing stays fast, check: sleep 0.2, weight: 3}
END
cat >"$folder/bin/my-agent" <<'END'
#!/bin/sh
cat >/dev/null
echo 'Read src/parser: 1_000 is taken for two numbers'
sleep 4
touch src/numbers
END
chmod +x "$folder/bin/my-agent"
git init -q
git -c user.name=a -c user.email=a@localhost commit -q --allow-empty -m start
git config user.name a && git config user.email a@localhost
git add . && git commit -qm goals

# The screen once it shows something, as HTML: the few styles that are used, bold, faint and red.
picture() {
  until in_tmux capture-pane -p | grep -qF "$1"; do sleep 0.1; done
  sleep "$2"
  in_tmux capture-pane -e -p | sed -e 's/&/\&amp;/g; s/</\&lt;/g' \
    -e 's/\x1b\[[0;]*1m/<b>/g; s/\x1b\[[0;]*2m/<i>/g; s/\x1b\[[0-9;]*3[13][0-9;]*m/<em>/g; s/\x1b\[[0-9;]*32[0-9;]*m/<u>/g' \
    -e 's/\x1b\[[0-9;]*m/<\/b><\/i><\/em><\/u>/g' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

in_tmux new-session -d -x 100 -y 22 "'$evolve' --agent 'my-agent --fix' --max-cycles 1; touch '$folder/over'; sleep 60"
{
  printf '<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;padding:14px 18px;background:#16181d;color:#d8dade}'
  printf 'pre{font:15px/1.4 monospace;margin:0 0 12px}i{font-style:normal;color:#878d99}em{font-style:normal;color:#ff7b72}'
  printf 'u{text-decoration:none;color:#7ee787}hr{border:0;border-top:1px solid #3a3f4a;margin:12px 0}</style><pre>'
  picture 'Read src/parser' 2
  printf '</pre><hr><pre>'
  picture 'measuring (after)' 2
  printf '</pre>'
} >"$folder/live.html"
until [ -e "$folder/over" ]; do sleep 0.1; done
browser=$(command -v chromium-headless-shell || command -v chromium)
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=960,430 \
  --screenshot="$here/live.png" "file://$folder/live.html"
