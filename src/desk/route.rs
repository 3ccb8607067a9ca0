//! The requests: the one table that the HTTP writer routes by, the client asks by, the OpenAPI
//! file is made from and the MCP tools stand on.
//!
//! Not here: what a request does (the other files of this directory). Invariants: a path and a
//! method name one route; a route that changes nothing but when it is asked to says so with
//! [`Weight::Read`] and changes nothing by a plain GET (the page has two exceptions: `fire=1`, and
//! the attachment, which is taken unless `peek=1`).

use serde_json::Value;

use super::review;
use super::{
    Desk, Given, atoms, batch, cards, census, find, graph, history, identity, openapi, proposals,
};
use crate::cli::Failure;

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It reads, and what was given is in the query.
    Get,
    /// What was given is in the body.
    Post,
    /// As [`Method::Post`]: cards, sets and the pin take either.
    Put,
}

impl Method {
    /// As it is spelled.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    /// The method of a spelling, if it is one that any route has.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put].into_iter().find(|method| method.name() == name)
    }
}

/// What a request costs, and whom it may keep waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// So little that it never waits for others.
    Cheap,
    /// A look at the store.
    Read,
    /// A commit.
    Write,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A text.
    Text,
    /// A whole number.
    Count,
    /// Yes or no.
    Flag,
    /// A timestamp.
    Time,
    /// Several texts.
    List,
    /// A JSON object.
    Object,
}

/// Something that a request may be given.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub is: Type,
    /// Whether it must be there.
    pub needed: bool,
    /// What it says, in one line.
    pub about: &'static str,
}

/// One request that the desk answers.
#[derive(Debug)]
pub struct Route {
    /// What it is called.
    pub name: &'static str,
    /// The methods that it takes; clients use the first.
    pub methods: &'static [Method],
    /// The path, with `{id}` for a parameter in it.
    pub path: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it is given.
    pub takes: &'static [Parameter],
    /// What it costs.
    pub weight: Weight,
    /// The member of the answer that goes out alone over HTTP, unless the envelope is asked for;
    /// empty: all of it goes.
    pub part: &'static str,
    /// Answers it.
    pub answer: fn(&Desk, Given) -> Result<Value, Failure>,
}

impl Route {
    /// Whether a model is asked about what was given, where there is one.
    pub fn asks_a_model(&self) -> bool {
        let routes = [&SEARCH, &WHY, &ACTIVATE, &POST_ATOM, &UPDATE];
        routes.iter().any(|route| std::ptr::eq(*route, self))
    }
}

const fn must(name: &'static str, is: Type, about: &'static str) -> Parameter {
    Parameter { name, is, needed: true, about }
}

const fn may(name: &'static str, is: Type, about: &'static str) -> Parameter {
    Parameter { name, is, needed: false, about }
}

const WORKSPACE: Parameter = must("workspace", Type::Text, "whose claims");
const ID: Parameter = must("id", Type::Text, "the record's id");
const AS_OF: Parameter = may("as_of", Type::Time, "what was true at this time");
const KNOWN_AT: Parameter = may("known_at", Type::Time, "what the pack knew at this time");
const KIND: Parameter = may("kind", Type::Text, "only records of this kind");
const AS: Parameter = may("as", Type::Text, "the persona whose link weights count and change");
const GET: &[Method] = &[Method::Get];
const POST: &[Method] = &[Method::Post];
const WRITE_CARD: &[Method] = &[Method::Put, Method::Post];

/// `NAME "what it is called" METHODS "path" [the part that goes out alone] => Weight handler, "what
/// it does" [what it is given]`.
macro_rules! route {
    ($constant:ident $name:literal $methods:ident $path:literal $($part:ident)? =>
     $weight:ident $answer:path, $about:literal [$($takes:expr),*]) => {
        #[doc = $about]
        pub static $constant: Route = Route {
            name: $name,
            methods: $methods,
            path: $path,
            about: $about,
            takes: &[$($takes),*],
            weight: Weight::$weight,
            part: concat!($(stringify!($part))?),
            answer: $answer,
        };
    };
}

route! { STATUS "status" GET "/v1/status" => Cheap census::status,
"What a workspace holds, or the whole pack: counts, the pin, the panel."
[may("workspace", Type::Text, "whose claims; all workspaces if none is named")] }
route! { WORKSPACES "workspaces" GET "/v1/workspaces" => Cheap census::workspaces,
"The workspaces with their live claims."
[] }
route! { IDENTITY "identity" GET "/v1/identity" => Cheap identity::identity,
"The workspace of a directory, and who is asking."
[may("cwd", Type::Text, "the directory; that of the writer if none is named"),
 may("harness", Type::Text, "the program that asks")] }
route! { POST_ATOM "remember" POST "/v1/atoms" record => Write atoms::post,
"Stores one claim; answers the stored record, or the live one that says the same."
[must("kind", Type::Text, "one of the twenty kinds"), must("text", Type::Text, "the claim"),
 WORKSPACE] }
route! { ATOMS "atoms" GET "/v1/atoms" => Read atoms::list,
"The live claims, or those live at as_of."
[WORKSPACE, AS_OF, KNOWN_AT, KIND, may("embedding", Type::Text, "`omit` leaves vectors out, `own` those that were not written with the claim")] }
route! { ATOM "show" GET "/v1/atoms/{id}" record => Read atoms::show,
"One record, whatever its state."
[WORKSPACE, ID, AS_OF, KNOWN_AT] }
route! { UPDATE "update" POST "/v1/atoms/update" record => Write atoms::update,
"Merges fields into one live claim."
[WORKSPACE, ID, must("fields", Type::Object, "what to set; null takes a field out")] }
route! { DELETE "delete" POST "/v1/atoms/delete" record => Write atoms::delete,
"Withdraws one live claim and keeps its history."
[WORKSPACE, ID, may("why", Type::Text, "the accession of the deed that withdraws it")] }
route! { GRADE "grade" POST "/v1/grade" record => Write review::grade,
"Marks a review recalled or lapsed, which moves due_at."
[WORKSPACE, ID, may("recalled", Type::Flag, "false for a lapse")] }
route! { DUE "due" GET "/v1/due" => Read review::due,
"The claims whose review clock has run out, soonest first."
[WORKSPACE] }
route! { SEARCH "search" GET "/v1/search" => Read find::search,
"The claims that match, best first."
[WORKSPACE, may("q", Type::Text, "what to look for"),
 may("limit", Type::Count, "most hits; 16"), AS_OF, KNOWN_AT, KIND,
 may("set", Type::Text, "only claims of this set"),
 may("rank", Type::Text, "`fused` or `relevance`"),
 may("rerank", Type::Flag, "ask the cross-encoder about the first twenty"),
 may("semantic", Type::Text, "`off`, `static`, or the name of a model, in the place of the one in use"),
 may("min_confidence", Type::Text, "no hits if the first is less surely an answer, from 0 to 1")] }
route! { RECALL "recall" GET "/v1/recall" => Read find::recall,
"What an agent should have before it, with hints of what will be needed or without."
[WORKSPACE, may("q", Type::Text, "words of what will be needed"),
 may("seed", Type::List, "entities or ids"), may("limit", Type::Count, "most claims; 64"), KIND] }
route! { WHY "why" GET "/v1/why" => Read find::why,
"What is behind a claim's place in a search."
[WORKSPACE, ID, must("q", Type::Text, "what was looked for"),
 may("limit", Type::Count, "hits of that search; 10"), AS_OF, KNOWN_AT, KIND] }
route! { ISLANDS "islands" GET "/v1/islands" => Read graph::islands,
"The link graph's communities, largest first."
[WORKSPACE] }
route! { HUBS "hubs" GET "/v1/hubs" => Read graph::hubs,
"The claims that the link graph turns on, highest first."
[WORKSPACE, may("limit", Type::Count, "most claims; 10")] }
route! { ACTIVATE "island" GET "/v1/activate" => Read graph::activate,
"The cluster that a cue activates; fire=1 wires its top eight."
[WORKSPACE, must("q", Type::Text, "the cue"), may("limit", Type::Count, "most claims; 24"),
 may("fire", Type::Flag, "wire the top eight, once an hour"), AS] }
route! { FIRE "fire" POST "/v1/fire" => Write graph::fire,
"Strengthens the links between claims that were used together."
[WORKSPACE, must("ids", Type::List, "two ids or more"), AS] }
route! { SWEEP "sweep" POST "/v1/sweep" => Write review::sweep,
"The neglect sweep now."
[WORKSPACE] }
route! { FORGET "forget" POST "/v1/forget" => Write census::forget,
"Drops a workspace whole."
[WORKSPACE] }
route! { CONSOLIDATE "consolidate" POST "/v1/consolidate" => Write review::consolidate,
"The replacement rule over the live set."
[WORKSPACE, may("apply", Type::Flag, "close the earlier claim of each pair")] }
route! { ACCESSIONS "accessions" GET "/v1/accessions" => Read atoms::accessions,
"The accessions that the live claims cite."
[WORKSPACE] }
route! { CITERS "citers" GET "/v1/citers" => Read atoms::citers,
"The live claims that cite one accession."
[WORKSPACE, must("accession", Type::Text, "deed-... or sha256:...")] }
route! { READ_PIN "pinned" GET "/v1/pin" => Read cards::pinned,
"The pinned set and its instructions."
[WORKSPACE] }
route! { PIN "pin" WRITE_CARD "/v1/pin" => Write cards::pin,
"Pins a set; an empty name unpins."
[WORKSPACE, may("set", Type::Text, "the set")] }
route! { READ_SET "cards of a set" GET "/v1/set" => Read cards::read_set,
"A set's cards and claims."
[WORKSPACE, must("name", Type::Text, "the set")] }
route! { SET "set" WRITE_CARD "/v1/set" => Write cards::write_set,
"Writes cards of a set: one that is not named stays, an empty one is cleared."
[WORKSPACE, must("name", Type::Text, "the set"), may("user", Type::Text, "its user card"),
 may("memory", Type::Text, "its memory card"),
 may("instructions", Type::Text, "its instructions")] }
route! { PACK "pack" GET "/v1/pack" => Read cards::pack,
"The cards and the claims as one document."
[WORKSPACE, may("set", Type::Text, "only those of this set")] }
route! { READ_USER "user card" GET "/v1/user" => Read cards::read_user,
"The seat's own card."
[] }
route! { USER "write user card" WRITE_CARD "/v1/user" => Write cards::write_user,
"Writes the seat's own card; an empty text clears it."
[may("text", Type::Text, "what it is to say")] }
route! { READ_MEMORY "memory card" GET "/v1/memory" => Read cards::read_memory,
"The workspace's card."
[WORKSPACE] }
route! { MEMORY "write memory card" WRITE_CARD "/v1/memory" => Write cards::write_memory,
"Writes the workspace's card; an empty text clears it."
[WORKSPACE, may("text", Type::Text, "what it is to say")] }
route! { READ_ATTACHMENT "attached" GET "/v1/attach" => Write cards::attached,
"Takes the body that is held for the next turn; peek=1 leaves it."
[WORKSPACE, may("peek", Type::Flag, "leave it where it is")] }
route! { ATTACH "attach" POST "/v1/attach" => Write cards::attach,
"Holds one body for the next turn."
[WORKSPACE, must("text", Type::Text, "the body"),
 may("label", Type::Text, "what it is called")] }
route! { PROPOSALS "proposals" GET "/v1/proposals" => Read proposals::list,
"The open proposals."
[WORKSPACE] }
route! { PROPOSE "propose" POST "/v1/proposals" => Write proposals::propose,
"Files one proposal: the text whole, or with a job its first sentence."
[WORKSPACE, must("text", Type::Text, "the claim"),
 may("job", Type::Text, "extract or linkRewrite at compaction, fidelity or dueSuggest onDemand"),
 may("when", Type::Text, "`compaction` or `onDemand`"),
 may("transcript", Type::Text, "what it was taken from: looked at, not kept")] }
route! { MINE "mine" POST "/v1/compact" => Write proposals::mine,
"Mines what cards were too short to take into proposals."
[WORKSPACE, may("day", Type::Text, "YYYY-MM-DD; today if none is named"),
 may("transcript", Type::Text, "what it was taken from: looked at, not kept")] }
route! { ACCEPT "accept" POST "/v1/proposals/accept" record => Write proposals::accept,
"Makes a proposal a claim of the person who accepts it."
[WORKSPACE, ID] }
route! { LOG "log" GET "/v1/log" => Read history::log,
"Every version that is kept, newest first."
[WORKSPACE, may("id", Type::Text, "of this record alone")] }
route! { DIFF "diff" GET "/v1/diff" => Read history::diff,
"What changed between two generations or times."
[WORKSPACE, must("range", Type::Text, "g12..g15, or 2026-01-31..2026-02-28")] }
route! { UNDO "undo" POST "/v1/undo" => Write history::undo,
"Takes back what one commit did, by a new commit."
[WORKSPACE, may("generation", Type::Count, "which; the newest if none is named")] }

route! { BATCH "batch" POST "/v1/batch" => Write batch::run,
"Mixed operations in one commit, answered in order."
[WORKSPACE, must("lines", Type::Text, "one JSON object a line, each with its op"),
 may("best_effort", Type::Flag, "do what can be done; else all or nothing"),
 may("over_cap", Type::Flag, "store past the live cap, and forget nothing"),
 may("rename", Type::Flag, "records go to this workspace whichever they name")] }
route! { OPENAPI "openapi" GET "/v1/openapi.json" => Cheap openapi::describe,
"These requests, described."
[] }

/// All requests, in the order of the page, then ours.
pub static TABLE: &[&Route] = &[
    &STATUS,
    &WORKSPACES,
    &IDENTITY,
    &POST_ATOM,
    &ATOMS,
    &ATOM,
    &UPDATE,
    &DELETE,
    &GRADE,
    &SEARCH,
    &ISLANDS,
    &HUBS,
    &ACTIVATE,
    &SWEEP,
    &FORGET,
    &FIRE,
    &CONSOLIDATE,
    &ACCESSIONS,
    &CITERS,
    &READ_PIN,
    &PIN,
    &READ_SET,
    &SET,
    &PACK,
    &READ_USER,
    &USER,
    &READ_MEMORY,
    &MEMORY,
    &READ_ATTACHMENT,
    &ATTACH,
    &PROPOSALS,
    &PROPOSE,
    &ACCEPT,
    &DUE,
    &WHY,
    &LOG,
    &DIFF,
    &UNDO,
    &OPENAPI,
    &RECALL,
    &BATCH,
    &MINE,
];

/// What a method and a path lead to.
#[derive(Debug)]
pub enum Found {
    /// A route, with the path's parameter if it has one, as it stands in the path.
    Route(&'static Route, Option<String>),
    /// A path that takes other methods.
    Method,
    /// Nothing.
    Nothing,
}

/// Finds the route of a request. The path is as it came, not decoded.
pub fn find(method: &str, path: &str) -> Found {
    let mut found = Found::Nothing;
    // What a path names as it stands comes before what it names as an id.
    let exact = TABLE.iter().filter(|route| route.path == path);
    let others = TABLE.iter().filter(|route| route.path != path);
    for route in exact.chain(others) {
        let parameter = match route.path.strip_suffix("{id}") {
            None if route.path == path => None,
            Some(stem) => match path.strip_prefix(stem).filter(|id| !id.is_empty()) {
                Some(id) => Some(id.to_owned()),
                None => continue,
            },
            None => continue,
        };
        match Method::named(method) {
            Some(method) if route.methods.contains(&method) => {
                return Found::Route(route, parameter);
            }
            _ => found = Found::Method,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(method: &str, path: &str) -> String {
        match find(method, path) {
            Found::Route(route, None) => route.name.to_owned(),
            Found::Route(route, Some(id)) => format!("{} {id}", route.name),
            Found::Method => "method".to_owned(),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_request_finds_its_route() {
        for (method, path, wanted) in [
            ("GET", "/v1/atoms", "atoms"),
            ("POST", "/v1/atoms", "remember"),
            ("DELETE", "/v1/atoms", "method"),
            ("GET", "/v1/atoms/a%20b", "show a%20b"),
            ("GET", "/v1/atoms/x/y", "show x/y"),
            ("GET", "/v1/atoms/", "nothing"),
            ("POST", "/v1/atoms/update", "update"),
            // An id may be a word of ours: only its POST is the other route.
            ("GET", "/v1/atoms/update", "show update"),
            ("DELETE", "/v1/atoms/update", "method"),
            ("PUT", "/v1/pin", "pin"),
            ("POST", "/v1/pin", "pin"),
            ("GET", "/v1/pin", "pinned"),
            ("GET", "/v1/search/", "nothing"),
            ("GET", "/nope", "nothing"),
        ] {
            assert_eq!(named(method, path), wanted, "{method} {path}");
        }
    }

    #[test]
    fn a_method_and_a_path_name_one_route() {
        let mut seen = std::collections::BTreeSet::new();
        let mut names = std::collections::BTreeSet::new();
        for route in TABLE {
            assert!(names.insert(route.name), "{}", route.name);
            for method in route.methods {
                assert!(seen.insert((method.name(), route.path)), "{}", route.path);
            }
        }
    }
}
