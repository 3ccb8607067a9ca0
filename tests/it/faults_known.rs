//! Faults of a known program that this one must not have, by their number in its record.
//!
//! | number | fault | test |
//! |---|---|---|
//! | 1 | closed claims come back when due | [`a_closed_claim_stays_closed_and_can_be_said_again`], `life` |
//! | 2 | decay knows no reviews | [`a_recalled_claim_does_not_fade`], `search::tests` |
//! | 3 | pinning clears the pin | `cards::the_pin_is_set_read_and_cleared` |
//! | 4, 5 | vectors lost, a hung encoder | not here: there is no encoder in the lexical paths |
//! | 6 | names that share cards, `forget` leaves files | `cards::workspaces_whose_names_look_alike_share_nothing`, `places` |
//! | 7 | NUL in a name | `place::tests::names_that_cannot_be`, `places` |
//! | 8 | time travel forgets what was deleted | `moments` |
//! | 9 | timestamps unchecked | [`times_are_times_and_a_claim_begins_when_it_says`] |
//! | 10 | a grade erases `used` and `neglected` | [`a_grade_keeps_what_protects_a_claim`], `review::clock::tests` |
//! | 11 | links from capitals, a recall writes entities | [`a_recall_writes_no_entities`], `settle::sentence_capitals_link_nothing` |
//! | 12 | `seat:` and `horizon:` are searchable | [`provenance_names_match_and_link_nothing`] |
//! | 13 | an update links mail and meets no rule | [`mail_is_in_no_graph_however_it_is_written`], `settle::an_update_meets_the_same_rules` |
//! | 14 | consolidate crosses sets, a named id may not | [`a_named_id_is_closed_or_not_listed`], `life::consolidate_reports_and_applies_the_replacement_rule` |
//! | 15 | a repeat loses its new fields | `rewrite::a_repeat_adds_what_is_new_and_is_answered_with_it` |
//! | 16 | unknown ids take the hour, a claim fires with itself | [`a_fire_of_nobody_takes_no_hour`], `network` |
//! | 17 | scores are positions | `search::tests::scores_are_shares_and_never_rise`, `panel::tests::a_tiny_gap_is_no_vote` |
//! | 18 | one paragraph of a card at most | `beside::every_paragraph_that_matches_is_a_hit_with_its_own_text_and_score` |
//! | 19 | ids that cannot be read | [`any_id_that_is_stored_can_be_read`] |
//! | 20 | reads that change something | `cards::an_attachment_is_read_without_being_taken`; a woken cue is given a snapshot alone |
//! | 21 | proposing is always refused, a long card called heavy | `claim::mining::tests`, `cards::a_card_that_is_too_long_is_told_so_whatever_its_prose` |
//! | 22 | settings that are passed over | not here: the front doors' own |
//! | 23 | a log without end, a ceiling of 1 GiB | there is no log and no map of a fixed size |
//! | 24 | prose: false passives, split abbreviations | [`prose_is_read_as_people_write_it`], `atom::prose::tests` |
//! | 25 | cost that grows with the pack | the benches |

use packset::atom::Prose;
use packset::claim::{self, network};
use packset::pack::{View, record};
use packset::search::panel::Panel;
use packset::search::{self, Query, Rank};
use packset::text::Tokenizer;
use packset::time::DAY;
use serde_json::json;

use crate::harness::Pack;
use crate::lab::{Lab, START};

fn hits(lab: &Lab, text: &str) -> Vec<search::Hit> {
    let query = Query {
        text,
        limit: 10,
        view: View::now(lab.now()),
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: Panel::default(),
    };
    search::search(&lab.snapshot(), &mut Tokenizer::new(true), &query).unwrap().hits
}

fn found(lab: &Lab, text: &str) -> Vec<String> {
    let snapshot = lab.snapshot();
    let id = |hit: &search::Hit| record::id(&snapshot.record(hit.version).unwrap()).to_owned();
    hits(lab, text).iter().map(id).collect()
}

#[test]
fn a_closed_claim_stays_closed_and_can_be_said_again() {
    let lab = Lab::new();
    let say = |id: &str, port: &str| {
        let text = format!("The build uses port {port} for tests.");
        lab.write(json!({"kind": "lesson", "id": id, "text": text}))
    };
    say("a", "one");
    say("b", "two");
    let closed = lab.get("a")["valid_to"].clone();
    // Its clock runs out on the next day.
    lab.day(3);
    lab.store().compact(i64::MIN).unwrap();
    assert_eq!(lab.live_ids(), ["b"]);
    assert_eq!(found(&lab, "port one"), ["b"]);
    assert!(claim::overdue(&lab.snapshot(), &View::now(lab.now()), lab.now()).len() == 1);
    let again = say("c", "one");
    assert_eq!(again["id"], "c");
    assert_eq!(again["supersedes"], json!(["b"]));
    assert_eq!(lab.live_ids(), ["c"]);
    assert_eq!(lab.get("a")["valid_to"], closed, "its window does not move");
}

#[test]
fn a_recalled_claim_does_not_fade() {
    let lab = Lab::new();
    for (id, text) in [("a", "Vault seals at night."), ("b", "Vault opens at dawn.")] {
        lab.write(json!({"kind": "lesson", "id": id, "text": text}));
    }
    // Ten recalls, each when it is due, and a look a day after the last.
    for day in [1, 3, 8, 20, 50, 100, 200] {
        lab.day(day);
        lab.commit(|transaction| claim::grade(transaction, "a", true));
    }
    lab.day(201);
    let hits = hits(&lab, "vault");
    let snapshot = lab.snapshot();
    let decay = |id: &str| {
        let is = |hit: &&search::Hit| snapshot.record(hit.version).unwrap()["id"] == id;
        hits.iter().find(is).unwrap().decay
    };
    assert!(decay("a") > 0.9, "{}", decay("a"));
    // R(201, 1) = (1 + 19/81 * 201)^-0.5 = 0.144, and the floor is a quarter.
    assert_eq!(decay("b"), 0.25);
}

#[test]
fn times_are_times_and_a_claim_begins_when_it_says() {
    let lab = Lab::new();
    for field in ["ts", "valid_from", "valid_to", "due_at"] {
        let mut claim = json!({"kind": "lesson", "text": "It is so."});
        claim[field] = json!("yesterday");
        assert!(lab.write_under(claim, None).is_err(), "{field}");
    }
    let later = START.plus(DAY).format_ms();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Soon so.", "valid_from": later}));
    assert!(lab.live_ids().is_empty() && found(&lab, "soon").is_empty());
    lab.day(2);
    assert_eq!((lab.live_ids(), found(&lab, "soon")), (vec!["a".into()], vec!["a".into()]));
}

#[test]
fn a_grade_keeps_what_protects_a_claim() {
    let lab = Lab::new();
    for (id, text) in [("a", "Vault seals at night."), ("b", "Vault opens at dawn.")] {
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": ["vault"]}));
    }
    lab.commit(|transaction| network::fire_together(transaction, &["a", "b"], None));
    lab.commit(|transaction| claim::grade(transaction, "a", false));
    for day in [10, 20, 30, 40] {
        lab.day(day);
        lab.commit(claim::sweep);
    }
    // Missed four times and never recalled, but used once.
    let review = lab.get("a")["review"].clone();
    assert_eq!((&review["used"], &review["neglected"]), (&json!(1), &json!(4)));
    assert_eq!(lab.live_ids(), ["a", "b"]);
}

#[test]
fn a_recall_writes_no_entities() {
    let lab = Lab::new();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Every `gateway` answers."}));
    lab.write(json!({"kind": "lesson", "id": "b", "text": "No `gateway` keeps cookies."}));
    lab.commit(|transaction| claim::grade(transaction, "a", true));
    assert!(lab.get("a").get("entities").is_none());
    lab.write(json!({"kind": "lesson", "id": "c", "text": "One `gateway` is green."}));
    assert_eq!(lab.get("a")["links"], json!(["b", "c"]), "its names are still read off its text");
}

#[test]
fn provenance_names_match_and_link_nothing() {
    let lab = Lab::new();
    for (id, text) in [("a", "It rains in spring."), ("b", "Tabs stand in makefiles.")] {
        let names = ["seat:kestrel", "horizon:standing"];
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": names}));
    }
    for word in ["kestrel", "seat:kestrel", "horizon"] {
        assert!(found(&lab, word).is_empty(), "{word}");
    }
    assert!(lab.live().iter().all(|claim| claim.get("links").is_none()));
}

#[test]
fn mail_is_in_no_graph_however_it_is_written() {
    let lab = Lab::new();
    let names = ["vault"];
    lab.write(json!({"kind": "message", "id": "m", "text": "About it.", "entities": names}));
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Sealed.", "entities": names}));
    let fields = json!({"text": "About that."});
    lab.commit(|transaction| claim::update(transaction, "m", fields.as_object().unwrap()));
    lab.commit(|transaction| network::fire_together(transaction, &["a", "m"], None));
    claim::link_unlinked(&lab.store()).unwrap();
    for id in ["a", "m"] {
        assert!(lab.get(id).get("links").is_none(), "{id}");
    }
}

#[test]
fn a_named_id_is_closed_or_not_listed() {
    let lab = Lab::new();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "It rains in spring.", "set": "dev"}));
    lab.write(json!({"kind": "goal", "id": "g", "text": "Ship by spring."}));
    let new = lab.write(json!({
        "kind": "lesson", "id": "b", "text": "Tabs stand in makefiles.",
        "supersedes": ["a", "g", "nobody"]
    }));
    // A named id is closed in any set and of any kind; one that is nobody's is not listed.
    assert_eq!(new["supersedes"], json!(["a", "g"]));
    assert_eq!(lab.live_ids(), ["b"]);
    // What it closed stays listed when it is changed later.
    let fields = json!({"trust": 0.5});
    let changed =
        lab.commit(|transaction| claim::update(transaction, "b", fields.as_object().unwrap()));
    assert_eq!(changed["supersedes"], json!(["a", "g"]));
}

#[test]
fn a_fire_of_nobody_takes_no_hour() {
    let lab = Lab::new();
    let fire =
        |ids: &[&str]| lab.commit(|transaction| network::fire_together(transaction, ids, None));
    assert_eq!(fire(&["a", "b"]), network::Fired::default());
    for (id, text) in [("a", "Vault seals at night."), ("b", "Vault opens at dawn.")] {
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": ["vault"]}));
    }
    assert_eq!(fire(&["a", "a"]).found, 1, "twice the same is one");
    let fired = fire(&["a", "b"]);
    assert_eq!((fired.found, fired.held), (2, false));
    // Another process, and a merge, remember it.
    lab.store().compact(i64::MIN).unwrap();
    assert!(fire(&["b", "a"]).held);
    lab.set(lab.now().plus(3_600_000_000));
    assert!(!fire(&["b", "a"]).held);
}

#[test]
fn any_id_that_is_stored_can_be_read() {
    let pack = Pack::new();
    for id in ["a/b c%20d", "..", "%", "\u{e9}", "0", "x".repeat(300).as_str()] {
        let claim = json!({"kind": "lesson", "id": id, "text": format!("Under {id:.40}.")});
        pack.import(&[&claim.to_string()]);
        assert_eq!(pack.ok(["show", "--json", "--", id]).json()["id"], id);
    }
}

#[test]
fn prose_is_read_as_people_write_it() {
    for (text, sentences, passives) in [
        ("The port is open.", 1, 0),
        ("The port is closed by night.", 1, 1),
        ("Rust vs. Go is a choice.", 1, 0),
        ("It follows U.S. law.", 1, 0),
        ("At 5 p.m. here it rains.", 1, 0),
        ("We have a Plan B. Then go.", 2, 0),
    ] {
        let prose = Prose::of(text);
        assert_eq!((prose.sentences, prose.passives), (sentences, passives), "{text}");
    }
}
