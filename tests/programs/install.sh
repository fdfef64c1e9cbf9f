#!/bin/sh
# Installs agent programs for `cargo test --test programs` into target/programs: those that are named, else all. What cannot be had is
# said, and left out. Needs npm, and for aider Python 3.10 to 3.12. Where Node is older than 22, a newer one is put beside them.
set -u
cd "$(dirname "$0")/../.."
mkdir -p target/programs/bin
cd target/programs
PATH=$PWD/bin:$PATH
platform=$(node -p 'process.platform + "-" + process.arch')

# Installs the first package that can be had, in a folder of its own, and links its program.
from_npm() {
	program=$1
	shift
	for package in "$@"; do
		npm install --silent --no-audit --no-fund --prefix "$program" "$package" || continue
		for path in "$program"/node_modules/.bin/"$program" "$program"/node_modules/*/bin/"$program" \
			"$program"/node_modules/*/*/bin/"$program"; do
			[ -e "$path" ] && ln -sf "$PWD/$path" "bin/$program" && return
		done
	done
	return 1
}

install() {
	case $1 in
	claude) from_npm claude @anthropic-ai/claude-code@latest ;;
	codex) from_npm codex @openai/codex ;;
	gemini) from_npm gemini @google/gemini-cli ;;
	opencode) from_npm opencode opencode-ai ;;
	copilot) from_npm copilot @github/copilot ;;
	qwen) from_npm qwen @qwen-code/qwen-code ;;
	# The last of these two is one that could be installed when this was written.
	pi) from_npm pi @earendil-works/pi-coding-agent @earendil-works/pi-coding-agent@0.87.1 ;;
	kilo) from_npm kilo @kilocode/cli "@kilocode/cli-$platform@7.7.9" ;;
	aider)
		python3 -m venv aider && aider/bin/pip install --quiet aider-chat && ln -sf "$PWD/aider/bin/aider" bin/aider
		;;
	node) from_npm node "node-$platform@24" ;;
	*) false ;;
	esac
}

[ "$(node -p 'parseInt(process.versions.node)')" -ge 22 ] || install node
[ $# -gt 0 ] || set -- claude codex gemini opencode aider copilot qwen pi kilo
for program in "$@"; do
	install "$program" || echo "$program: cannot be installed" >&2
done
