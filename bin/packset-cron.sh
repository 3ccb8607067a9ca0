#!/bin/sh
# Upkeep of the whole pack, for cron or a timer: sweep, compact, embed, verify, over all workspaces.
#
# Says nothing and exits 0 when all is well, or when another one is at it already. Otherwise it
# prints what the step that failed said and exits as that step did; the steps after it run all the
# same. PACKSET names the program; PACKSET_KEEP (as in 90d) how much history compact leaves.
set -u

packset=${PACKSET:-packset}
# Upkeep works on the files of this machine. Empty counts as unset, and keeps a seat's file from
# setting it.
PACKSET_URL='' INSIDE_MEMORY_URL=''
export PACKSET_URL INSIDE_MEMORY_URL

# A directory is made by one process alone. One that is six hours old was left by a killed run.
state=${XDG_STATE_HOME:-$HOME/.local/state}/packset
lock=$state/cron.lock
(umask 077 && mkdir -p "$state") || exit 74
if ! mkdir -m 700 "$lock" 2>/dev/null; then
    if [ -z "$(find "$lock" -prune -mmin +360 2>/dev/null)" ]; then
        exit 0
    fi
    rmdir "$lock" 2>/dev/null
    mkdir -m 700 "$lock" 2>/dev/null || exit 0
fi
trap 'rmdir "$lock" 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

status=0
step() {
    said=$("$packset" "$@" 2>&1)
    code=$?
    if [ "$code" -ne 0 ]; then
        printf 'packset-cron: %s ended in %s\n%s\n' "$1" "$code" "$said" >&2
        status=$code
    fi
}

step sweep --all
if [ -n "${PACKSET_KEEP:-}" ]; then
    step compact --all --keep "$PACKSET_KEEP"
else
    step compact --all
fi
step embed --all --if-set
step verify --all
exit "$status"
