#!/usr/bin/env bash
# The kill -9 loop at length: KILLS kills (20000 unless given) of real writers on the real disk.
# The store grows as it goes: 2,000 kills take three minutes on two cores, 20,000 an hour or more.
# PACKSET_SEED names another run.
set -euo pipefail
cd "$(dirname "$0")/.."
export PACKSET_KILLS="${1:-20000}"
exec cargo test --locked --test crash -- --nocapture
