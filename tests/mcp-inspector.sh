#!/bin/sh
# Drives `packset mcp` with the public MCP inspector, a client that nobody here wrote.
# usage: tests/mcp-inspector.sh [PROGRAM]     needs npx (Node.js), which fetches it from its registry
# INSPECTOR names another version of it. Ends in 0, and says so, where there is no npx.
set -eu
program=${1:-target/debug/packset}
inspector=${INSPECTOR:-@modelcontextprotocol/inspector}
if ! command -v npx > /dev/null; then
    echo "skipped: no npx"
    exit 0
fi
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export PACKSET_HOME="$place/pack" PACKSET_WORKSPACE=w
"$program" remember 'The build needs protoc 28 or newer.' > /dev/null

# inspect NEEDLE METHOD...: the answer must hold the needle.
inspect() {
    needle=$1
    shift
    answer=$(npx --yes "$inspector" --cli -e "PACKSET_HOME=$PACKSET_HOME" \
        -e "PACKSET_WORKSPACE=$PACKSET_WORKSPACE" "$program" mcp --method "$@")
    case $answer in
        *"$needle"*) echo "ok: $*" ;;
        *) printf 'no %s in the answer to %s:\n%s\n' "$needle" "$*" "$answer" >&2; exit 1 ;;
    esac
}

inspect packset_search tools/list
inspect 'protoc 28' tools/call --tool-name packset_search --tool-arg query=protoc
inspect '"total": 1' tools/call --tool-name packset_atoms
inspect '"up": true' tools/call --tool-name packset_state
inspect 'no atom none' tools/call --tool-name packset_show --tool-arg id=none
inspect packset://w/ resources/list
inspect '{workspace}' resources/templates/list
inspect what_does_the_seat_know prompts/list
inspect 'protoc 28' prompts/get --prompt-name what_does_the_seat_know \
    --prompt-args question=protoc
