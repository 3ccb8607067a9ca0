//! What stands below a verb's long help: examples that a test runs through the parser, what the
//! verb prints, and the exit codes. Not here: the grammar ([`super::args`]).

use crate::exit_table;

/// Joins a verb's examples and the exit codes.
macro_rules! ends_with {
    ($examples:literal) => {
        concat!("Examples:\n", $examples, "\n\n", exit_table!())
    };
}

pub(super) const REMEMBER_END: &str = ends_with!(
    "  packset remember The build needs protoc 28 or newer.
  packset remember --workspace scratch 'Port 8080 is taken on the test host.'
  packset remember -- --offline is the flag that skips the fetch.

Prints the claim's id, its kind and when it is due for review."
);

pub(super) const PREFER_END: &str = ends_with!(
    "  packset prefer Use tabs in Makefiles only.
  packset prefer --workspace scratch 'Short commit messages.'

Prints the claim's id, its kind and when it is due for review."
);

pub(super) const SEARCH_END: &str = ends_with!(
    "  packset search deploy key
  packset search --limit 3 --kind preference editor
  packset search --as-of 2026-01-31T12:00:00Z release branch
  packset search -q --json deploy key

Prints one hit a line: score, kind, id and text, separated by TABs."
);

pub(super) const ATOMS_END: &str = ends_with!(
    "  packset atoms
  packset atoms --kind lesson scratch
  packset atoms --as-of 2026-01-31T12:00:00Z

Prints one JSON object a line."
);

pub(super) const STATUS_END: &str = ends_with!(
    "  packset status
  packset status --all"
);

pub(super) const FORGET_END: &str = ends_with!(
    "  packset forget scratch
  packset forget -- -odd"
);

pub(super) const EXPORT_END: &str = ends_with!(
    "  packset export --into backup
  packset export --into backup scratch

The accessions that the claims cite go to standard output."
);

pub(super) const IMPORT_END: &str = ends_with!(
    "  packset import backup/default.jsonl
  packset import --workspace scratch - < claims.jsonl
  packset import --over-cap --link all.jsonl

Nothing is stored if that would pass the live cap (PACKSET_LIVE_CAP), unless
--over-cap is given; the workspace then keeps its new size. An import closes
nothing: `packset consolidate --apply` does."
);

pub(super) const BATCH_END: &str = ends_with!(
    "  packset batch changes.jsonl
  packset batch --best-effort - < changes.jsonl

One JSON object a line, done in order; a line sees what those before it did:
  {\"op\":\"remember\",\"text\":\"...\"}           or prefer
  {\"op\":\"put\",\"record\":{\"kind\":\"...\",\"text\":\"...\"}}
  {\"op\":\"update\",\"id\":\"...\",\"fields\":{\"trust\":0.5}}
  {\"op\":\"delete\",\"id\":\"...\",\"why\":\"deed-...\"}   why may be left out
  {\"op\":\"grade\",\"id\":\"...\",\"recalled\":false}    true if left out
Prints one JSON object a line. If a line is refused, nothing at all is stored,
unless --best-effort is given; nor if it would pass the live cap
(PACKSET_LIVE_CAP), unless --over-cap is given."
);

pub(super) const DELETE_END: &str = ends_with!(
    "  packset delete 0192f3a4b5c6d7e8f9a0b1c2d3e4f506
  packset delete --workspace scratch 0192f3a4b5c6d7e8f9a0b1c2d3e4f506"
);

pub(super) const DUE_END: &str = ends_with!(
    "  packset due
  packset due scratch

Prints one claim a line: when it is due, its id and its text."
);

pub(super) const GRADE_END: &str = ends_with!(
    "  packset grade 0192f3a4b5c6d7e8f9a0b1c2d3e4f506
  packset grade 0192f3a4b5c6d7e8f9a0b1c2d3e4f506 --lapsed

Prints when the claim is due next."
);

pub(super) const SWEEP_END: &str = ends_with!(
    "  packset sweep
  packset sweep scratch
  packset sweep --all"
);

pub(super) const UPDATE_END: &str = ends_with!(
    "  packset update 0192f3a4b5c6d7e8f9a0b1c2d3e4f506 text='Port 8081 is taken.'
  packset update 0192f3a4b5c6d7e8f9a0b1c2d3e4f506 trust=0.5 pinned=true"
);

pub(super) const CONSOLIDATE_END: &str = ends_with!(
    "  packset consolidate
  packset consolidate --apply scratch

Prints one pair a line: the earlier claim's id and text, then the later one's."
);

pub(super) const ISLANDS_END: &str = ends_with!(
    "  packset islands
  packset islands --json scratch

Prints one island a line: how many claims it has, and the first one's text."
);

pub(super) const HUBS_END: &str = ends_with!(
    "  packset hubs
  packset hubs --limit 3 scratch

Prints one claim a line: its score, its links, its id and its text."
);

pub(super) const ISLAND_END: &str = ends_with!(
    "  packset island deploy key
  packset island --fire deploy key

Prints one claim a line: its activation, whether it was a seed, its id, its text."
);

pub(super) const FIRE_END: &str = ends_with!(
    "  packset fire 0192f3a4b5c6d7e8f9a0b1c2d3e4f506 0192f3a4b5c6d7e8f9a0b1c2d3e4f507

The same claims within an hour of their last fire are held: nothing moves."
);

pub(super) const ACCESSIONS_END: &str = ends_with!(
    "  packset accessions
  packset accessions scratch"
);

pub(super) const CITERS_END: &str = ends_with!(
    "  packset citers deed-issue-42
  packset citers sha256:9f3c21aa scratch"
);

pub(super) const CARDS_END: &str = ends_with!(
    "  packset cards
  packset cards --set dev scratch

Prints a row for each line of each card: the card's name and the line."
);

pub(super) const CARD_END: &str = ends_with!(
    "  packset card user 'Ada. Prefers plain words.'
  packset card memory - < MEMORY.md
  packset card instructions --set dev 'Run the tests first.'
  packset card memory ''

The user card and a set's instructions hold 1375 characters, memory 2200."
);

pub(super) const SET_END: &str = ends_with!(
    "  packset set dev
  packset set dev --memory 'The parser.' --instructions 'Run the tests first.'
  packset set dev --user ''

A card that is not named stays as it is; those that are, change together."
);

pub(super) const PIN_END: &str = ends_with!(
    "  packset pin
  packset pin dev
  packset pin ''"
);

pub(super) const PACK_END: &str = ends_with!(
    "  packset pack
  packset pack --set dev scratch"
);

pub(super) const ATTACH_END: &str = ends_with!(
    "  packset attach --label log - < build.log
  packset attach
  packset attach --take

One body of up to 200000 characters is held for an hour; printing it leaves it."
);

pub(super) const PROPOSALS_END: &str = ends_with!(
    "  packset proposals
  packset proposals scratch

Prints one a line: its id, why it was held, and its text. `packset accept ID`
makes one a claim, `packset delete ID` turns it down."
);

pub(super) const PROPOSE_END: &str = ends_with!(
    "  packset propose The build needs protoc 28 or newer.
  packset propose --workspace scratch 'Port 8080 is taken.'

Prints the proposal's id, why it is held, and its text."
);

pub(super) const ACCEPT_END: &str = ends_with!(
    "  packset accept 0192f3a4b5c6d7e8f9a0b1c2d3e4f506
  packset accept --workspace scratch 0192f3a4b5c6d7e8f9a0b1c2d3e4f506

Prints the claim's id, its kind and when it is due for review. Repeating it
prints the same claim."
);

pub(super) const SHOW_END: &str = ends_with!("  packset show 0192f3a4b5c6d7e8f9a0b1c2d3e4f506");

pub(super) const LOG_END: &str = ends_with!(
    "  packset log
  packset log 0192f3a4b5c6d7e8f9a0b1c2d3e4f506

Prints one version a line: when it was recorded, its generation, what it did,
who wrote it, the id and the text."
);

pub(super) const DIFF_END: &str = ends_with!(
    "  packset diff g12..
  packset diff 2026-01-31..2026-02-28

Prints a line for each side of each record that differs: - before, + after,
the id, the fields that differ, the text."
);

pub(super) const UNDO_END: &str = ends_with!(
    "  packset undo
  packset undo g12

An undo is a commit like any other: undo it, and all is as it was."
);

pub(super) const WHY_END: &str = ends_with!(
    "  packset why 0192f3a4b5c6d7e8f9a0b1c2d3e4f506 --query 'deploy key'

Prints its place in the list, its rank and score on each whole ballot, and
what decay leaves of it."
);

pub(super) const PURGE_END: &str = ends_with!(
    "  packset purge 0192f3a4b5c6d7e8f9a0b1c2d3e4f506
  packset purge --dry-run --query 'deploy key'
  packset purge --query 'deploy key' --limit 3

Reads every file of the pack afterwards and says how much it read. A file that
still holds a text is named: exit 1 if another record says the same, 76 if
nothing explains it. No tombstone stays, and there is no undo. Exports, backups
and what a disk keeps of freed blocks are beyond its reach."
);

pub(super) const COMPACT_END: &str = ends_with!(
    "  packset compact
  packset compact --all --keep 90d

No answer changes, but those about a past that --keep lets go."
);

pub(super) const EMBED_END: &str = ends_with!(
    "  packset embed
  packset embed --all --if-set

What a round has done stays done: stop it when you like, and call it again. The
vectors of another model stay until all texts have theirs. Writers go on."
);

pub(super) const VERIFY_END: &str = ends_with!(
    "  packset verify
  packset verify --all"
);

pub(super) const MODEL_END: &str = ends_with!(
    "  packset model
  packset model pull bge-small
  packset model pull --mirror https://models.example.org minilm
  packset model use bge-small
  packset model check

`list` prints name, kind, dimensions, size, licence, whether it is in use, and
where it lies. `pull` is the only verb that fetches anything, and nothing does
with LJOS_OFFLINE or HF_HUB_OFFLINE set. It goes on where an earlier pull broke
off, and every file is checked before it is used. A mirror has the files as the
hub has them (REPOSITORY/resolve/REVISION/PATH), the library in lib/, and may
have a list SHA256SUMS at its root. `check` exits 1 if the model is not here,
cannot be run, or fails."
);

pub(super) const SERVE_END: &str = ends_with!(
    "  packset serve
  packset serve --port 0
  packset serve --socket ~/.cache/packset.sock
  curl -H \"Authorization: Bearer $(cat ~/.local/share/packset/token)\" \\
    http://127.0.0.1:8761/v1/status

It answers until SIGTERM or SIGINT. Every request but GET /health shows the
token, which lies in the home; PACKSET_AUTH=off does without."
);

pub(super) const MCP_END: &str = ends_with!(
    "  packset mcp
  claude mcp add --scope user packset -- packset mcp

Clients start it themselves. It only reads, works with no writer running, and
ends when its input does. Without a workspace in a call it is the one that
`packset where` prints."
);

pub(super) const ENSURE_END: &str = ends_with!(
    "  packset ensure
  eval \"$(packset ensure)\"; export PACKSET_URL

Prints PACKSET_URL=... and INSIDE_MEMORY_URL=.... Any number of shells may ask
at once: one writer comes of it. One that is older than this program makes way."
);

pub(super) const START_END: &str = ends_with!(
    "  packset start

Its log is packset/packsetd-PORT.log in $XDG_STATE_HOME, else ~/.local/state."
);

pub(super) const STOP_END: &str = ends_with!(
    "  packset stop

It finishes what it was asked. Another home's writer on the port is left alone."
);

pub(super) const PORT_END: &str = ends_with!(
    "  packset port

PACKSET_PORT, else GROK_MEM_PORT, else 8761."
);

pub(super) const URL_END: &str = ends_with!(
    "  packset url

Prints what `packset ensure` prints, and starts nothing."
);

pub(super) const WHICH_END: &str = ends_with!(
    "  packset which

PACKSET_BIN, else packsetd beside this program, else packsetd on PATH."
);

pub(super) const WHERE_END: &str = ends_with!(
    "  packset where
  packset where --explain"
);

pub(super) const MIGRATE_HOME_END: &str = ends_with!(
    "  packset migrate-home

Moves ~/.grokinside/memory to $XDG_DATA_HOME/packset or ~/.local/share/packset
and leaves a link. Nothing is copied; what is in the way is named."
);

pub(super) const DOCTOR_END: &str = ends_with!(
    "  packset doctor
  packset doctor --fix

Prints one finding a line: ok, warn or fail, what was looked at, what was found,
and what helps. Exits 1 if anything fails."
);

pub(super) const PROGRAM_END: &str = ends_with!(
    "  packset remember The deploy key lives in the vault, not in the repository.
  packset search deploy key
  packset help search

A workspace that is not named is PACKSET_WORKSPACE, else the git remote of the
working directory, else `default`; `packset where --explain` shows which.
`--` ends the flags: packset forget -- -odd"
);
