//! Encoders as real child processes: one that works, and every way not to.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Pack, set_mode};

/// A pack without the static table, so that what is found by meaning is the encoder's doing.
fn pack() -> Pack {
    Pack::new().var("PACKSET_STATIC", "off")
}

/// A pack with an encoder: a shell script that answers each line.
fn with_encoder(answers: &str) -> Pack {
    let pack = pack();
    let script = pack.root.join("encoder");
    fs::write(&script, format!("#!/bin/sh\n{answers}\n")).unwrap();
    set_mode(&script, 0o755);
    pack.var("PACKSET_EMBED", script).var("PACKSET_EMBED_TIMEOUT_MS", "300")
}

/// Cats point one way, all else the other; pairs score by nothing but their number.
const TOY: &str = r#"
while read -r line; do
    case "$line" in
        *'"q":'*) echo '{"id":"q","s":[1.0,3.0]}' ;;
        *[Cc]at*|*eline*) echo '{"id":"0","v":[1.0,0.0]}' ;;
        *) echo '{"id":"0","v":[0.0,1.0]}' ;;
    esac
done"#;

#[test]
fn a_claim_that_shares_no_word_is_found_by_its_meaning() {
    let pack = with_encoder(TOY);
    let feline = pack.remember("Felines need quiet.");
    pack.remember("Dogs need walks.");
    let answer = pack.ok(["search", "--json", "cat"]).json();
    assert_eq!(answer["engine"], "dense");
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{answer}");
    let hit = &hits[0];
    assert_eq!(
        (&hit["id"], &hit["cosine"], &hit["dense_rank"]),
        (&json!(feline), &json!(1.0), &json!(1))
    );
    assert_eq!((&hit["ballots"], &hit["of"]), (&json!(1), &json!(3)));
    assert_eq!(pack.ok(["show", "--json", &feline]).json()["embedding"], json!([1.0, 0.0]));
    // A new text has a vector of its own, so that the old one misleads nobody.
    pack.ok(["update", &feline, "text=Hamsters need quiet."]);
    assert!(pack.ok(["search", "--json", "cat"]).json()["hits"].as_array().unwrap().is_empty());
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(status["embedder"]["available"], true);
}

#[test]
fn the_cross_encoder_has_the_last_word_on_the_order() {
    let pack = with_encoder(TOY);
    let first = pack.remember("A cat sleeps all day.");
    let second = pack.remember("Most days the cat hunts.");
    let answer = pack.ok(["search", "--json", "--rerank", "cat"]).json();
    assert_eq!(answer["rerank"], "cross-encoder");
    let ids: Vec<_> =
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect();
    let plain = pack.ok(["search", "--json", "cat"]).json();
    let before: Vec<_> =
        plain["hits"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect();
    assert_eq!(ids, [before[1].clone(), before[0].clone()], "the second of two scores higher");
    assert_eq!(answer["hits"][0]["rerank_score"], 3.0);
    assert!(ids.contains(&json!(first)) && ids.contains(&json!(second)));
    pack.ok(["search", "--rerank", "-q", "cat"]).out_has("\t3.0000\n");
}

#[test]
fn no_fault_of_an_encoder_costs_a_write_or_a_search() {
    for (what, script) in [
        ("it ends at once", "exit 1"),
        ("it speaks no JSON", "while read -r line; do echo nonsense; done"),
        ("it answers another question", r#"while read -r l; do echo '{"id":"7","v":[1.0]}'; done"#),
        ("its vector is none", r#"while read -r l; do echo '{"id":"0","v":["a"]}'; done"#),
        ("its numbers are too large", r#"while read -r l; do echo '{"id":"0","v":[1e99]}'; done"#),
        ("it hangs", "sleep 30"),
        ("it dies in the middle of a word", r#"read -r line; printf '{"id":"0","v":[1.'; exit 0"#),
        ("it floods", "read -r line; yes | tr -d '\\n' | head -c 3000000"),
    ] {
        let pack = with_encoder(script);
        let began = Instant::now();
        let id = pack.remember("The cat is out.");
        let found = pack.ok(["search", "--json", "cat"]).json();
        assert_eq!(
            (&found["engine"], &found["hits"][0]["id"]),
            (&json!("linear"), &json!(id)),
            "{what}"
        );
        assert_eq!(pack.ok(["show", "--json", &id]).json()["embedding"], json!(null), "{what}");
        assert!(began.elapsed() < Duration::from_secs(20), "{what}: it was waited for");
    }
}

#[test]
fn a_missing_encoder_and_one_that_is_switched_off_are_said() {
    let pack = pack().var("PACKSET_EMBED", "/nowhere/encoder");
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(
        status["embedder"],
        json!({
            "enabled": true, "binary": null, "available": false, "answering": null,
        })
    );
    let off = with_encoder(TOY).var("INSIDE_EMBED", "off");
    off.remember("The cat is out.");
    let status = off.ok(["status", "--json"]).json();
    assert_eq!(
        (&status["embedder"]["enabled"], &status["embedder"]["available"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(off.ok(["search", "--json", "cat"]).json()["engine"], "linear");
    // A search asked to rerank with nothing to do it says so and keeps its order.
    off.remember("Mice fear my cat.");
    let answer = off.ok(["search", "--json", "--rerank", "cat"]).json();
    assert_eq!(answer["rerank"], "absent");
}

#[test]
fn a_child_that_never_reads_holds_nobody_up_with_a_long_request() {
    // Two documents of 120 KB: more than the 64 KiB a pipe takes before somebody reads.
    let pack = with_encoder("exec sleep 30");
    let documents: String = (0..2)
        .map(|n| {
            format!(
                "{}\n",
                json!({"id": n.to_string(), "kind": "document",
            "text": "cat ".repeat(30_000)})
            )
        })
        .collect();
    let file = pack.root.join("documents.jsonl");
    fs::write(&file, documents).unwrap();
    pack.ok(["import", "--records", file.to_str().unwrap()]);
    let began = Instant::now();
    let args = ["search", "--json", "--kind", "document", "--rerank", "cat"];
    assert_eq!(pack.ok(args).json()["rerank"], "absent");
    assert!(began.elapsed() < Duration::from_secs(10), "it was waited for");
}

#[test]
fn what_is_refused_is_shown_to_no_model() {
    let pack = with_encoder(
        "tee -a \"$0.log\" | while read -r l; do echo '{\"id\":\"0\",\"v\":[1.0]}'; done",
    );
    let id = pack.remember("The vault holds the key.");
    pack.run(["remember", "password=hunter2hunter2"]).done().fails(1);
    pack.run(["update", &id, "text=password=hunter2hunter2"]).done().fails(1);
    pack.run(["remember", &"x".repeat(501)]).done().fails(1);
    let shown = fs::read_to_string(pack.root.join("encoder.log")).unwrap();
    let texts: Vec<&str> = shown.lines().collect();
    assert_eq!(texts, [r#"{"id":"0","text":"The vault holds the key.","query":false}"#]);
}

#[test]
fn why_explains_what_meaning_found() {
    let pack = with_encoder(TOY);
    let id = pack.remember("Felines need quiet.");
    let why = pack.ok(["why", "--json", &id, "--query", "cat"]).json();
    assert_eq!((&why["place"], &why["state"]), (&json!(1), &json!("it matches")));
    assert_eq!(why["ballots"][0]["ballot"], "dense");
}
