//! Proposals that are mined: what a card did not take, and what a client proposes in words.

use packset::cards::{self, Card};
use packset::claim::mining::{self, Job};
use packset::claim::proposals;
use packset::pack::{IdSource, Record, record};
use serde_json::json;

use crate::lab::{Lab, START};

const CARD: &str = "The deploy key lives in drawer four. It is blue.\n\n\
                    Staging runs from the green branch.\n\n\
                    Yes.\n\nstaging  runs from the green branch";

fn ids() -> IdSource {
    IdSource::Counted(500.into())
}

fn texts(proposals: &[Record]) -> Vec<&str> {
    proposals.iter().map(|one| record::string(one, "text").unwrap()).collect()
}

fn archive(lab: &Lab, text: &str) -> usize {
    lab.commit(|transaction| mining::archive(transaction, Card::Memory, None, text))
}

#[test]
fn the_first_sentences_of_an_archived_card_are_proposed() {
    let lab = Lab::new();
    let ids = ids();
    // The last paragraph says what the second says.
    assert_eq!(archive(&lab, CARD), 3);
    assert_eq!(archive(&lab, CARD), 0, "a paragraph stands once a day");
    let mine = || lab.commit(|transaction| mining::mine(transaction, None, "", &[], &ids));
    let mined = mine();
    let wanted = ["The deploy key lives in drawer four", "Staging runs from the green branch"];
    assert_eq!(texts(&mined), wanted);
    let first = &mined[0];
    for (field, value) in [
        ("schema", json!("inside.proposal/v1")),
        ("job", json!("extract")),
        ("when", json!("compaction")),
        ("status", json!("open")),
        ("verdict", json!("SUPPORTED")),
        ("workspace", json!("work")),
        ("span", json!("The deploy key lives in drawer four")),
    ] {
        assert_eq!(first[field], value, "{field}");
    }
    assert_eq!(texts(&mine()), wanted, "the same words are the same proposals");
    assert_eq!(proposals::open(&lab.snapshot()).unwrap().len(), 2);
    assert!(lab.live().is_empty(), "nothing of it is a claim yet");
    // Accepted, it is a claim, and is not proposed again.
    let id = record::id(first).to_owned();
    let claim = lab.commit(|transaction| proposals::accept(transaction, &id, &ids));
    for (field, value) in [
        ("kind", json!("lesson")),
        ("level", json!("derived")),
        ("origin", json!("user-declared")),
        ("about_peer", json!("user")),
        ("by_peer", json!("extract")),
        ("trust", json!(1.0)),
        ("text", json!("The deploy key lives in drawer four")),
    ] {
        assert_eq!(claim[field], value, "{field}");
    }
    let again = lab.commit(|transaction| proposals::accept(transaction, &id, &ids));
    assert_eq!(again, claim);
    assert_eq!(texts(&mine()), wanted[1..]);
}

#[test]
fn a_day_is_mined_alone() {
    let lab = Lab::new();
    let ids = ids();
    archive(&lab, "The deploy key lives in drawer four.");
    lab.day(1);
    archive(&lab, "Staging runs from the green branch.");
    let mine =
        |day: Option<&str>| lab.commit(|transaction| mining::mine(transaction, day, "", &[], &ids));
    assert_eq!(texts(&mine(None)), ["Staging runs from the green branch"]);
    let first = &START.format_ms()[..10];
    assert_eq!(texts(&mine(Some(first))), ["The deploy key lives in drawer four"]);
    assert!(mine(Some("2001-01-01")).is_empty());
}

#[test]
fn what_a_card_or_a_claim_says_already_is_not_proposed() {
    let lab = Lab::new();
    let ids = ids();
    lab.write(json!({"kind": "lesson", "text": "We know: the deploy key lives in drawer four!"}));
    let card = "Tea is at five.\n\nStaging runs from the green branch.";
    lab.commit(|transaction| cards::write(transaction, Card::Memory, None, card));
    archive(&lab, CARD);
    let others = ["Nothing of the kind.".to_owned()];
    let mine = || lab.commit(|transaction| mining::mine(transaction, None, "", &others, &ids));
    assert!(mine().is_empty());
    let propose = |text: &str, others: &[String]| {
        let work = |transaction: &mut packset::pack::Transaction<'_>| {
            mining::propose(transaction, text, Job::Extract, "", others, &ids)
        };
        lab.store().commit(work).map(|(proposal, _)| proposal)
    };
    for nothing in ["Staging runs from the green branch", "Short", "", "```\nstdout\n```"] {
        let refused = propose(nothing, &[]).unwrap_err();
        assert!(matches!(refused, proposals::Error::Nothing(_)), "{nothing}: {refused}");
    }
    assert!(propose("Lunch is at noon.", &["Lunch is at noon.".into()]).is_err());
    let one = propose("Lunch is at noon. And then?", &[]).unwrap();
    assert_eq!(one["text"], "Lunch is at noon");
    assert_eq!(propose("lunch is  at noon", &[]).unwrap()["id"], one["id"]);
}

#[test]
fn only_what_the_transcript_bears_out_can_be_accepted() {
    let lab = Lab::new();
    let ids = ids();
    let propose = |text: &str, said: &str| {
        lab.commit(|transaction| mining::propose(transaction, text, Job::Extract, said, &[], &ids))
    };
    let said = "A: where?\nB: the deploy key lives in drawer four, I think.\n";
    let borne = propose("The deploy key lives in drawer four.", said);
    assert_eq!(borne["verdict"], "SUPPORTED");
    assert_eq!(borne["transcript"], "B: the deploy key lives in drawer four, I think.");
    let not = propose("The deploy key lives in drawer nine.", said);
    assert_eq!((&not["verdict"], &not["transcript"]), (&json!("NEI"), &json!("")));
    let id = record::id(&not).to_owned();
    let refused =
        lab.store().commit(|transaction| proposals::accept(transaction, &id, &ids)).unwrap_err();
    assert!(matches!(refused, proposals::Error::Unsupported(_)));
    assert!(lab.live().is_empty());
}

#[test]
fn no_secret_is_archived_or_proposed() {
    let lab = Lab::new();
    let ids = ids();
    let secret = "All is well.\n\nThe password: hunter2 opens it.";
    let refused = lab
        .store()
        .commit(|transaction| mining::archive(transaction, Card::User, None, secret))
        .unwrap_err();
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
    let refused = lab
        .store()
        .commit(|transaction| mining::propose(transaction, secret, Job::Extract, "", &[], &ids))
        .unwrap_err();
    assert!(!refused.to_string().contains("hunter2"), "{refused}");
}
