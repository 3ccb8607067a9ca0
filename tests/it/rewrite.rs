//! A claim written again: what a repeat adds, and how far a rewrite under a live id may go.

use packset::atom::Rise;
use packset::claim::{self, Error, Written};
use packset::pack::record;
use serde_json::{Value, json};

use crate::harness::Pack;
use crate::lab::{Lab, object};

#[test]
fn a_repeat_adds_what_is_new_and_is_answered_with_it() {
    let lab = Lab::new();
    let old = lab.write(json!({
        "kind": "lesson", "id": "a", "text": "Vault is sealed.", "entities": ["vault"]
    }));
    let repeat = json!({
        "kind": "lesson", "id": "b", "text": "Vault is sealed.", "entities": ["seal", "vault"],
        "trust": 0.5
    });
    let (written, _) = lab.write_under(repeat.clone(), None).unwrap();
    let Written::Known(record) = &written else { panic!("{written:?}") };
    assert_eq!(record["id"], "a");
    assert_eq!(record["entities"], json!(["vault", "seal"]));
    assert_eq!(record["trust"], json!(0.5));
    assert_eq!(record["ts"], old["ts"]);
    assert_eq!(&lab.get("a"), record, "the answer is what is stored");
    // The same once more adds nothing and writes nothing.
    let generation = lab.snapshot().manifest().generation;
    lab.write(repeat);
    assert_eq!(lab.snapshot().manifest().generation, generation);
    // What it says already stays.
    lab.write(json!({"kind": "lesson", "text": "Vault is sealed.", "trust": 0.9}));
    assert_eq!(lab.get("a")["trust"], json!(0.5));
}

#[test]
fn a_repeat_with_new_topics_finds_new_neighbours() {
    let lab = Lab::new();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "It rains.", "entities": ["x"]}));
    lab.write(json!({"kind": "lesson", "id": "b", "text": "Sealed.", "entities": ["vault"]}));
    lab.write(json!({"kind": "lesson", "text": "It rains.", "entities": ["vault"]}));
    // One topic of two is shared.
    assert_eq!(lab.get("a")["links"], json!(["b"]));
    assert_eq!(lab.get("b")["links"], json!(["a"]));
}

#[test]
fn an_imported_repeat_adds_too() {
    let pack = Pack::new();
    pack.import(&[r#"{"kind":"lesson","id":"a","text":"Vault is sealed."}"#]);
    let more = r#"{"kind":"lesson","text":"Vault is sealed.","entities":["vault"]}"#;
    pack.import(&[more]).out("0 stored, 1 already there, 0 refused\n");
    assert_eq!(pack.ok(["show", "--json", "a"]).json()["entities"], json!(["vault"]));
}

fn rise(result: Result<(Written, u64), Error>) -> Rise {
    match result {
        Err(Error::Rise(rise)) => rise,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_post_over_a_live_id_raises_where_it_comes_from() {
    let lab = Lab::new();
    let from = |origin: &str, text: &str| json!({"kind": "lesson", "id": "a", "text": text, "origin": origin});
    lab.write(from("user-declared", "Ports are free."));
    let lowered = lab.write(from("external", "Sockets are free."));
    let floor = json!({"origin": "external", "basis": null});
    assert_eq!(lowered["provenance_floor"], floor);
    // Neither as it was before, nor by leaving the origin out.
    let said = rise(lab.write_under(from("user-declared", "Ports are free."), None)).to_string();
    assert!(said.contains("external cannot become user-declared"), "{said}");
    let bare = json!({"kind": "lesson", "id": "a", "text": "Ports are free."});
    rise(lab.write_under(bare, None));
    let person = json!({
        "kind": "lesson", "id": "a", "text": "Ports are free.", "origin": "peer",
        "source": {"basis": "person"}
    });
    rise(lab.write_under(person, None));
    // A rank that is no higher may follow, and the floor stays.
    let kept = lab.write(from("peer", "Ports are free."));
    assert_eq!(kept["provenance_floor"], floor);
    // A claim with another id has no past.
    lab.write(json!({"kind": "lesson", "id": "b", "text": "Another.", "origin": "user-declared"}));
}

#[test]
fn imports_and_batches_meet_the_floor_and_a_backup_comes_back() {
    let pack = Pack::new();
    let low = r#"{"kind":"lesson","id":"a","text":"Ports are free.","origin":"external"}"#;
    let high = r#"{"kind":"lesson","id":"a","text":"Sockets are free."}"#;
    pack.import(&[low]);
    let done = pack.run(["import", "-"]).stdin(high).done().code(1);
    done.err_has("line 1: no write raises origin").out_has("0 stored, 0 already there, 1 refused");
    let put = json!({"op": "put", "record": serde_json::from_str::<Value>(high).unwrap()});
    let done = pack.run(["batch", "-"]).stdin(put.to_string()).done().code(1);
    done.out_has("no write raises origin");
    // A backup from when it stood higher goes into a new home, and one of today over the old.
    pack.ok(["export", "--into", "out"]);
    pack.ok(["import", "out/default.jsonl"]).out("0 stored, 1 already there, 0 refused\n");
    let new = Pack::new();
    new.import(&[high]);
    new.import(&[low]);
    new.ok(["export", "--into", "out"]);
    let file = new.work().join("out/default.jsonl");
    let other = Pack::new();
    other.ok(["import", file.to_str().unwrap()]).out_has("1 stored");
    other.run(["import", "-"]).stdin(high).done().code(1);
}

#[test]
fn an_accept_alone_raises() {
    use packset::claim::proposals;
    let lab = Lab::new();
    lab.write(json!({
        "kind": "lesson", "id": "a", "text": "Ports are free.", "origin": "agent-derived"
    }));
    let held = object(json!({
        "kind": "lesson", "id": "a", "text": "Sockets are free.", "origin": "agent-derived"
    }));
    let ids = packset::pack::IdSource::Counted(90.into());
    let id = lab.commit(|transaction| proposals::hold(transaction, held, &ids));
    let accepted = lab.commit(|transaction| proposals::accept(transaction, &id, &ids));
    assert_eq!(accepted["origin"], "user-declared");
    assert_eq!(record::id(&accepted), "a");
    assert_eq!(lab.get("a")["text"], "Sockets are free.");
}

#[test]
fn a_rewrite_keeps_its_links_on_both_ends() {
    let lab = Lab::new();
    for (id, text) in [("a", "Sealed at night."), ("b", "Opened at dawn.")] {
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": ["vault"]}));
    }
    assert_eq!(lab.get("a")["links"], json!(["b"]));
    lab.commit(|transaction| claim::network::fire_together(transaction, &["a", "b"], None));
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Locked.", "entities": ["vault"]}));
    assert_eq!(lab.get("a")["links"], json!(["b"]));
    assert_eq!(
        lab.get("a")["link_weights"],
        lab.get("b")["link_weights"].clone().as_object().map(|w| json!({"b": w["a"]})).unwrap()
    );
    // About something else it is no neighbour any more, on neither end.
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Painted.", "entities": ["door"]}));
    assert!(lab.get("a").get("links").is_none() && lab.get("b").get("links").is_none());
}
