# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_packset_global_optspecs
    string join \n json h/help V/version
end

function __fish_packset_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_packset_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_packset_using_subcommand
    set -l cmd (__fish_packset_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c packset -n "__fish_packset_needs_command" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_needs_command" -s V -l version -d 'Print version'
complete -c packset -n "__fish_packset_needs_command" -f -a "remember" -d 'Store one lesson'
complete -c packset -n "__fish_packset_needs_command" -f -a "prefer" -d 'Store one standing preference'
complete -c packset -n "__fish_packset_needs_command" -f -a "search" -d 'Find claims, best first'
complete -c packset -n "__fish_packset_needs_command" -f -a "atoms" -d 'List the claims of a workspace'
complete -c packset -n "__fish_packset_needs_command" -f -a "status" -d 'Count what a workspace holds'
complete -c packset -n "__fish_packset_needs_command" -f -a "forget" -d 'Drop a workspace whole, without tombstones'
complete -c packset -n "__fish_packset_needs_command" -f -a "export" -d 'Write a workspace\'s claims to a file'
complete -c packset -n "__fish_packset_needs_command" -f -a "import" -d 'Store the claims of a JSON Lines file'
complete -c packset -n "__fish_packset_needs_command" -f -a "batch" -d 'Do what the lines of a file say, all in one commit'
complete -c packset -n "__fish_packset_needs_command" -f -a "delete" -d 'Withdraw one claim, leaving a tombstone'
complete -c packset -n "__fish_packset_needs_command" -f -a "due" -d 'Claims whose review clock has run out, soonest first'
complete -c packset -n "__fish_packset_needs_command" -f -a "grade" -d 'Mark a review recalled, or lapsed'
complete -c packset -n "__fish_packset_needs_command" -f -a "sweep" -d 'Lapse what was left due too long, forget what nobody ever recalled'
complete -c packset -n "__fish_packset_needs_command" -f -a "update" -d 'Merge fields into one live claim'
complete -c packset -n "__fish_packset_needs_command" -f -a "consolidate" -d 'Find claims that later ones replace'
complete -c packset -n "__fish_packset_needs_command" -f -a "islands" -d 'The link graph\'s clusters, largest first'
complete -c packset -n "__fish_packset_needs_command" -f -a "hubs" -d 'The claims that the link graph turns on, highest first'
complete -c packset -n "__fish_packset_needs_command" -f -a "island" -d 'The memories that a cue activates, strongest first'
complete -c packset -n "__fish_packset_needs_command" -f -a "fire" -d 'Strengthen the links between claims that were used together'
complete -c packset -n "__fish_packset_needs_command" -f -a "accessions" -d 'The accessions that the live claims cite'
complete -c packset -n "__fish_packset_needs_command" -f -a "citers" -d 'The live claims that cite one accession'
complete -c packset -n "__fish_packset_needs_command" -f -a "cards" -d 'Print the cards: who the agent works for, what the workspace is'
complete -c packset -n "__fish_packset_needs_command" -f -a "card" -d 'Write one card, or clear it'
complete -c packset -n "__fish_packset_needs_command" -f -a "set" -d 'Print a set\'s three cards, or write them'
complete -c packset -n "__fish_packset_needs_command" -f -a "pin" -d 'Read or set the pinned set'
complete -c packset -n "__fish_packset_needs_command" -f -a "pack" -d 'The cards and the claims as one JSON document'
complete -c packset -n "__fish_packset_needs_command" -f -a "attach" -d 'Hold one body for the next turn, or take it'
complete -c packset -n "__fish_packset_needs_command" -f -a "proposals" -d 'The open proposals: writes that wait for a person'
complete -c packset -n "__fish_packset_needs_command" -f -a "propose" -d 'File one proposal by hand'
complete -c packset -n "__fish_packset_needs_command" -f -a "accept" -d 'Make a proposal a claim'
complete -c packset -n "__fish_packset_needs_command" -f -a "show" -d 'Print one record, whatever its state'
complete -c packset -n "__fish_packset_needs_command" -f -a "log" -d 'Every version of a claim, or of all claims, newest first'
complete -c packset -n "__fish_packset_needs_command" -f -a "diff" -d 'What changed between two generations or times'
complete -c packset -n "__fish_packset_needs_command" -f -a "undo" -d 'Take back what one commit did'
complete -c packset -n "__fish_packset_needs_command" -f -a "why" -d 'What is behind a claim\'s place in a search'
complete -c packset -n "__fish_packset_needs_command" -f -a "purge" -d 'Erase a record, every version of it, from every file'
complete -c packset -n "__fish_packset_needs_command" -f -a "compact" -d 'Merge a workspace\'s segments'
complete -c packset -n "__fish_packset_needs_command" -f -a "embed" -d 'Give the texts that have none their vectors of the model in use'
complete -c packset -n "__fish_packset_needs_command" -f -a "verify" -d 'Read every byte of a workspace and say what is damaged'
complete -c packset -n "__fish_packset_needs_command" -f -a "model" -d 'List, fetch, choose and check the models that find claims by meaning'
complete -c packset -n "__fish_packset_needs_command" -f -a "serve" -d 'Answer requests over HTTP, for tools that need it'
complete -c packset -n "__fish_packset_needs_command" -f -a "mcp" -d 'Answer an MCP client over standard input and output'
complete -c packset -n "__fish_packset_needs_command" -f -a "ensure" -d 'Start the writer if it is down, and print where it is'
complete -c packset -n "__fish_packset_needs_command" -f -a "start" -d 'Start the writer if it is down'
complete -c packset -n "__fish_packset_needs_command" -f -a "stop" -d 'End the writer of this home'
complete -c packset -n "__fish_packset_needs_command" -f -a "port" -d 'Print the writer\'s port'
complete -c packset -n "__fish_packset_needs_command" -f -a "url" -d 'Print the writer\'s address'
complete -c packset -n "__fish_packset_needs_command" -f -a "which" -d 'Print the path of the program that serves'
complete -c packset -n "__fish_packset_needs_command" -f -a "where" -d 'Print the workspace in force'
complete -c packset -n "__fish_packset_needs_command" -f -a "migrate-home" -d 'Move a pack from the previous default home to the one of today'
complete -c packset -n "__fish_packset_needs_command" -f -a "doctor" -d 'Say what ails the pack, and what helps'
complete -c packset -n "__fish_packset_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand remember" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand remember" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand remember" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand prefer" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand prefer" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand prefer" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand search" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l as-of -d 'What was true at this time' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l known-at -d 'What the pack knew at this time' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l semantic -d 'What finds claims by meaning: off, static, or a model [default: the one in use]' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l min-confidence -d 'Print nothing if it is less sure than this that the first hit answers (0 to 1)' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l rank -d 'What the score means: the panel\'s verdict or plain relevance' -r -f -a "fused\t'The ballots fused by the panel'
relevance\t'How well the claim matches, and nothing else'"
complete -c packset -n "__fish_packset_using_subcommand search" -l limit -d 'Most hits to print' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l kind -d 'Only claims of this kind' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l set -d 'Only claims of this set' -r
complete -c packset -n "__fish_packset_using_subcommand search" -l rerank -d 'Ask the cross-encoder about the first twenty; a lone hit is settled without'
complete -c packset -n "__fish_packset_using_subcommand search" -s q -l quiet -d 'Say nothing on stderr, and exit 1 when nothing is found'
complete -c packset -n "__fish_packset_using_subcommand search" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand atoms" -l as-of -d 'What was true at this time' -r
complete -c packset -n "__fish_packset_using_subcommand atoms" -l known-at -d 'What the pack knew at this time' -r
complete -c packset -n "__fish_packset_using_subcommand atoms" -l kind -d 'Only claims of this kind' -r
complete -c packset -n "__fish_packset_using_subcommand atoms" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand atoms" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand status" -l all -d 'Every workspace of the pack'
complete -c packset -n "__fish_packset_using_subcommand status" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand forget" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand export" -l into -d 'The directory that receives WS.jsonl; made if it is missing' -r
complete -c packset -n "__fish_packset_using_subcommand export" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand import" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand import" -l kind -d 'Kind of the lines that name none' -r
complete -c packset -n "__fish_packset_using_subcommand import" -l batch -d 'Lines stored in one commit' -r
complete -c packset -n "__fish_packset_using_subcommand import" -l records -d 'Take records of any kind but a claim\'s, as they are'
complete -c packset -n "__fish_packset_using_subcommand import" -l over-cap -d 'Store past the live cap, and forget nothing'
complete -c packset -n "__fish_packset_using_subcommand import" -l link -d 'Link the workspace\'s claims that have no links, as writes would have'
complete -c packset -n "__fish_packset_using_subcommand import" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand batch" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand batch" -l best-effort -d 'Do what can be done, and say what could not'
complete -c packset -n "__fish_packset_using_subcommand batch" -l over-cap -d 'Store past the live cap, and forget nothing'
complete -c packset -n "__fish_packset_using_subcommand batch" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand batch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand delete" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand delete" -l why -d 'The accession of the deed that withdraws the claim' -r
complete -c packset -n "__fish_packset_using_subcommand delete" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand due" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand due" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand grade" -l lapsed -d 'The review lapsed; without it, it was recalled'
complete -c packset -n "__fish_packset_using_subcommand grade" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand grade" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand sweep" -l all -d 'Every workspace of the pack'
complete -c packset -n "__fish_packset_using_subcommand sweep" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand update" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand update" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand consolidate" -l apply -d 'Close the earlier claim of each pair'
complete -c packset -n "__fish_packset_using_subcommand consolidate" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand consolidate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand islands" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand islands" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand hubs" -l limit -d 'Most claims to print' -r
complete -c packset -n "__fish_packset_using_subcommand hubs" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand hubs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand island" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand island" -l limit -d 'Most claims to print' -r
complete -c packset -n "__fish_packset_using_subcommand island" -l fire -d 'Wire the top eight together, once an hour for one cue'
complete -c packset -n "__fish_packset_using_subcommand island" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand island" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand fire" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand fire" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand fire" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand accessions" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand accessions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand citers" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand citers" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand cards" -l set -d 'The cards, and the claims, of this set' -r
complete -c packset -n "__fish_packset_using_subcommand cards" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand cards" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand card" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand card" -l set -d 'The set whose card it is' -r
complete -c packset -n "__fish_packset_using_subcommand card" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand card" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand set" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand set" -l user -d 'Its user card; an empty text clears it' -r
complete -c packset -n "__fish_packset_using_subcommand set" -l memory -d 'Its memory card; an empty text clears it' -r
complete -c packset -n "__fish_packset_using_subcommand set" -l instructions -d 'Its instructions; an empty text clears them' -r
complete -c packset -n "__fish_packset_using_subcommand set" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand pin" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand pin" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand pin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand pack" -l set -d 'The cards, and the claims, of this set' -r
complete -c packset -n "__fish_packset_using_subcommand pack" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand pack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand attach" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand attach" -l label -d 'What to call the body' -r
complete -c packset -n "__fish_packset_using_subcommand attach" -l take -d 'Print what is held and hold it no longer'
complete -c packset -n "__fish_packset_using_subcommand attach" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand proposals; and not __fish_seen_subcommand_from mine help" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand proposals; and not __fish_seen_subcommand_from mine help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand proposals; and not __fish_seen_subcommand_from mine help" -a "mine" -d 'Propose what cards that were too long said'
complete -c packset -n "__fish_packset_using_subcommand proposals; and not __fish_seen_subcommand_from mine help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from mine" -l day -d 'The day on which the cards were refused [default: today]' -r
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from mine" -l transcript -d 'The transcript that must bear it out: only what it says can be accepted' -r
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from mine" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from mine" -s h -l help -d 'Print help'
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from help" -f -a "mine" -d 'Propose what cards that were too long said'
complete -c packset -n "__fish_packset_using_subcommand proposals; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand propose" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand propose" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand propose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand accept" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand accept" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand accept" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand show" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand log" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand log" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand diff" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand diff" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand undo" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand undo" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand why" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l as-of -d 'What was true at this time' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l known-at -d 'What the pack knew at this time' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l query -d 'What was looked for' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l limit -d 'Hits of the search that is explained' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l kind -d 'The search was for this kind alone' -r
complete -c packset -n "__fish_packset_using_subcommand why" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand purge" -l workspace -d 'The workspace [default: see `packset where`]' -r
complete -c packset -n "__fish_packset_using_subcommand purge" -l query -d 'Erase what this search finds first' -r
complete -c packset -n "__fish_packset_using_subcommand purge" -l limit -d 'Hits of the search that are erased' -r
complete -c packset -n "__fish_packset_using_subcommand purge" -l dry-run -d 'Say what would be erased, and erase nothing'
complete -c packset -n "__fish_packset_using_subcommand purge" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand purge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand compact" -l keep -d 'Drop versions that ended longer ago than this: 36h, 90d, 52w [default: keep all]' -r
complete -c packset -n "__fish_packset_using_subcommand compact" -l all -d 'Every workspace of the pack'
complete -c packset -n "__fish_packset_using_subcommand compact" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand compact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand embed" -l all -d 'Every workspace of the pack'
complete -c packset -n "__fish_packset_using_subcommand embed" -l if-set -d 'Do nothing, and say nothing, if no model is in use'
complete -c packset -n "__fish_packset_using_subcommand embed" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand embed" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand verify" -l all -d 'Every workspace of the pack'
complete -c packset -n "__fish_packset_using_subcommand verify" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -f -a "list" -d 'The models that are known, and which are here'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -f -a "pull" -d 'Fetch a model, and the library that runs it'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -f -a "use" -d 'Say which model the pack is to use'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -f -a "check" -d 'Try a model on texts whose likeness is known'
complete -c packset -n "__fish_packset_using_subcommand model; and not __fish_seen_subcommand_from list pull use check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from list" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from pull" -l mirror -d 'Where to fetch from [default: HF_ENDPOINT, else the public hub]' -r
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from pull" -l runtime -d 'Fetch ONNX Runtime even if one is found [default: if none is found]'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from pull" -l no-runtime -d 'Do not fetch ONNX Runtime'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from pull" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from pull" -s h -l help -d 'Print help'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from use" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from check" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "list" -d 'The models that are known, and which are here'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "pull" -d 'Fetch a model, and the library that runs it'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "use" -d 'Say which model the pack is to use'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "check" -d 'Try a model on texts whose likeness is known'
complete -c packset -n "__fish_packset_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand serve" -l host -d 'The address to listen on; only this machine\'s own will do' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l port -d 'The port [default: PACKSET_PORT, else 8761]; 0 takes a free one' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l socket -d 'Listen on a Unix socket instead, which only this user can open' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l fuse -d 'How ballots become one list [default: PACKSET_FUSE]' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l diversify -d 'How near copies make way [default: PACKSET_DIVERSIFY]' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l decay -d 'How claims fade [default: PACKSET_DECAY]' -r
complete -c packset -n "__fish_packset_using_subcommand serve" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand mcp" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand ensure" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand ensure" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand start" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand stop" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand port" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand port" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand url" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand url" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand which" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand which" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand where" -l explain -d 'Say how the workspace and the pack\'s home were found'
complete -c packset -n "__fish_packset_using_subcommand where" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand where" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand migrate-home" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand migrate-home" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand doctor" -l fix -d 'Narrow modes that let others in, and put back a store\'s missing LOCK file'
complete -c packset -n "__fish_packset_using_subcommand doctor" -l json -d 'Print JSON instead of columns'
complete -c packset -n "__fish_packset_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "remember" -d 'Store one lesson'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "prefer" -d 'Store one standing preference'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "search" -d 'Find claims, best first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "atoms" -d 'List the claims of a workspace'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "status" -d 'Count what a workspace holds'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "forget" -d 'Drop a workspace whole, without tombstones'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "export" -d 'Write a workspace\'s claims to a file'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "import" -d 'Store the claims of a JSON Lines file'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "batch" -d 'Do what the lines of a file say, all in one commit'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "delete" -d 'Withdraw one claim, leaving a tombstone'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "due" -d 'Claims whose review clock has run out, soonest first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "grade" -d 'Mark a review recalled, or lapsed'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "sweep" -d 'Lapse what was left due too long, forget what nobody ever recalled'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "update" -d 'Merge fields into one live claim'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "consolidate" -d 'Find claims that later ones replace'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "islands" -d 'The link graph\'s clusters, largest first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "hubs" -d 'The claims that the link graph turns on, highest first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "island" -d 'The memories that a cue activates, strongest first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "fire" -d 'Strengthen the links between claims that were used together'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "accessions" -d 'The accessions that the live claims cite'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "citers" -d 'The live claims that cite one accession'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "cards" -d 'Print the cards: who the agent works for, what the workspace is'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "card" -d 'Write one card, or clear it'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "set" -d 'Print a set\'s three cards, or write them'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "pin" -d 'Read or set the pinned set'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "pack" -d 'The cards and the claims as one JSON document'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "attach" -d 'Hold one body for the next turn, or take it'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "proposals" -d 'The open proposals: writes that wait for a person'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "propose" -d 'File one proposal by hand'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "accept" -d 'Make a proposal a claim'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "show" -d 'Print one record, whatever its state'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "log" -d 'Every version of a claim, or of all claims, newest first'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "diff" -d 'What changed between two generations or times'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "undo" -d 'Take back what one commit did'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "why" -d 'What is behind a claim\'s place in a search'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "purge" -d 'Erase a record, every version of it, from every file'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "compact" -d 'Merge a workspace\'s segments'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "embed" -d 'Give the texts that have none their vectors of the model in use'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "verify" -d 'Read every byte of a workspace and say what is damaged'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "model" -d 'List, fetch, choose and check the models that find claims by meaning'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "serve" -d 'Answer requests over HTTP, for tools that need it'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "mcp" -d 'Answer an MCP client over standard input and output'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "ensure" -d 'Start the writer if it is down, and print where it is'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "start" -d 'Start the writer if it is down'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "stop" -d 'End the writer of this home'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "port" -d 'Print the writer\'s port'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "url" -d 'Print the writer\'s address'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "which" -d 'Print the path of the program that serves'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "where" -d 'Print the workspace in force'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "migrate-home" -d 'Move a pack from the previous default home to the one of today'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "doctor" -d 'Say what ails the pack, and what helps'
complete -c packset -n "__fish_packset_using_subcommand help; and not __fish_seen_subcommand_from remember prefer search atoms status forget export import batch delete due grade sweep update consolidate islands hubs island fire accessions citers cards card set pin pack attach proposals propose accept show log diff undo why purge compact embed verify model serve mcp ensure start stop port url which where migrate-home doctor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c packset -n "__fish_packset_using_subcommand help; and __fish_seen_subcommand_from proposals" -f -a "mine" -d 'Propose what cards that were too long said'
complete -c packset -n "__fish_packset_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "list" -d 'The models that are known, and which are here'
complete -c packset -n "__fish_packset_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "pull" -d 'Fetch a model, and the library that runs it'
complete -c packset -n "__fish_packset_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "use" -d 'Say which model the pack is to use'
complete -c packset -n "__fish_packset_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "check" -d 'Try a model on texts whose likeness is known'
