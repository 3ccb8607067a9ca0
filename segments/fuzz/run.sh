#!/usr/bin/env bash
# Every fuzz target for SECONDS each (60 unless given). Needs a nightly toolchain and cargo-fuzz;
# the same mutations run on the stable compiler, seeded, in `cargo test`.
set -euo pipefail
cd "$(dirname "$0")"
for target in manifest segment_open postings query_terms; do
    # New inputs go beside the committed seeds, not among them.
    mkdir -p "found/$target"
    cargo +nightly fuzz run --fuzz-dir . "$target" "found/$target" "corpus/$target" -- \
        -max_total_time="${1:-60}" -rss_limit_mb=512
done
