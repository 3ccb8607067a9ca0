//! Cards on the ballots: paragraphs beside claims.

use packset::cards::{self, Card, SetName};
use packset::pack::View;
use packset::search::panel::Panel;
use packset::search::{self, CardHit, Found, Query, Rank};
use packset::text::Tokenizer;
use serde_json::json;

use crate::lab::Lab;

const MEMORY: &str = "The gateway runs on port 9.\n\nTea is at five.\n\nThe gateway has no cookie.";

fn query(text: &str, lab: &Lab) -> Query<'static> {
    Query {
        text: text.to_owned().leak(),
        limit: 10,
        view: View::now(lab.now()),
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: Panel::default(),
    }
}

fn found(lab: &Lab, query: &Query<'_>, set: Option<&SetName>) -> Vec<Found> {
    let snapshot = lab.store().snapshot().unwrap();
    let cards = cards::beside(snapshot.as_ref(), None, set, &query.view).unwrap();
    let mut tokenizer = Tokenizer::new(true);
    search::search_beside(snapshot.as_ref(), &mut tokenizer, query, &cards, &[]).unwrap().0
}

fn cards_of(found: &[Found]) -> Vec<&CardHit> {
    let mut cards = Vec::new();
    for one in found {
        if let Found::Card(hit) = one {
            cards.push(hit);
        }
    }
    cards
}

fn write(lab: &Lab, card: Card, set: Option<&SetName>, text: &str) {
    lab.commit(|transaction| cards::write(transaction, card, set, text));
}

#[test]
fn every_paragraph_that_matches_is_a_hit_with_its_own_text_and_score() {
    let lab = Lab::new();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Every gateway answers in a second."}));
    assert_eq!(cards_of(&found(&lab, &query("gateway cookie", &lab), None)).len(), 0);
    write(&lab, Card::Memory, None, MEMORY);
    let all = found(&lab, &query("gateway cookie", &lab), None);
    assert_eq!(all.len(), 3);
    let cards = cards_of(&all);
    let texts: Vec<&str> = cards.iter().map(|hit| hit.text.as_str()).collect();
    assert_eq!(texts, ["The gateway has no cookie.", "The gateway runs on port 9."]);
    // Both words equal: 2 * 4 on the scan, and a quarter for the workspace's card.
    let scan = cards[0].ranks.iter().find(|rank| rank.ballot == "scan").unwrap();
    assert_eq!(scan.score, 8.25);
    assert_eq!((cards[0].ballots, cards[0].of, cards[0].card), (2, 2, Card::Memory));
    let scan = cards[1].ranks.iter().find(|rank| rank.ballot == "scan").unwrap();
    assert_eq!(scan.score, 4.25);
    // Scores are shares of the query and never rise along the list.
    let score = |one: &Found| match one {
        Found::Card(hit) => hit.score,
        Found::Claim(hit) => hit.score,
    };
    assert!(all.iter().all(|one| (0.0..=1.0).contains(&score(one))));
    assert!(all.windows(2).all(|pair| score(&pair[0]) >= score(&pair[1])));
    // A kind that is named leaves cards out.
    let lessons = Query { kind: Some("lesson"), ..query("gateway cookie", &lab) };
    assert_eq!(cards_of(&found(&lab, &lessons, None)).len(), 0);
    // So does what a claim alone says, and what nobody does.
    assert!(found(&lab, &query("zebra", &lab), None).is_empty());
}

#[test]
fn a_set_has_its_own_cards_and_a_past_its_own() {
    let lab = Lab::new();
    write(&lab, Card::Memory, None, "The gateway is blue.");
    let dev = SetName::new("dev").unwrap();
    write(&lab, Card::User, Some(&dev), "I paint the gateway.");
    let before = lab.now();
    let texts = |query: &Query<'_>, set: Option<&SetName>| -> Vec<String> {
        cards_of(&found(&lab, query, set)).into_iter().map(|hit| hit.text.clone()).collect()
    };
    let of_set = Query { set: Some("dev"), ..query("gateway", &lab) };
    assert_eq!(texts(&of_set, Some(&dev)), ["I paint the gateway."]);
    assert_eq!(texts(&query("gateway", &lab), None), ["The gateway is blue."]);
    lab.day(1);
    write(&lab, Card::Memory, None, "The gateway is green.");
    assert_eq!(texts(&query("gateway", &lab), None), ["The gateway is green."]);
    // A clock that stands still writes each commit a microsecond after the one before.
    let past = Query { view: View::as_of(before.plus(10)), ..query("gateway", &lab) };
    assert_eq!(texts(&past, None), ["The gateway is blue."]);
    write(&lab, Card::Memory, None, "");
    assert!(texts(&query("gateway", &lab), None).is_empty());
}

#[test]
fn cards_are_found_before_there_is_a_workspace() {
    let lab = Lab::new();
    let cards = [(Card::User, "I write Rust.".to_owned()), (Card::Memory, String::new())];
    let mut tokenizer = Tokenizer::new(true);
    let asked = query("rust", &lab);
    let (found, tokens) = search::search_beside(None, &mut tokenizer, &asked, &cards, &[]).unwrap();
    assert_eq!((cards_of(&found).len(), found.len(), tokens), (1, 1, 1));
    // One token of one, equal: half of the share by the scan; the rest by BM25+ is below 1/2.
    let hit = cards_of(&found)[0];
    assert!(hit.score > 0.5 && hit.score < 1.0, "{}", hit.score);
}
