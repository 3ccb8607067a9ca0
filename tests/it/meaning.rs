//! Search by meaning in the real program: by the static table, and by a model as a child process.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Pack, set_mode};

const SECRETS: &str = "Keep credentials out of the repository.";
const OTHERS: [&str; 6] = [
    "The build takes nine minutes on two cores.",
    "Tabs belong in makefiles.",
    "Lunch is at noon on Fridays.",
    "Every gateway answers within a second.",
    "The ledger is closed at midnight.",
    "Release notes are written in the present tense.",
];

fn pack() -> Pack {
    let pack = Pack::new().with_meaning();
    pack.remember(SECRETS);
    OTHERS.iter().for_each(|text| drop(pack.remember(text)));
    pack
}

fn hits(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

#[test]
fn a_new_pack_finds_what_shares_no_word_with_the_question() {
    let pack = pack();
    let answer = pack.ok(["search", "--json", "never commit passwords to git"]).json();
    assert_eq!(hits(&answer)[0], SECRETS);
    assert_eq!(answer["engine"], "static");
    let hit = &answer["hits"][0];
    assert_eq!((&hit["dense_rank"], &hit["ranks"]["static"]["rank"]), (&json!(1), &json!(1)));
    assert!(hit["cosine"].as_f64().unwrap() > 0.2, "{hit}");
    // By words alone there is nothing to find.
    let words = pack.run(["search", "--json", "never commit passwords to git"]);
    let mut words = words;
    words.command.env("PACKSET_STATIC", "off");
    let words = words.done().code(0).json();
    assert_eq!((hits(&words).len(), &words["engine"]), (0, &json!("linear")));
    // A word that stands there is better than a meaning that is near.
    assert_eq!(pack.found("ledger")[0], OTHERS[4]);
}

#[test]
fn vectors_live_as_long_as_their_texts_and_old_claims_get_theirs() {
    let pack = Pack::new();
    pack.remember(SECRETS);
    OTHERS.iter().for_each(|text| drop(pack.remember(text)));
    // They were written without: a merge makes up for it, once.
    let pack = pack.with_meaning();
    let question = "never commit passwords to git";
    assert!(pack.found(question).is_empty());
    assert!(!pack.ok(["compact"]).out.contains("nothing to merge"));
    assert_eq!(pack.found(question)[0], SECRETS);
    pack.ok(["compact"]).out_has("nothing to merge");
    pack.ok(["verify"]);
    // A new text means something else; a version that shares its text means the same.
    let id = pack.ok(["search", "--json", question]).json()["hits"][0]["id"].clone();
    let id = id.as_str().unwrap();
    pack.ok(["update", id, "entities=[\"ops\"]"]);
    assert_eq!(pack.found(question)[0], SECRETS);
    pack.ok(["update", id, "text=Felines need quiet."]);
    assert!(!pack.found(question).iter().any(|text| text == SECRETS));
    assert_eq!(pack.found("a kitten asleep")[0], "Felines need quiet.");
    pack.ok(["compact"]);
    pack.ok(["verify"]);
    assert_eq!(pack.found("a kitten asleep")[0], "Felines need quiet.");
}

#[test]
fn an_answer_says_how_sure_it_is_and_can_be_held_to_it() {
    let pack = pack();
    let sure = pack.ok(["search", "--json", "how long does the build take"]).json();
    assert_eq!(hits(&sure)[0], OTHERS[0]);
    assert_eq!(sure["confident"], true);
    let unsure = pack.ok(["search", "--json", "which species of whale sings longest"]).json();
    assert_eq!(unsure["confident"], false, "{unsure}");
    let of = |answer: &Value| answer["confidence"].as_f64().unwrap_or(0.0);
    assert!(of(&sure) > 0.33 && of(&unsure) < 0.33, "{} {}", of(&sure), of(&unsure));
    let none =
        pack.ok(["search", "--min-confidence", "0.33", "which species of whale sings longest"]);
    assert_eq!(none.out, "");
    let some = pack.ok(["search", "--min-confidence", "0.33", "how long does the build take"]);
    assert!(some.out.contains(OTHERS[0]));
    // A model that is not here costs no search, and is said.
    let absent = pack.ok(["search", "--semantic", "bge-small", "how long does the build take"]);
    assert!(absent.out.contains(OTHERS[0]) && absent.err.contains("bge-small does not answer"));
    pack.run(["search", "--semantic", "nope", "x"])
        .done()
        .code(64)
        .err_has("no model is called nope");
    assert_eq!(
        pack.ok(["search", "--semantic", "off", "credentials secrecy"]).out.lines().count(),
        1
    );
    pack.run(["search", "--min-confidence", "2", "x"]).done().code(64);
    pack.run(["search", "--min-confidence", "much", "x"]).done().code(64);
}

/// Talk about one thing a session, in which each line takes up a word of the line before it.
fn conversation(with_sessions: bool) -> Vec<String> {
    let topics = [
        ["walnut", "ladder", "garden", "kettle"],
        ["copper", "saddle", "window", "pepper"],
        ["velvet", "anchor", "button", "meadow"],
        ["granite", "lantern", "basket", "thunder"],
        ["marble", "candle", "pillow", "harbour"],
        ["silver", "hammer", "carpet", "orchard"],
    ];
    let mut lines = Vec::new();
    for (number, [a, b, c, d]) in topics.iter().enumerate() {
        let texts = [
            format!("We spoke of the {a} and the {b} for a while."),
            format!("That {b} would need a {c} beside it."),
            format!("A {c} goes well with any {d}."),
            format!("So the {d} was bought."),
        ];
        for (at, text) in texts.into_iter().enumerate() {
            let mut record = json!({"kind": "lesson", "text": text, "workspace": "w",
                "id": format!("t{number}-{at}")});
            if with_sessions {
                record["session"] = format!("s{number}").into();
            }
            lines.push(record.to_string());
        }
    }
    lines
}

#[test]
fn a_claim_is_judged_in_the_company_of_its_session() {
    let place = |with_sessions: bool| {
        let pack = Pack::new().with_meaning().var("PACKSET_WORKSPACE", "w");
        let lines = conversation(with_sessions);
        pack.import(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let answer = pack.ok(["search", "--json", "--limit", "40", "granite"]).json();
        let found = hits(&answer);
        assert_eq!(found[0], "We spoke of the granite and the lantern for a while.");
        let next = "That lantern would need a basket beside it.";
        found.iter().position(|text| *text == next)
    };
    // It holds no word of the question; the line before it does.
    assert_eq!(place(true), Some(1));
    assert_ne!(place(false), Some(1));
}

#[test]
fn strange_texts_get_sane_answers() {
    let pack = Pack::new().with_meaning().var("PACKSET_WORKSPACE", "w");
    let long = format!("{} The comet returns in spring.", "Filler words stand here. ".repeat(4000));
    let lines: Vec<String> = (0..500)
        .map(|_| json!({"kind": "document", "text": "The same in every line.", "workspace": "w"}))
        .chain([
            json!({"kind": "document", "text": long, "workspace": "w"}),
            json!({"kind": "document", "text": "", "workspace": "w"}),
            json!({"kind": "document", "text": "\u{1f680}\u{1f9ff}", "workspace": "w"}),
            json!({"kind": "document", "text": "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{5e2}\u{5d5}\u{5dc}\u{5dd}", "workspace": "w"}),
        ])
        .map(|record| record.to_string())
        .collect();
    pack.run(["import", "--records", "-"]).stdin(lines.join("\n")).done().code(0);
    let search = |query: &str| pack.ok(["search", "--json", "--kind", "document", query]).json();
    let same = search("same line");
    assert_eq!(hits(&same), ["The same in every line."; 10]);
    // Equal texts come in the order of their ids, in every run.
    assert_eq!(same["hits"], search("same line")["hits"]);
    assert!(hits(&search("comet spring"))[0].ends_with("The comet returns in spring."));
    assert!(hits(&search("\u{5e9}\u{5dc}\u{5d5}\u{5dd}"))[0].starts_with('\u{5e9}'));
    for odd in ["\u{1f680}", "?!"] {
        search(odd);
    }
    pack.ok(["compact"]);
    pack.ok(["verify"]);
    assert_eq!(hits(&search("same line")), ["The same in every line."; 10]);
}

/// An encoder to whom cats are one thing and all else another; it takes batches too.
const TOY: &str = r##"#!/bin/sh
while IFS= read -r line; do printf '%s\n' "$line" | awk '
function of(text) { return text ~ /[Cc]at|eline/ ? "[1.0,0.0]" : "[0.0,1.0]" }
/"texts":/ {
    line = $0; sub(/.*"texts":\["/, "", line)
    count = split(line, texts, /","/); said = ""
    for (i = 1; i <= count; i++) said = said (i > 1 ? "," : "") of(texts[i])
    print "{\"id\":\"b\",\"vs\":[" said "]}"; next
}
{ print "{\"id\":\"0\",\"v\":" of($0) "}" }'
done
"##;

#[test]
fn embed_gives_old_claims_their_vectors_of_the_model_and_can_be_called_again() {
    let pack = pack();
    let feline = pack.remember("Felines need quiet.");
    pack.run(["embed"]).done().code(1).err_has("no model is in use");
    assert_eq!(pack.ok(["embed", "--if-set"]).out, "");
    let script = pack.root.join("encoder");
    fs::write(&script, TOY).unwrap();
    set_mode(&script, 0o755);
    let pack = pack.var("PACKSET_EMBED", script);
    assert_eq!(pack.ok(["show", "--json", &feline]).json()["embedding"], json!(null));
    pack.ok(["embed"]).out_has("8 texts embedded");
    pack.ok(["embed"]).out_has("every text has its vector");
    assert_eq!(pack.ok(["show", "--json", &feline]).json()["embedding"], json!([1.0, 0.0]));
    let answer = pack.ok(["search", "--json", "cat"]).json();
    assert_eq!((hits(&answer)[0], &answer["engine"]), ("Felines need quiet.", &json!("dense")));
    // One that is written now has its vector at once; compaction keeps all of them.
    pack.remember("A tomcat sleeps on the router.");
    pack.ok(["embed"]).out_has("every text has its vector");
    pack.ok(["compact"]);
    pack.ok(["verify"]);
    pack.ok(["embed"]).out_has("every text has its vector");
    // Another model: the old vectors stay until the new ones are whole, and then go.
    let other = pack.root.join("another");
    fs::write(
        &other,
        TOY.replace("[1.0,0.0]", "[1.0,0.0,0.5]").replace("[0.0,1.0]", "[0.0,1.0,0.5]"),
    )
    .unwrap();
    set_mode(&other, 0o755);
    let spaces = |pack: &Pack| {
        let manifest = pack.files("default", "m").pop().unwrap();
        let manifest = fs::read_to_string(manifest).unwrap();
        let body = manifest.split_once('\n').unwrap().1.to_owned();
        let body: Value = serde_json::from_str(&body).unwrap();
        body["spaces"].as_array().unwrap().iter().map(|it| it["dims"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(spaces(&pack), [json!(256), json!(2)]);
    let pack = pack.var("PACKSET_EMBED", other);
    pack.ok(["embed"]).out_has("9 texts embedded");
    assert_eq!(spaces(&pack), [json!(256), json!(3)]);
    pack.ok(["verify"]);
    assert_eq!(hits(&pack.ok(["search", "--json", "cat"]).json())[0], "Felines need quiet.");
}
