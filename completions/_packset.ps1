
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'packset' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'packset'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'packset' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('remember', 'remember', [CompletionResultType]::ParameterValue, 'Store one lesson')
            [CompletionResult]::new('prefer', 'prefer', [CompletionResultType]::ParameterValue, 'Store one standing preference')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Find claims, best first')
            [CompletionResult]::new('atoms', 'atoms', [CompletionResultType]::ParameterValue, 'List the claims of a workspace')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Count what a workspace holds')
            [CompletionResult]::new('forget', 'forget', [CompletionResultType]::ParameterValue, 'Drop a workspace whole, without tombstones')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write a workspace''s claims to a file')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Store the claims of a JSON Lines file')
            [CompletionResult]::new('batch', 'batch', [CompletionResultType]::ParameterValue, 'Do what the lines of a file say, all in one commit')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Withdraw one claim, leaving a tombstone')
            [CompletionResult]::new('due', 'due', [CompletionResultType]::ParameterValue, 'Claims whose review clock has run out, soonest first')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Mark a review recalled, or lapsed')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'Lapse what was left due too long, forget what nobody ever recalled')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Merge fields into one live claim')
            [CompletionResult]::new('consolidate', 'consolidate', [CompletionResultType]::ParameterValue, 'Find claims that later ones replace')
            [CompletionResult]::new('islands', 'islands', [CompletionResultType]::ParameterValue, 'The link graph''s clusters, largest first')
            [CompletionResult]::new('hubs', 'hubs', [CompletionResultType]::ParameterValue, 'The claims that the link graph turns on, highest first')
            [CompletionResult]::new('island', 'island', [CompletionResultType]::ParameterValue, 'The memories that a cue activates, strongest first')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Strengthen the links between claims that were used together')
            [CompletionResult]::new('accessions', 'accessions', [CompletionResultType]::ParameterValue, 'The accessions that the live claims cite')
            [CompletionResult]::new('citers', 'citers', [CompletionResultType]::ParameterValue, 'The live claims that cite one accession')
            [CompletionResult]::new('cards', 'cards', [CompletionResultType]::ParameterValue, 'Print the cards: who the agent works for, what the workspace is')
            [CompletionResult]::new('card', 'card', [CompletionResultType]::ParameterValue, 'Write one card, or clear it')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Print a set''s three cards, or write them')
            [CompletionResult]::new('pin', 'pin', [CompletionResultType]::ParameterValue, 'Read or set the pinned set')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'The cards and the claims as one JSON document')
            [CompletionResult]::new('attach', 'attach', [CompletionResultType]::ParameterValue, 'Hold one body for the next turn, or take it')
            [CompletionResult]::new('proposals', 'proposals', [CompletionResultType]::ParameterValue, 'The open proposals: writes that wait for a person')
            [CompletionResult]::new('propose', 'propose', [CompletionResultType]::ParameterValue, 'File one proposal by hand')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Make a proposal a claim')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print one record, whatever its state')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Every version of a claim, or of all claims, newest first')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'What changed between two generations or times')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Take back what one commit did')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'What is behind a claim''s place in a search')
            [CompletionResult]::new('purge', 'purge', [CompletionResultType]::ParameterValue, 'Erase a record, every version of it, from every file')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Merge a workspace''s segments')
            [CompletionResult]::new('embed', 'embed', [CompletionResultType]::ParameterValue, 'Give the texts that have none their vectors of the model in use')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read every byte of a workspace and say what is damaged')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'List, fetch, choose and check the models that find claims by meaning')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests over HTTP, for tools that need it')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Answer an MCP client over standard input and output')
            [CompletionResult]::new('ensure', 'ensure', [CompletionResultType]::ParameterValue, 'Start the writer if it is down, and print where it is')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the writer if it is down')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'End the writer of this home')
            [CompletionResult]::new('port', 'port', [CompletionResultType]::ParameterValue, 'Print the writer''s port')
            [CompletionResult]::new('url', 'url', [CompletionResultType]::ParameterValue, 'Print the writer''s address')
            [CompletionResult]::new('which', 'which', [CompletionResultType]::ParameterValue, 'Print the path of the program that serves')
            [CompletionResult]::new('where', 'where', [CompletionResultType]::ParameterValue, 'Print the workspace in force')
            [CompletionResult]::new('migrate-home', 'migrate-home', [CompletionResultType]::ParameterValue, 'Move a pack from the previous default home to the one of today')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what ails the pack, and what helps')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;remember' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;prefer' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;search' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--as-of', '--as-of', [CompletionResultType]::ParameterName, 'What was true at this time')
            [CompletionResult]::new('--known-at', '--known-at', [CompletionResultType]::ParameterName, 'What the pack knew at this time')
            [CompletionResult]::new('--semantic', '--semantic', [CompletionResultType]::ParameterName, 'What finds claims by meaning: off, static, or a model [default: the one in use]')
            [CompletionResult]::new('--min-confidence', '--min-confidence', [CompletionResultType]::ParameterName, 'Print nothing if it is less sure than this that the first hit answers (0 to 1)')
            [CompletionResult]::new('--rank', '--rank', [CompletionResultType]::ParameterName, 'What the score means: the panel''s verdict or plain relevance')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Most hits to print')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only claims of this kind')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Only claims of this set')
            [CompletionResult]::new('--rerank', '--rerank', [CompletionResultType]::ParameterName, 'Ask the cross-encoder about the first twenty; a lone hit is settled without')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on stderr, and exit 1 when nothing is found')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on stderr, and exit 1 when nothing is found')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;atoms' {
            [CompletionResult]::new('--as-of', '--as-of', [CompletionResultType]::ParameterName, 'What was true at this time')
            [CompletionResult]::new('--known-at', '--known-at', [CompletionResultType]::ParameterName, 'What the pack knew at this time')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only claims of this kind')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;status' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every workspace of the pack')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;forget' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;export' {
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'The directory that receives WS.jsonl; made if it is missing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;import' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Kind of the lines that name none')
            [CompletionResult]::new('--batch', '--batch', [CompletionResultType]::ParameterName, 'Lines stored in one commit')
            [CompletionResult]::new('--records', '--records', [CompletionResultType]::ParameterName, 'Take records of any kind but a claim''s, as they are')
            [CompletionResult]::new('--over-cap', '--over-cap', [CompletionResultType]::ParameterName, 'Store past the live cap, and forget nothing')
            [CompletionResult]::new('--link', '--link', [CompletionResultType]::ParameterName, 'Link the workspace''s claims that have no links, as writes would have')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;batch' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--best-effort', '--best-effort', [CompletionResultType]::ParameterName, 'Do what can be done, and say what could not')
            [CompletionResult]::new('--over-cap', '--over-cap', [CompletionResultType]::ParameterName, 'Store past the live cap, and forget nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;delete' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--why', '--why', [CompletionResultType]::ParameterName, 'The accession of the deed that withdraws the claim')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;due' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;grade' {
            [CompletionResult]::new('--lapsed', '--lapsed', [CompletionResultType]::ParameterName, 'The review lapsed; without it, it was recalled')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;sweep' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every workspace of the pack')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;update' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;consolidate' {
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Close the earlier claim of each pair')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;islands' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;hubs' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Most claims to print')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;island' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Most claims to print')
            [CompletionResult]::new('--fire', '--fire', [CompletionResultType]::ParameterName, 'Wire the top eight together, once an hour for one cue')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;fire' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;accessions' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;citers' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;cards' {
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'The cards, and the claims, of this set')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;card' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'The set whose card it is')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;set' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Its user card; an empty text clears it')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Its memory card; an empty text clears it')
            [CompletionResult]::new('--instructions', '--instructions', [CompletionResultType]::ParameterName, 'Its instructions; an empty text clears them')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;pin' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;pack' {
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'The cards, and the claims, of this set')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;attach' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--label', '--label', [CompletionResultType]::ParameterName, 'What to call the body')
            [CompletionResult]::new('--take', '--take', [CompletionResultType]::ParameterName, 'Print what is held and hold it no longer')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;proposals' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('mine', 'mine', [CompletionResultType]::ParameterValue, 'Propose what cards that were too long said')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;proposals;mine' {
            [CompletionResult]::new('--day', '--day', [CompletionResultType]::ParameterName, 'The day on which the cards were refused [default: today]')
            [CompletionResult]::new('--transcript', '--transcript', [CompletionResultType]::ParameterName, 'The transcript that must bear it out: only what it says can be accepted')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'packset;proposals;help' {
            [CompletionResult]::new('mine', 'mine', [CompletionResultType]::ParameterValue, 'Propose what cards that were too long said')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;proposals;help;mine' {
            break
        }
        'packset;proposals;help;help' {
            break
        }
        'packset;propose' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;accept' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;log' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;diff' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;undo' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;why' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--as-of', '--as-of', [CompletionResultType]::ParameterName, 'What was true at this time')
            [CompletionResult]::new('--known-at', '--known-at', [CompletionResultType]::ParameterName, 'What the pack knew at this time')
            [CompletionResult]::new('--query', '--query', [CompletionResultType]::ParameterName, 'What was looked for')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Hits of the search that is explained')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'The search was for this kind alone')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;purge' {
            [CompletionResult]::new('--workspace', '--workspace', [CompletionResultType]::ParameterName, 'The workspace [default: see `packset where`]')
            [CompletionResult]::new('--query', '--query', [CompletionResultType]::ParameterName, 'Erase what this search finds first')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Hits of the search that are erased')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would be erased, and erase nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;compact' {
            [CompletionResult]::new('--keep', '--keep', [CompletionResultType]::ParameterName, 'Drop versions that ended longer ago than this: 36h, 90d, 52w [default: keep all]')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every workspace of the pack')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;embed' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every workspace of the pack')
            [CompletionResult]::new('--if-set', '--if-set', [CompletionResultType]::ParameterName, 'Do nothing, and say nothing, if no model is in use')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;verify' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Every workspace of the pack')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;model' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The models that are known, and which are here')
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch a model, and the library that runs it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Say which model the pack is to use')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Try a model on texts whose likeness is known')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;model;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'packset;model;pull' {
            [CompletionResult]::new('--mirror', '--mirror', [CompletionResultType]::ParameterName, 'Where to fetch from [default: HF_ENDPOINT, else the public hub]')
            [CompletionResult]::new('--runtime', '--runtime', [CompletionResultType]::ParameterName, 'Fetch ONNX Runtime even if one is found [default: if none is found]')
            [CompletionResult]::new('--no-runtime', '--no-runtime', [CompletionResultType]::ParameterName, 'Do not fetch ONNX Runtime')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'packset;model;use' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'packset;model;check' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'packset;model;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The models that are known, and which are here')
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch a model, and the library that runs it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Say which model the pack is to use')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Try a model on texts whose likeness is known')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;model;help;list' {
            break
        }
        'packset;model;help;pull' {
            break
        }
        'packset;model;help;use' {
            break
        }
        'packset;model;help;check' {
            break
        }
        'packset;model;help;help' {
            break
        }
        'packset;serve' {
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'The address to listen on; only this machine''s own will do')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'The port [default: PACKSET_PORT, else 8761]; 0 takes a free one')
            [CompletionResult]::new('--socket', '--socket', [CompletionResultType]::ParameterName, 'Listen on a Unix socket instead, which only this user can open')
            [CompletionResult]::new('--fuse', '--fuse', [CompletionResultType]::ParameterName, 'How ballots become one list [default: PACKSET_FUSE]')
            [CompletionResult]::new('--diversify', '--diversify', [CompletionResultType]::ParameterName, 'How near copies make way [default: PACKSET_DIVERSIFY]')
            [CompletionResult]::new('--decay', '--decay', [CompletionResultType]::ParameterName, 'How claims fade [default: PACKSET_DECAY]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;mcp' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;ensure' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;start' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;stop' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;port' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;url' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;which' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;where' {
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Say how the workspace and the pack''s home were found')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;migrate-home' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;doctor' {
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Narrow modes that let others in, and put back a store''s missing LOCK file')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON instead of columns')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'packset;help' {
            [CompletionResult]::new('remember', 'remember', [CompletionResultType]::ParameterValue, 'Store one lesson')
            [CompletionResult]::new('prefer', 'prefer', [CompletionResultType]::ParameterValue, 'Store one standing preference')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Find claims, best first')
            [CompletionResult]::new('atoms', 'atoms', [CompletionResultType]::ParameterValue, 'List the claims of a workspace')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Count what a workspace holds')
            [CompletionResult]::new('forget', 'forget', [CompletionResultType]::ParameterValue, 'Drop a workspace whole, without tombstones')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Write a workspace''s claims to a file')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Store the claims of a JSON Lines file')
            [CompletionResult]::new('batch', 'batch', [CompletionResultType]::ParameterValue, 'Do what the lines of a file say, all in one commit')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Withdraw one claim, leaving a tombstone')
            [CompletionResult]::new('due', 'due', [CompletionResultType]::ParameterValue, 'Claims whose review clock has run out, soonest first')
            [CompletionResult]::new('grade', 'grade', [CompletionResultType]::ParameterValue, 'Mark a review recalled, or lapsed')
            [CompletionResult]::new('sweep', 'sweep', [CompletionResultType]::ParameterValue, 'Lapse what was left due too long, forget what nobody ever recalled')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Merge fields into one live claim')
            [CompletionResult]::new('consolidate', 'consolidate', [CompletionResultType]::ParameterValue, 'Find claims that later ones replace')
            [CompletionResult]::new('islands', 'islands', [CompletionResultType]::ParameterValue, 'The link graph''s clusters, largest first')
            [CompletionResult]::new('hubs', 'hubs', [CompletionResultType]::ParameterValue, 'The claims that the link graph turns on, highest first')
            [CompletionResult]::new('island', 'island', [CompletionResultType]::ParameterValue, 'The memories that a cue activates, strongest first')
            [CompletionResult]::new('fire', 'fire', [CompletionResultType]::ParameterValue, 'Strengthen the links between claims that were used together')
            [CompletionResult]::new('accessions', 'accessions', [CompletionResultType]::ParameterValue, 'The accessions that the live claims cite')
            [CompletionResult]::new('citers', 'citers', [CompletionResultType]::ParameterValue, 'The live claims that cite one accession')
            [CompletionResult]::new('cards', 'cards', [CompletionResultType]::ParameterValue, 'Print the cards: who the agent works for, what the workspace is')
            [CompletionResult]::new('card', 'card', [CompletionResultType]::ParameterValue, 'Write one card, or clear it')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Print a set''s three cards, or write them')
            [CompletionResult]::new('pin', 'pin', [CompletionResultType]::ParameterValue, 'Read or set the pinned set')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'The cards and the claims as one JSON document')
            [CompletionResult]::new('attach', 'attach', [CompletionResultType]::ParameterValue, 'Hold one body for the next turn, or take it')
            [CompletionResult]::new('proposals', 'proposals', [CompletionResultType]::ParameterValue, 'The open proposals: writes that wait for a person')
            [CompletionResult]::new('propose', 'propose', [CompletionResultType]::ParameterValue, 'File one proposal by hand')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Make a proposal a claim')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print one record, whatever its state')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Every version of a claim, or of all claims, newest first')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'What changed between two generations or times')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Take back what one commit did')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'What is behind a claim''s place in a search')
            [CompletionResult]::new('purge', 'purge', [CompletionResultType]::ParameterValue, 'Erase a record, every version of it, from every file')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Merge a workspace''s segments')
            [CompletionResult]::new('embed', 'embed', [CompletionResultType]::ParameterValue, 'Give the texts that have none their vectors of the model in use')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Read every byte of a workspace and say what is damaged')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'List, fetch, choose and check the models that find claims by meaning')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests over HTTP, for tools that need it')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Answer an MCP client over standard input and output')
            [CompletionResult]::new('ensure', 'ensure', [CompletionResultType]::ParameterValue, 'Start the writer if it is down, and print where it is')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the writer if it is down')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'End the writer of this home')
            [CompletionResult]::new('port', 'port', [CompletionResultType]::ParameterValue, 'Print the writer''s port')
            [CompletionResult]::new('url', 'url', [CompletionResultType]::ParameterValue, 'Print the writer''s address')
            [CompletionResult]::new('which', 'which', [CompletionResultType]::ParameterValue, 'Print the path of the program that serves')
            [CompletionResult]::new('where', 'where', [CompletionResultType]::ParameterValue, 'Print the workspace in force')
            [CompletionResult]::new('migrate-home', 'migrate-home', [CompletionResultType]::ParameterValue, 'Move a pack from the previous default home to the one of today')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say what ails the pack, and what helps')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'packset;help;remember' {
            break
        }
        'packset;help;prefer' {
            break
        }
        'packset;help;search' {
            break
        }
        'packset;help;atoms' {
            break
        }
        'packset;help;status' {
            break
        }
        'packset;help;forget' {
            break
        }
        'packset;help;export' {
            break
        }
        'packset;help;import' {
            break
        }
        'packset;help;batch' {
            break
        }
        'packset;help;delete' {
            break
        }
        'packset;help;due' {
            break
        }
        'packset;help;grade' {
            break
        }
        'packset;help;sweep' {
            break
        }
        'packset;help;update' {
            break
        }
        'packset;help;consolidate' {
            break
        }
        'packset;help;islands' {
            break
        }
        'packset;help;hubs' {
            break
        }
        'packset;help;island' {
            break
        }
        'packset;help;fire' {
            break
        }
        'packset;help;accessions' {
            break
        }
        'packset;help;citers' {
            break
        }
        'packset;help;cards' {
            break
        }
        'packset;help;card' {
            break
        }
        'packset;help;set' {
            break
        }
        'packset;help;pin' {
            break
        }
        'packset;help;pack' {
            break
        }
        'packset;help;attach' {
            break
        }
        'packset;help;proposals' {
            [CompletionResult]::new('mine', 'mine', [CompletionResultType]::ParameterValue, 'Propose what cards that were too long said')
            break
        }
        'packset;help;proposals;mine' {
            break
        }
        'packset;help;propose' {
            break
        }
        'packset;help;accept' {
            break
        }
        'packset;help;show' {
            break
        }
        'packset;help;log' {
            break
        }
        'packset;help;diff' {
            break
        }
        'packset;help;undo' {
            break
        }
        'packset;help;why' {
            break
        }
        'packset;help;purge' {
            break
        }
        'packset;help;compact' {
            break
        }
        'packset;help;embed' {
            break
        }
        'packset;help;verify' {
            break
        }
        'packset;help;model' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'The models that are known, and which are here')
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch a model, and the library that runs it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Say which model the pack is to use')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Try a model on texts whose likeness is known')
            break
        }
        'packset;help;model;list' {
            break
        }
        'packset;help;model;pull' {
            break
        }
        'packset;help;model;use' {
            break
        }
        'packset;help;model;check' {
            break
        }
        'packset;help;serve' {
            break
        }
        'packset;help;mcp' {
            break
        }
        'packset;help;ensure' {
            break
        }
        'packset;help;start' {
            break
        }
        'packset;help;stop' {
            break
        }
        'packset;help;port' {
            break
        }
        'packset;help;url' {
            break
        }
        'packset;help;which' {
            break
        }
        'packset;help;where' {
            break
        }
        'packset;help;migrate-home' {
            break
        }
        'packset;help;doctor' {
            break
        }
        'packset;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
