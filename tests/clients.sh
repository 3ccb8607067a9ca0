#!/usr/bin/env bash
# Clients that nobody here wrote, on the real program: recorded cases of the interface, ljos,
# schemathesis, the MCP inspector. usage: tests/clients.sh [DIRECTORY OF OUR PROGRAMS]
#
# What is not there is skipped with a word. The recorded cases are used if PACKSET_CONFORMANCE
# names their directory; ljos (0.37.0 is known to work) if it is on PATH or LJOS names it;
# schemathesis if it is on PATH or Python can fetch it; the inspector if npx is there.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${1:-target/debug}" && pwd)
place=$(mktemp -d)
writer=
trap '[ -z "$writer" ] || kill "$writer" 2>/dev/null; rm -rf "$place"' EXIT
skip() { echo "skipped: $1"; }

if [ -n "${PACKSET_CONFORMANCE:-}" ] && command -v python3 > /dev/null; then
    for group in contract page; do
        echo "recorded cases: $group"
        python3 "$PACKSET_CONFORMANCE/golden.py" --bin "$bin" --group "$group"
    done
else
    skip "recorded cases: PACKSET_CONFORMANCE names no directory"
fi

export HOME="$place/home" PACKSET_HOME="$place/pack" PACKSET_WORKSPACE=clients
export PACKSET_PORT="${PACKSET_CLIENTS_PORT:-18977}" PATH="$bin:$PATH"
mkdir -p "$HOME"
"$bin/packset" serve 2> "$place/log" &
writer=$!
for _ in $(seq 200); do
    [ -f "$PACKSET_HOME/serve.json" ] && break
    sleep 0.05
done
token=$(cat "$PACKSET_HOME/token")

# says NEEDLE COMMAND...: the command ends well and prints the needle.
says() {
    local needle=$1 said
    shift
    if ! said=$("$@" 2>&1) || [[ $said != *"$needle"* ]]; then
        printf 'no %s in what this says: %s\n%s\n' "$needle" "$*" "$said" >&2
        exit 1
    fi
    echo "ok: $*"
}

ljos=${LJOS:-$(command -v ljos || true)}
if [ -n "$ljos" ]; then
    cd "$place"
    says 'due' "$ljos" remember 'The build needs protoc 28.'
    says 'protoc 28' "$ljos" search protoc
    says 'scheduled' "$ljos" due
    says 'protoc 28' "$ljos" island protoc
    says 'protoc 28' bash -c "echo 'how do we build with protoc?' | '$ljos' hook --prompt --text"
    # It shows its token only to a writer that turns strangers away.
    [ "$("$bin/packset" atoms | grep -c 'protoc 28')" = 1 ]
    cd - > /dev/null
else
    skip "ljos is not here"
fi

schemathesis=$(command -v schemathesis || true)
if [ -z "$schemathesis" ] && python3 -m venv "$place/venv" 2> /dev/null \
    && timeout 180 "$place/venv/bin/pip" install -q 'schemathesis>=4,<5' 2> /dev/null; then
    schemathesis=$place/venv/bin/schemathesis
fi
if [ -n "$schemathesis" ]; then
    echo "schemathesis: no 5xx, no status that is not described"
    (cd "$place" && "$schemathesis" run "http://127.0.0.1:$PACKSET_PORT/v1/openapi.json" \
        -H "Authorization: Bearer $token" --phases examples,coverage,fuzzing --max-examples 30 \
        --seed 7 --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        > "$place/schemathesis" 2>&1) || { cat "$place/schemathesis" >&2; exit 1; }
    grep -A1 'Test cases' "$place/schemathesis"
else
    skip "schemathesis is not here and cannot be fetched"
fi

kill "$writer"
wait "$writer"
writer=
bash tests/mcp-inspector.sh "$bin/packset"
