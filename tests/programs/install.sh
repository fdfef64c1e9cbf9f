#!/bin/sh
# Installs the agent programs for `cargo test --test programs` into target/programs, each on its own: what cannot be had is named
# and left out. Needs npm, and for aider Python 3.10 to 3.12; where Node is older than 22, a newer one is installed beside them.
set -u
cd "$(dirname "$0")/../.."
mkdir -p target/programs/bin
cd target/programs
bin=$PWD/bin
PATH=$bin:$PATH

# Installs a package (the first that can be had) into a folder of its own, and links its program.
from_npm() {
	program=$1
	shift
	for package in "$@"; do
		npm install --silent --no-audit --no-fund --prefix "$program" "$package" || continue
		path=$PWD/$program/node_modules/.bin/$program
		[ -e "$path" ] || path=$(echo "$PWD/$program"/node_modules/*/*/bin/"$program")
		[ -e "$path" ] || path=$(echo "$PWD/$program"/node_modules/*/bin/"$program")
		ln -sf "$path" "$bin/$program"
		return
	done
	echo "$program: cannot be installed" >&2
}

platform=$(node -p 'process.platform + "-" + process.arch')
[ "$(node -p 'parseInt(process.versions.node)')" -ge 22 ] || from_npm node "node-$platform@24"
from_npm claude @anthropic-ai/claude-code@latest
from_npm codex @openai/codex
from_npm gemini @google/gemini-cli
from_npm opencode opencode-ai
from_npm copilot @github/copilot
from_npm qwen @qwen-code/qwen-code
# The last of each is one that could be installed when this was written.
from_npm pi @earendil-works/pi-coding-agent @earendil-works/pi-coding-agent@0.87.1
from_npm kilo @kilocode/cli "@kilocode/cli-$platform@7.7.9"
python3 -m venv aider && aider/bin/pip install --quiet aider-chat &&
	ln -sf "$PWD/aider/bin/aider" "$bin/aider" || echo "aider: cannot be installed" >&2
ls "$bin"
