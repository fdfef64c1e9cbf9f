#!/bin/sh
# Makes a small repository in FOLDER, and lets the loop work in it with a scripted agent: what a report looks like after two nights.
#
#   sh tests/report/sample.sh EVOLVE FOLDER
set -eu
evolve=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$folder/parser
mkdir -p "$folder/bin" "$folder/home" "$root/src" "$root/tests" "$root/.agents/rpi"
export HOME="$folder/home" GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
cd "$root"

cat >GOALS.yaml <<'END'
version: 1
mission: Keep the parser healthy
goals:
  - {id: tests-pass, description: All tests pass, check: test ! -e tests/broken, weight: 9}
  - {id: lint-clean, description: No lint warnings, check: test ! -e src/lint, weight: 6}
  - id: coverage
    description: Tests reach most lines
    check: cat coverage
    weight: 7
    continuous: {metric: percent of lines, threshold: 80, direction: at-least}
  - id: parse-time
    description: Parsing stays fast
    check: cat parse-time
    weight: 5
    continuous: {metric: milliseconds, threshold: 12, direction: at-most}
  - {id: docs-build, description: The manual builds, check: test -e docs, weight: 4}
  - id: open-ends
    description: Few open ends
    check: grep -c TODO src/parser || true
    weight: 3
    continuous: {threshold: 1, direction: at-most}
  - {id: release-notes, description: The release notes are written, check: test -e NEWS, weight: 2}
END
echo 41.5 >coverage
echo 21 >parse-time
touch src/lint tests/parser
printf 'TODO: numbers\nTODO: strings\nTODO: comments\nTODO: escapes\n' >src/parser
cat >.agents/rpi/next-work.jsonl <<'END'
{"title":"Say in the manual how numbers are read","severity":"medium","type":"docs","source":"review","description":"Nobody knows whether 1_000 is one."}
{"title":"Replace the regular expression for strings","severity":"low","type":"tech-debt","source":"review","description":"It backtracks."}
{"title":"Name the file in every message","severity":"low","type":"feature","source":"review","description":"Messages say the line alone.","target_repo":"*"}
END

# What each call of the agent does, in turn.
cat >"$folder/bin/claude" <<'END'
#!/bin/sh
cat >/dev/null
here=$(cd "$(dirname "$0")" && pwd)
count() { n=$(($(cat "$here/$1" 2>/dev/null || echo 0) + 1)); echo "$n" >"$here/$1"; echo "$n"; }
n=$(count calls)
say() { printf '{"type":"assistant","message":{"id":"m%s","content":[{"type":"text","text":"%s"}]}}\n' "$n" "$1"; }
case $EVOLVE_GOAL_ID-$(count "of-$EVOLVE_GOAL_ID") in
coverage-1) echo 55.25 >coverage; echo 'covers the lexer' >>tests/parser; say "Coverage is up, the threshold not reached yet." ;;
coverage-2) echo 84 >coverage; touch tests/broken; say "Coverage is up." ;;
coverage-*) echo 83.1 >coverage; echo 'covers the error paths' >>tests/parser; say "I wrote tests for the error paths." ;;
lint-clean-*) rm src/lint; say "I removed what the linter was about." ;;
parse-time-1) echo 17.5 >parse-time; echo 'a table' >>src/parser; say "A table instead of a search." ;;
parse-time-2) echo 11 >parse-time; touch src/lint; say "No copies any more." ;;
parse-time-*) echo 11.2 >parse-time; echo 'no copies' >>src/parser; say "No copies, and no warnings." ;;
docs-build-*) echo 'A manual.' >docs; say "The manual builds." ;;
open-ends-*) sed 1,3d src/parser >src/less; mv src/less src/parser; say "Three open ends are done." ;;
release-notes-*) echo "it needs the date of the release, which only you know" >"$EVOLVE_GIVE_UP"; say "I cannot tell the date." ;;
esac
printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.%02d,"usage":{"input_tokens":%d,"output_tokens":%d}}\n' $((n * 7)) $((9000 + n * 1234)) $((n * 321))
END
chmod +x "$folder/bin/claude"

git init --quiet --initial-branch=main
git config user.name Sample
git config user.email sample@example.invalid
git add --all
git commit --quiet --message "parser: first version"
PATH="$folder/bin:$PATH"
export PATH
"$evolve" -q --agent claude --max-cycles=4
# Exit 11: a human is needed, which is what the report is to show.
"$evolve" -q --agent claude --max-cycles=12 || test $? = 11
"$evolve" -q report
