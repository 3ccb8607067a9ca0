//! What a person may type, and nothing more: the one clap definition behind the parser, the help,
//! the man pages and the completions.
//!
//! Inert: a value here is text that was checked for its own shape. Not here: reading a command
//! line ([`crate::cli::parse`]), and what a workspace, a time or a kind means.

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use super::examples::*;

/// Columns that help is wrapped to: the width of a terminal nobody resized, so that help reads
/// the same everywhere.
pub(crate) const HELP_COLUMNS: usize = 80;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "packset",
    bin_name = "packset",
    version,
    about = "The memory a coding agent keeps",
    long_about = "The memory a coding agent keeps: short claims written on purpose, found again in \
                  milliseconds.",
    after_long_help = PROGRAM_END,
    after_help = "`packset help VERB` says more.",
    args_override_self = true,
    term_width = HELP_COLUMNS,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs"
)]
pub struct Args {
    /// Print JSON instead of columns
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Store one lesson
    #[command(after_long_help = REMEMBER_END)]
    Remember(Claim),
    /// Store one standing preference
    #[command(after_long_help = PREFER_END)]
    Prefer(Claim),
    /// Find claims, best first
    #[command(after_long_help = SEARCH_END)]
    Search(Search),
    /// List the claims of a workspace
    #[command(after_long_help = ATOMS_END)]
    Atoms(Atoms),
    /// Count what a workspace holds
    #[command(after_long_help = STATUS_END)]
    Status(Scope),
    /// Drop a workspace whole, without tombstones
    #[command(after_long_help = FORGET_END)]
    Forget(Forget),
    /// Write a workspace's claims to a file
    #[command(after_long_help = EXPORT_END)]
    Export(Export),
    /// Store the claims of a JSON Lines file
    #[command(after_long_help = IMPORT_END)]
    Import(Import),
    /// Do what the lines of a file say, all in one commit
    #[command(after_long_help = BATCH_END)]
    Batch(Batch),
    /// Withdraw one claim, leaving a tombstone
    #[command(after_long_help = DELETE_END)]
    Delete(Delete),
    /// Claims whose review clock has run out, soonest first
    #[command(after_long_help = DUE_END)]
    Due(Listing),
    /// Mark a review recalled, or lapsed
    #[command(after_long_help = GRADE_END)]
    Grade(Grade),
    /// Lapse what was left due too long, forget what nobody ever recalled
    #[command(after_long_help = SWEEP_END)]
    Sweep(Scope),
    /// Merge fields into one live claim
    #[command(after_long_help = UPDATE_END)]
    Update(Update),
    /// Find claims that later ones replace
    #[command(after_long_help = CONSOLIDATE_END)]
    Consolidate(Consolidate),
    /// The link graph's clusters, largest first
    #[command(after_long_help = ISLANDS_END)]
    Islands(Listing),
    /// The claims that the link graph turns on, highest first
    #[command(after_long_help = HUBS_END)]
    Hubs(Hubs),
    /// The memories that a cue activates, strongest first
    #[command(after_long_help = ISLAND_END)]
    Island(Island),
    /// Strengthen the links between claims that were used together
    #[command(after_long_help = FIRE_END)]
    Fire(Fire),
    /// The accessions that the live claims cite
    #[command(after_long_help = ACCESSIONS_END)]
    Accessions(Listing),
    /// The live claims that cite one accession
    #[command(after_long_help = CITERS_END)]
    Citers(Citers),
    /// Print the cards: who the agent works for, what the workspace is
    #[command(after_long_help = CARDS_END)]
    Cards(Cards),
    /// Write one card, or clear it
    #[command(after_long_help = CARD_END)]
    Card(Card),
    /// Print a set's three cards, or write them
    #[command(after_long_help = SET_END)]
    Set(SetCards),
    /// Read or set the pinned set
    #[command(after_long_help = PIN_END)]
    Pin(Pin),
    /// The cards and the claims as one JSON document
    #[command(after_long_help = PACK_END)]
    Pack(Cards),
    /// Hold one body for the next turn, or take it
    #[command(after_long_help = ATTACH_END)]
    Attach(Attach),
    /// The open proposals: writes that wait for a person
    #[command(after_long_help = PROPOSALS_END)]
    Proposals(Proposals),
    /// File one proposal by hand
    #[command(after_long_help = PROPOSE_END)]
    Propose(Claim),
    /// Make a proposal a claim
    #[command(after_long_help = ACCEPT_END)]
    Accept(Accept),
    /// Print one record, whatever its state
    #[command(after_long_help = SHOW_END)]
    Show(Show),
    /// Every version of a claim, or of all claims, newest first
    #[command(after_long_help = LOG_END)]
    Log(Log),
    /// What changed between two generations or times
    #[command(after_long_help = DIFF_END)]
    Diff(Diff),
    /// Take back what one commit did
    #[command(after_long_help = UNDO_END)]
    Undo(Undo),
    /// What is behind a claim's place in a search
    #[command(after_long_help = WHY_END)]
    Why(Why),
    /// Erase a record, every version of it, from every file
    #[command(after_long_help = PURGE_END)]
    Purge(Purge),
    /// Merge a workspace's segments
    #[command(after_long_help = COMPACT_END)]
    Compact(Compact),
    /// Give the texts that have none their vectors of the model in use
    #[command(after_long_help = EMBED_END)]
    Embed(Embed),
    /// Read every byte of a workspace and say what is damaged
    #[command(after_long_help = VERIFY_END)]
    Verify(Scope),
    /// List, fetch, choose and check the models that find claims by meaning
    #[command(after_long_help = MODEL_END)]
    Model(Model),
    /// Answer requests over HTTP, for tools that need it
    #[command(after_long_help = SERVE_END)]
    Serve(Serve),
    /// Answer an MCP client over standard input and output
    #[command(after_long_help = MCP_END)]
    Mcp,
    /// Start the writer if it is down, and print where it is
    #[command(after_long_help = ENSURE_END)]
    Ensure,
    /// Start the writer if it is down
    #[command(after_long_help = START_END)]
    Start,
    /// End the writer of this home
    #[command(after_long_help = STOP_END)]
    Stop,
    /// Print the writer's port
    #[command(after_long_help = PORT_END)]
    Port,
    /// Print the writer's address
    #[command(after_long_help = URL_END)]
    Url,
    /// Print the path of the program that serves
    #[command(after_long_help = WHICH_END)]
    Which,
    /// Print the workspace in force
    #[command(after_long_help = WHERE_END)]
    Where(Where),
    /// Move a pack from the previous default home to the one of today
    #[command(after_long_help = MIGRATE_HOME_END)]
    MigrateHome,
    /// Say what ails the pack, and what helps
    #[command(after_long_help = DOCTOR_END)]
    Doctor(Doctor),
}

/// `remember` and `prefer`: one claim in words.
#[derive(Debug, clap::Args)]
pub struct Claim {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The claim; words are joined by spaces
    #[arg(value_name = "TEXT", required = true)]
    pub text: Vec<String>,
}

impl Claim {
    /// The claim as one text.
    pub fn text(&self) -> String {
        joined(&self.text)
    }
}

/// The workspace, for a verb whose words are something else.
#[derive(Debug, clap::Args)]
pub struct Within {
    /// The workspace [default: see `packset where`]
    #[arg(long, value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `search`.
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// As of when.
    #[command(flatten)]
    pub moment: Moment,
    /// Ask the cross-encoder about the first twenty; a lone hit is settled without
    #[arg(long)]
    pub rerank: bool,
    /// What finds claims by meaning: off, static, or a model [default: the one in use]
    #[arg(long, value_name = "MODEL")]
    pub semantic: Option<String>,
    /// Print nothing if it is less sure than this that the first hit answers (0 to 1)
    #[arg(long, value_name = "SHARE")]
    pub min_confidence: Option<String>,
    /// What the score means: the panel's verdict or plain relevance
    #[arg(long, value_enum, default_value_t = Rank::Fused)]
    pub rank: Rank,
    /// Most hits to print
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub limit: u32,
    /// Only claims of this kind
    #[arg(long, value_name = "K", value_parser = filled)]
    pub kind: Option<String>,
    /// Only claims of this set
    #[arg(long, value_name = "S", value_parser = filled)]
    pub set: Option<String>,
    /// Say nothing on stderr, and exit 1 when nothing is found
    #[arg(short, long)]
    pub quiet: bool,
    /// What to look for; words are joined by spaces
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
}

impl Search {
    /// The query as one text.
    pub fn query(&self) -> String {
        joined(&self.query)
    }
}

/// The two times that a read may be asked for.
#[derive(Debug, clap::Args)]
pub struct Moment {
    /// What was true at this time
    #[arg(long, value_name = "TS", value_parser = filled)]
    pub as_of: Option<String>,
    /// What the pack knew at this time
    #[arg(long, value_name = "TS", value_parser = filled)]
    pub known_at: Option<String>,
}

/// What a score means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rank {
    /// The ballots fused by the panel
    Fused,
    /// How well the claim matches, and nothing else
    Relevance,
}

/// `atoms`.
#[derive(Debug, clap::Args)]
pub struct Atoms {
    /// As of when.
    #[command(flatten)]
    pub moment: Moment,
    /// Only claims of this kind
    #[arg(long, value_name = "K", value_parser = filled)]
    pub kind: Option<String>,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// One workspace or all of them.
#[derive(Debug, clap::Args)]
pub struct Scope {
    /// Every workspace of the pack
    #[arg(long, conflicts_with = "workspace")]
    pub all: bool,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `forget`.
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// The workspace to drop; never assumed
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: String,
}

/// `export`.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// The directory that receives WS.jsonl; made if it is missing
    #[arg(long, value_name = "DIR", value_parser = filled)]
    pub into: String,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `import`.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// Take records of any kind but a claim's, as they are
    #[arg(long)]
    pub records: bool,
    /// Kind of the lines that name none
    #[arg(long, value_name = "K", value_parser = filled)]
    pub kind: Option<String>,
    /// Lines stored in one commit
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub batch: Option<u32>,
    /// Store past the live cap, and forget nothing
    #[arg(long)]
    pub over_cap: bool,
    /// Link the workspace's claims that have no links, as writes would have
    #[arg(long, conflicts_with = "records")]
    pub link: bool,
    /// The JSON Lines file; `-` is standard input
    #[arg(value_name = "FILE", value_parser = filled)]
    pub file: String,
}

/// `batch`.
#[derive(Debug, clap::Args)]
pub struct Batch {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// Do what can be done, and say what could not
    #[arg(long)]
    pub best_effort: bool,
    /// Store past the live cap, and forget nothing
    #[arg(long)]
    pub over_cap: bool,
    /// The JSON Lines file; `-` is standard input
    #[arg(value_name = "FILE", value_parser = filled)]
    pub file: String,
}

/// `delete`.
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The accession of the deed that withdraws the claim
    #[arg(long, value_name = "ACCESSION", value_parser = filled)]
    pub why: Option<String>,
    /// The claim's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
}

/// A verb that takes a workspace and nothing else.
#[derive(Debug, clap::Args)]
pub struct Listing {
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `grade`.
#[derive(Debug, clap::Args)]
pub struct Grade {
    /// The review lapsed; without it, it was recalled
    #[arg(long)]
    pub lapsed: bool,
    /// The claim's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `update`.
#[derive(Debug, clap::Args)]
pub struct Update {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The claim's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
    /// What to set: JSON, or else a string; null takes the field out
    #[arg(value_name = "FIELD=VALUE", required = true)]
    pub fields: Vec<String>,
}

/// `consolidate`.
#[derive(Debug, clap::Args)]
pub struct Consolidate {
    /// Close the earlier claim of each pair
    #[arg(long)]
    pub apply: bool,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `hubs`.
#[derive(Debug, clap::Args)]
pub struct Hubs {
    /// Most claims to print
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub limit: u32,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `island`.
#[derive(Debug, clap::Args)]
pub struct Island {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// Wire the top eight together, once an hour for one cue
    #[arg(long)]
    pub fire: bool,
    /// Most claims to print
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = at_least_one)]
    pub limit: u32,
    /// What comes to mind; words are joined by spaces
    #[arg(value_name = "CUE", required = true)]
    pub cue: Vec<String>,
}

impl Island {
    /// The cue as one text.
    pub fn cue(&self) -> String {
        joined(&self.cue)
    }
}

/// `fire`.
#[derive(Debug, clap::Args)]
pub struct Fire {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The claims' ids, two or more
    #[arg(value_name = "ID", required = true, value_parser = filled)]
    pub ids: Vec<String>,
}

/// `citers`.
#[derive(Debug, clap::Args)]
pub struct Citers {
    /// The accession: deed-... or sha256:...
    #[arg(value_name = "ACCESSION", value_parser = filled)]
    pub accession: String,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `cards` and `pack`.
#[derive(Debug, clap::Args)]
pub struct Cards {
    /// The cards, and the claims, of this set
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub set: Option<String>,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `card`.
#[derive(Debug, clap::Args)]
pub struct Card {
    /// Whose card; `user` without a set belongs to the whole pack.
    #[command(flatten)]
    pub within: Within,
    /// The set whose card it is
    #[arg(long, value_name = "NAME", value_parser = filled)]
    pub set: Option<String>,
    /// Which card
    #[arg(value_enum, value_name = "CARD")]
    pub card: CardName,
    /// What it is to say; an empty text clears it, `-` is standard input
    #[arg(value_name = "TEXT", required = true)]
    pub text: Vec<String>,
}

/// Which card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CardName {
    /// Who the agent works for
    User,
    /// What the workspace, or the set, is
    Memory,
    /// How a set is worked
    Instructions,
}

/// `set`.
#[derive(Debug, clap::Args)]
pub struct SetCards {
    /// Whose set.
    #[command(flatten)]
    pub within: Within,
    /// Its user card; an empty text clears it
    #[arg(long, value_name = "TEXT")]
    pub user: Option<String>,
    /// Its memory card; an empty text clears it
    #[arg(long, value_name = "TEXT")]
    pub memory: Option<String>,
    /// Its instructions; an empty text clears them
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// The set
    #[arg(value_name = "NAME", value_parser = filled)]
    pub name: String,
}

/// `pin`.
#[derive(Debug, clap::Args)]
pub struct Pin {
    /// Whose pin.
    #[command(flatten)]
    pub within: Within,
    /// The set to pin; an empty name unpins [default: print what is pinned]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `attach`.
#[derive(Debug, clap::Args)]
pub struct Attach {
    /// Whose next turn.
    #[command(flatten)]
    pub within: Within,
    /// Print what is held and hold it no longer
    #[arg(long, conflicts_with_all = ["text", "label"])]
    pub take: bool,
    /// What to call the body
    #[arg(long, value_name = "LABEL", requires = "text", value_parser = filled)]
    pub label: Option<String>,
    /// The body; an empty one clears, `-` is standard input [default: print what is held]
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
}

/// `proposals`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Proposals {
    /// What to do but list them.
    #[command(subcommand)]
    pub what: Option<ProposalsVerb>,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// What `proposals` does but list them.
#[derive(Debug, Subcommand)]
pub enum ProposalsVerb {
    /// Propose what cards that were too long said
    Mine(Mine),
}

/// `proposals mine`.
#[derive(Debug, clap::Args)]
pub struct Mine {
    /// The day on which the cards were refused [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = filled)]
    pub day: Option<String>,
    /// The transcript that must bear it out: only what it says can be accepted
    #[arg(long, value_name = "FILE", value_parser = filled)]
    pub transcript: Option<String>,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `accept`.
#[derive(Debug, clap::Args)]
pub struct Accept {
    /// Whose proposal.
    #[command(flatten)]
    pub within: Within,
    /// The proposal's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
}

/// `show`.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The record's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
    /// The workspace [default: see `packset where`]
    #[arg(value_name = "WS", value_parser = filled)]
    pub workspace: Option<String>,
}

/// `log`.
#[derive(Debug, clap::Args)]
pub struct Log {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The claim's id [default: all claims]
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: Option<String>,
}

/// `diff`.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// Two moments: g12..g15, or 2026-01-31..2026-02-28; an open end is the start, or now
    #[arg(value_name = "A..B", value_parser = filled)]
    pub range: String,
}

/// `undo`.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// The generation to take back, as `packset log` shows it [default: the newest]
    #[arg(value_name = "GENERATION", value_parser = generation)]
    pub generation: Option<u64>,
}

/// `why`.
#[derive(Debug, clap::Args)]
pub struct Why {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// As of when.
    #[command(flatten)]
    pub moment: Moment,
    /// What was looked for
    #[arg(long, value_name = "QUERY", value_parser = filled)]
    pub query: String,
    /// Hits of the search that is explained
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub limit: u32,
    /// The search was for this kind alone
    #[arg(long, value_name = "K", value_parser = filled)]
    pub kind: Option<String>,
    /// The claim's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: String,
}

/// `purge`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["id", "query"]))]
pub struct Purge {
    /// Whose claims.
    #[command(flatten)]
    pub within: Within,
    /// Say what would be erased, and erase nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Erase what this search finds first
    #[arg(long, value_name = "Q", value_parser = filled)]
    pub query: Option<String>,
    /// Hits of the search that are erased
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = at_least_one,
        conflicts_with = "id"
    )]
    pub limit: u32,
    /// The record's id
    #[arg(value_name = "ID", value_parser = filled)]
    pub id: Option<String>,
}

/// `compact`.
#[derive(Debug, clap::Args)]
pub struct Compact {
    /// How much of the pack.
    #[command(flatten)]
    pub scope: Scope,
    /// Drop versions that ended longer ago than this: 36h, 90d, 52w [default: keep all]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub keep: Option<Duration>,
}

/// `embed`.
#[derive(Debug, clap::Args)]
pub struct Embed {
    /// How much of the pack.
    #[command(flatten)]
    pub scope: Scope,
    /// Do nothing, and say nothing, if no model is in use
    #[arg(long)]
    pub if_set: bool,
}

/// `model`.
#[derive(Debug, clap::Args)]
pub struct Model {
    /// What to do but list them.
    #[command(subcommand)]
    pub what: Option<ModelVerb>,
}

/// What `model` does.
#[derive(Debug, Subcommand)]
pub enum ModelVerb {
    /// The models that are known, and which are here
    List,
    /// Fetch a model, and the library that runs it
    Pull(Pull),
    /// Say which model the pack is to use
    Use(Use),
    /// Try a model on texts whose likeness is known
    Check(Check),
}

/// `model pull`.
#[derive(Debug, clap::Args)]
pub struct Pull {
    /// Where to fetch from [default: HF_ENDPOINT, else the public hub]
    #[arg(long, value_name = "URL", value_parser = filled)]
    pub mirror: Option<String>,
    /// Fetch ONNX Runtime even if one is found [default: if none is found]
    #[arg(long, conflicts_with = "no_runtime")]
    pub runtime: bool,
    /// Do not fetch ONNX Runtime
    #[arg(long)]
    pub no_runtime: bool,
    /// The model
    #[arg(value_name = "NAME", value_parser = filled)]
    pub name: String,
}

/// `model use`.
#[derive(Debug, clap::Args)]
pub struct Use {
    /// The model; `static` is the built-in table, `none` leaves words alone
    #[arg(value_name = "NAME", value_parser = filled)]
    pub name: String,
}

/// `model check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The model [default: the one in use]
    #[arg(value_name = "NAME", value_parser = filled)]
    pub name: Option<String>,
}

/// `serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// The address to listen on; only this machine's own will do
    #[arg(long, value_name = "HOST", value_parser = filled)]
    pub host: Option<String>,
    /// The port [default: PACKSET_PORT, else 8761]; 0 takes a free one
    #[arg(long, value_name = "N", conflicts_with = "socket")]
    pub port: Option<u16>,
    /// Listen on a Unix socket instead, which only this user can open
    #[arg(long, value_name = "PATH", value_parser = filled)]
    pub socket: Option<String>,
    /// How ballots become one list [default: PACKSET_FUSE]
    #[arg(long, value_name = "NAME")]
    pub fuse: Option<String>,
    /// How near copies make way [default: PACKSET_DIVERSIFY]
    #[arg(long, value_name = "NAME")]
    pub diversify: Option<String>,
    /// How claims fade [default: PACKSET_DECAY]
    #[arg(long, value_name = "NAME")]
    pub decay: Option<String>,
}

/// `where`.
#[derive(Debug, clap::Args)]
pub struct Where {
    /// Say how the workspace and the pack's home were found
    #[arg(long)]
    pub explain: bool,
}

/// `doctor`.
#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// Narrow modes that let others in, and put back a store's missing LOCK file
    #[arg(long)]
    pub fix: bool,
}

/// Words as one text, without blanks at its ends.
fn joined(words: &[String]) -> String {
    words.join(" ").trim().to_owned()
}

fn filled(value: &str) -> Result<String, &'static str> {
    if value.trim().is_empty() { Err("it is blank") } else { Ok(value.to_owned()) }
}

fn at_least_one(value: &str) -> Result<u32, &'static str> {
    match value.parse() {
        Ok(0) | Err(_) => Err("it must be a number from 1 to 4294967295"),
        Ok(number) => Ok(number),
    }
}

fn generation(value: &str) -> Result<u64, &'static str> {
    let digits = value.strip_prefix('g').unwrap_or(value);
    digits.parse().map_err(|_| "it must be a generation, as in g12")
}

/// A whole number with its unit. Bounded so that it counts in the store's microseconds.
fn duration(value: &str) -> Result<Duration, &'static str> {
    const MALFORMED: &str = "it must be a number with s, m, h, d or w, as in 90d";
    let unit = value.chars().next_back().ok_or(MALFORMED)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(MALFORMED),
    };
    let number = value.strip_suffix(unit).ok_or(MALFORMED)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MALFORMED);
    }
    let total = number.parse().ok().and_then(|number: u64| number.checked_mul(seconds));
    match total {
        Some(total) if total <= i64::MAX as u64 / 1_000_000 => Ok(Duration::from_secs(total)),
        _ => Err("it is longer than 292 thousand years"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn durations() {
        let table = [
            ("0s", Some(0)),
            ("90s", Some(90)),
            ("2m", Some(120)),
            ("36h", Some(129_600)),
            ("1d", Some(86_400)),
            ("2w", Some(1_209_600)),
            // i64::MAX microseconds are 9223372036854.775807 seconds.
            ("9223372036854s", Some(9_223_372_036_854)),
            ("9223372036855s", None),
            ("99999999999999999999w", None),
            ("", None),
            ("d", None),
            ("-1d", None),
            ("+1d", None),
            ("1.5d", None),
            ("1D", None),
            ("1 d", None),
            ("1\u{e9}", None),
        ];
        for (text, seconds) in table {
            assert_eq!(duration(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
