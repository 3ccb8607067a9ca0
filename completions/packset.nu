module completions {

  # The memory a coding agent keeps
  export extern packset [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    --version(-V)             # Print version
  ]

  # Store one lesson
  export extern "packset remember" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...text: string           # The claim; words are joined by spaces
  ]

  # Store one standing preference
  export extern "packset prefer" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...text: string           # The claim; words are joined by spaces
  ]

  def "nu-complete packset search rank" [] {
    [ "fused" "relevance" ]
  }

  # Find claims, best first
  export extern "packset search" [
    --workspace: string       # The workspace [default: see `packset where`]
    --as-of: string           # What was true at this time
    --known-at: string        # What the pack knew at this time
    --rerank                  # Ask the cross-encoder about the first twenty; a lone hit is settled without
    --semantic: string        # What finds claims by meaning: off, static, or a model [default: the one in use]
    --min-confidence: string  # Print nothing if it is less sure than this that the first hit answers (0 to 1)
    --rank: string@"nu-complete packset search rank" # What the score means: the panel's verdict or plain relevance
    --limit: string           # Most hits to print
    --kind: string            # Only claims of this kind
    --set: string             # Only claims of this set
    --quiet(-q)               # Say nothing on stderr, and exit 1 when nothing is found
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...query: string          # What to look for; words are joined by spaces
  ]

  # List the claims of a workspace
  export extern "packset atoms" [
    --as-of: string           # What was true at this time
    --known-at: string        # What the pack knew at this time
    --kind: string            # Only claims of this kind
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Count what a workspace holds
  export extern "packset status" [
    --all                     # Every workspace of the pack
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Drop a workspace whole, without tombstones
  export extern "packset forget" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace: string         # The workspace to drop; never assumed
  ]

  # Write a workspace's claims to a file
  export extern "packset export" [
    --into: string            # The directory that receives WS.jsonl; made if it is missing
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Store the claims of a JSON Lines file
  export extern "packset import" [
    --workspace: string       # The workspace [default: see `packset where`]
    --records                 # Take records of any kind but a claim's, as they are
    --kind: string            # Kind of the lines that name none
    --batch: string           # Lines stored in one commit
    --over-cap                # Store past the live cap, and forget nothing
    --link                    # Link the workspace's claims that have no links, as writes would have
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    file: string              # The JSON Lines file; `-` is standard input
  ]

  # Do what the lines of a file say, all in one commit
  export extern "packset batch" [
    --workspace: string       # The workspace [default: see `packset where`]
    --best-effort             # Do what can be done, and say what could not
    --over-cap                # Store past the live cap, and forget nothing
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    file: string              # The JSON Lines file; `-` is standard input
  ]

  # Withdraw one claim, leaving a tombstone
  export extern "packset delete" [
    --workspace: string       # The workspace [default: see `packset where`]
    --why: string             # The accession of the deed that withdraws the claim
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The claim's id
  ]

  # Claims whose review clock has run out, soonest first
  export extern "packset due" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Mark a review recalled, or lapsed
  export extern "packset grade" [
    --lapsed                  # The review lapsed; without it, it was recalled
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The claim's id
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Lapse what was left due too long, forget what nobody ever recalled
  export extern "packset sweep" [
    --all                     # Every workspace of the pack
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Merge fields into one live claim
  export extern "packset update" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The claim's id
    ...fields: string         # What to set: JSON, or else a string; null takes the field out
  ]

  # Find claims that later ones replace
  export extern "packset consolidate" [
    --apply                   # Close the earlier claim of each pair
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # The link graph's clusters, largest first
  export extern "packset islands" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # The claims that the link graph turns on, highest first
  export extern "packset hubs" [
    --limit: string           # Most claims to print
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # The memories that a cue activates, strongest first
  export extern "packset island" [
    --workspace: string       # The workspace [default: see `packset where`]
    --fire                    # Wire the top eight together, once an hour for one cue
    --limit: string           # Most claims to print
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...cue: string            # What comes to mind; words are joined by spaces
  ]

  # Strengthen the links between claims that were used together
  export extern "packset fire" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...ids: string            # The claims' ids, two or more
  ]

  # The accessions that the live claims cite
  export extern "packset accessions" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # The live claims that cite one accession
  export extern "packset citers" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    accession: string         # The accession: deed-... or sha256:...
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Print the cards: who the agent works for, what the workspace is
  export extern "packset cards" [
    --set: string             # The cards, and the claims, of this set
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  def "nu-complete packset card card" [] {
    [ "user" "memory" "instructions" ]
  }

  # Write one card, or clear it
  export extern "packset card" [
    --workspace: string       # The workspace [default: see `packset where`]
    --set: string             # The set whose card it is
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    card: string@"nu-complete packset card card" # Which card
    ...text: string           # What it is to say; an empty text clears it, `-` is standard input
  ]

  # Print a set's three cards, or write them
  export extern "packset set" [
    --workspace: string       # The workspace [default: see `packset where`]
    --user: string            # Its user card; an empty text clears it
    --memory: string          # Its memory card; an empty text clears it
    --instructions: string    # Its instructions; an empty text clears them
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    name: string              # The set
  ]

  # Read or set the pinned set
  export extern "packset pin" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    name?: string             # The set to pin; an empty name unpins [default: print what is pinned]
  ]

  # The cards and the claims as one JSON document
  export extern "packset pack" [
    --set: string             # The cards, and the claims, of this set
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Hold one body for the next turn, or take it
  export extern "packset attach" [
    --workspace: string       # The workspace [default: see `packset where`]
    --take                    # Print what is held and hold it no longer
    --label: string           # What to call the body
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...text: string           # The body; an empty one clears, `-` is standard input [default: print what is held]
  ]

  # The open proposals: writes that wait for a person
  export extern "packset proposals" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Propose what cards that were too long said
  export extern "packset proposals mine" [
    --day: string             # The day on which the cards were refused [default: today]
    --transcript: string      # The transcript that must bear it out: only what it says can be accepted
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset proposals help" [
  ]

  # Propose what cards that were too long said
  export extern "packset proposals help mine" [
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset proposals help help" [
  ]

  # File one proposal by hand
  export extern "packset propose" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    ...text: string           # The claim; words are joined by spaces
  ]

  # Make a proposal a claim
  export extern "packset accept" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The proposal's id
  ]

  # Print one record, whatever its state
  export extern "packset show" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The record's id
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Every version of a claim, or of all claims, newest first
  export extern "packset log" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id?: string               # The claim's id [default: all claims]
  ]

  # What changed between two generations or times
  export extern "packset diff" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    range: string             # Two moments: g12..g15, or 2026-01-31..2026-02-28; an open end is the start, or now
  ]

  # Take back what one commit did
  export extern "packset undo" [
    --workspace: string       # The workspace [default: see `packset where`]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    generation?: string       # The generation to take back, as `packset log` shows it [default: the newest]
  ]

  # What is behind a claim's place in a search
  export extern "packset why" [
    --workspace: string       # The workspace [default: see `packset where`]
    --as-of: string           # What was true at this time
    --known-at: string        # What the pack knew at this time
    --query: string           # What was looked for
    --limit: string           # Hits of the search that is explained
    --kind: string            # The search was for this kind alone
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id: string                # The claim's id
  ]

  # Erase a record, every version of it, from every file
  export extern "packset purge" [
    --workspace: string       # The workspace [default: see `packset where`]
    --dry-run                 # Say what would be erased, and erase nothing
    --query: string           # Erase what this search finds first
    --limit: string           # Hits of the search that are erased
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    id?: string               # The record's id
  ]

  # Merge a workspace's segments
  export extern "packset compact" [
    --all                     # Every workspace of the pack
    --keep: string            # Drop versions that ended longer ago than this: 36h, 90d, 52w [default: keep all]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Give the texts that have none their vectors of the model in use
  export extern "packset embed" [
    --all                     # Every workspace of the pack
    --if-set                  # Do nothing, and say nothing, if no model is in use
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # Read every byte of a workspace and say what is damaged
  export extern "packset verify" [
    --all                     # Every workspace of the pack
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
    workspace?: string        # The workspace [default: see `packset where`]
  ]

  # List, fetch, choose and check the models that find claims by meaning
  export extern "packset model" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # The models that are known, and which are here
  export extern "packset model list" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help
  ]

  # Fetch a model, and the library that runs it
  export extern "packset model pull" [
    --mirror: string          # Where to fetch from [default: HF_ENDPOINT, else the public hub]
    --runtime                 # Fetch ONNX Runtime even if one is found [default: if none is found]
    --no-runtime              # Do not fetch ONNX Runtime
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help
    name: string              # The model
  ]

  # Say which model the pack is to use
  export extern "packset model use" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help
    name: string              # The model; `static` is the built-in table, `none` leaves words alone
  ]

  # Try a model on texts whose likeness is known
  export extern "packset model check" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help
    name?: string             # The model [default: the one in use]
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset model help" [
  ]

  # The models that are known, and which are here
  export extern "packset model help list" [
  ]

  # Fetch a model, and the library that runs it
  export extern "packset model help pull" [
  ]

  # Say which model the pack is to use
  export extern "packset model help use" [
  ]

  # Try a model on texts whose likeness is known
  export extern "packset model help check" [
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset model help help" [
  ]

  # Answer requests over HTTP, for tools that need it
  export extern "packset serve" [
    --host: string            # The address to listen on; only this machine's own will do
    --port: string            # The port [default: PACKSET_PORT, else 8761]; 0 takes a free one
    --socket: string          # Listen on a Unix socket instead, which only this user can open
    --fuse: string            # How ballots become one list [default: PACKSET_FUSE]
    --diversify: string       # How near copies make way [default: PACKSET_DIVERSIFY]
    --decay: string           # How claims fade [default: PACKSET_DECAY]
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Answer an MCP client over standard input and output
  export extern "packset mcp" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Start the writer if it is down, and print where it is
  export extern "packset ensure" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Start the writer if it is down
  export extern "packset start" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # End the writer of this home
  export extern "packset stop" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Print the writer's port
  export extern "packset port" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Print the writer's address
  export extern "packset url" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Print the path of the program that serves
  export extern "packset which" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Print the workspace in force
  export extern "packset where" [
    --explain                 # Say how the workspace and the pack's home were found
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Move a pack from the previous default home to the one of today
  export extern "packset migrate-home" [
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Say what ails the pack, and what helps
  export extern "packset doctor" [
    --fix                     # Narrow modes that let others in, and put back a store's missing LOCK file
    --json                    # Print JSON instead of columns
    --help(-h)                # Print help (see more with '--help')
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset help" [
  ]

  # Store one lesson
  export extern "packset help remember" [
  ]

  # Store one standing preference
  export extern "packset help prefer" [
  ]

  # Find claims, best first
  export extern "packset help search" [
  ]

  # List the claims of a workspace
  export extern "packset help atoms" [
  ]

  # Count what a workspace holds
  export extern "packset help status" [
  ]

  # Drop a workspace whole, without tombstones
  export extern "packset help forget" [
  ]

  # Write a workspace's claims to a file
  export extern "packset help export" [
  ]

  # Store the claims of a JSON Lines file
  export extern "packset help import" [
  ]

  # Do what the lines of a file say, all in one commit
  export extern "packset help batch" [
  ]

  # Withdraw one claim, leaving a tombstone
  export extern "packset help delete" [
  ]

  # Claims whose review clock has run out, soonest first
  export extern "packset help due" [
  ]

  # Mark a review recalled, or lapsed
  export extern "packset help grade" [
  ]

  # Lapse what was left due too long, forget what nobody ever recalled
  export extern "packset help sweep" [
  ]

  # Merge fields into one live claim
  export extern "packset help update" [
  ]

  # Find claims that later ones replace
  export extern "packset help consolidate" [
  ]

  # The link graph's clusters, largest first
  export extern "packset help islands" [
  ]

  # The claims that the link graph turns on, highest first
  export extern "packset help hubs" [
  ]

  # The memories that a cue activates, strongest first
  export extern "packset help island" [
  ]

  # Strengthen the links between claims that were used together
  export extern "packset help fire" [
  ]

  # The accessions that the live claims cite
  export extern "packset help accessions" [
  ]

  # The live claims that cite one accession
  export extern "packset help citers" [
  ]

  # Print the cards: who the agent works for, what the workspace is
  export extern "packset help cards" [
  ]

  # Write one card, or clear it
  export extern "packset help card" [
  ]

  # Print a set's three cards, or write them
  export extern "packset help set" [
  ]

  # Read or set the pinned set
  export extern "packset help pin" [
  ]

  # The cards and the claims as one JSON document
  export extern "packset help pack" [
  ]

  # Hold one body for the next turn, or take it
  export extern "packset help attach" [
  ]

  # The open proposals: writes that wait for a person
  export extern "packset help proposals" [
  ]

  # Propose what cards that were too long said
  export extern "packset help proposals mine" [
  ]

  # File one proposal by hand
  export extern "packset help propose" [
  ]

  # Make a proposal a claim
  export extern "packset help accept" [
  ]

  # Print one record, whatever its state
  export extern "packset help show" [
  ]

  # Every version of a claim, or of all claims, newest first
  export extern "packset help log" [
  ]

  # What changed between two generations or times
  export extern "packset help diff" [
  ]

  # Take back what one commit did
  export extern "packset help undo" [
  ]

  # What is behind a claim's place in a search
  export extern "packset help why" [
  ]

  # Erase a record, every version of it, from every file
  export extern "packset help purge" [
  ]

  # Merge a workspace's segments
  export extern "packset help compact" [
  ]

  # Give the texts that have none their vectors of the model in use
  export extern "packset help embed" [
  ]

  # Read every byte of a workspace and say what is damaged
  export extern "packset help verify" [
  ]

  # List, fetch, choose and check the models that find claims by meaning
  export extern "packset help model" [
  ]

  # The models that are known, and which are here
  export extern "packset help model list" [
  ]

  # Fetch a model, and the library that runs it
  export extern "packset help model pull" [
  ]

  # Say which model the pack is to use
  export extern "packset help model use" [
  ]

  # Try a model on texts whose likeness is known
  export extern "packset help model check" [
  ]

  # Answer requests over HTTP, for tools that need it
  export extern "packset help serve" [
  ]

  # Answer an MCP client over standard input and output
  export extern "packset help mcp" [
  ]

  # Start the writer if it is down, and print where it is
  export extern "packset help ensure" [
  ]

  # Start the writer if it is down
  export extern "packset help start" [
  ]

  # End the writer of this home
  export extern "packset help stop" [
  ]

  # Print the writer's port
  export extern "packset help port" [
  ]

  # Print the writer's address
  export extern "packset help url" [
  ]

  # Print the path of the program that serves
  export extern "packset help which" [
  ]

  # Print the workspace in force
  export extern "packset help where" [
  ]

  # Move a pack from the previous default home to the one of today
  export extern "packset help migrate-home" [
  ]

  # Say what ails the pack, and what helps
  export extern "packset help doctor" [
  ]

  # Print this message or the help of the given subcommand(s)
  export extern "packset help help" [
  ]

}

export use completions *
