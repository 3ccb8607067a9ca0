//! Held writes: proposed, listed, accepted.

use std::sync::Arc;
use std::time::Duration;

use packset::claim::proposals;
use packset::clock::SystemClock;
use packset::pack::{Ground, IdSource, Record, Store};
use packset_segments::os::OsFs;
use serde_json::{Value, json};

use crate::harness::{Pack, is_id, is_time, keys};

/// The default workspace of a pack, as another front door opens it.
fn store(pack: &Pack) -> Store {
    let ground = Ground {
        vfs: Arc::new(OsFs::default()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(IdSource::Random),
        wait: Duration::from_secs(10),
        holder: "a test".into(),
        stem: true,
        meaning: true,
    };
    Store::new(ground, &pack.home(), "default")
}

/// Holds a claim as a front door does that no verb is.
fn hold(pack: &Pack, claim: Value) -> Result<String, proposals::Error> {
    let claim: Record = claim.as_object().unwrap().clone();
    let held =
        store(pack).commit(|transaction| proposals::hold(transaction, claim, &IdSource::Random));
    held.map(|(id, _)| id)
}

/// Proposes a text by the verb; the proposal's id.
fn propose(pack: &Pack, text: &str) -> String {
    let done = pack.ok(["propose", "--", text]);
    done.out.split('\t').next().unwrap().to_owned()
}

#[test]
fn what_is_proposed_is_listed_and_is_no_claim() {
    let pack = Pack::new();
    pack.ok(["proposals"]).out("");
    let id = propose(&pack, "Port 8080 is taken.");
    assert!(is_id(&id));
    let row = format!("{id}\tagent-derived\tPort 8080 is taken.\n");
    pack.ok(["proposals"]).out(&row);
    assert!(pack.atoms(&[]).is_empty() && pack.found("port").is_empty());
    pack.ok(["propose", "port  8080 is taken"]).out(&row);
    assert_eq!(
        pack.ok(["propose", "--json", "Port 8080 is taken."]).json()["generation"],
        Value::Null
    );
    let other = propose(&pack, "Port 9090 is taken.");
    assert_ne!(id, other);
    let listed = pack.ok(["proposals", "--json"]).json_lines();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0]["schema"], "packset.proposals/v1");
    let ids = listed.iter().map(|line| line["proposal"]["id"].as_str().unwrap());
    assert!(ids.eq([id.as_str(), other.as_str()]), "in the order of their making");
    pack.ok(["compact"]);
    assert_eq!(pack.ok(["propose", "--json", "Port 8080 is taken."]).json()["proposal"]["id"], id);
    pack.ok(["forget", "default"]);
    pack.ok(["proposals"]).out("");
    pack.run(["propose", " "]).done().fails(64);
    pack.run(["propose", "One. Two. Three."]).done().fails(1).err_has("one claim is at most");
}

#[test]
fn an_accept_stores_the_claim_as_the_persons_own_once() {
    let pack = Pack::new();
    pack.run(["accept", "nope"]).done().fails(1).err_has("no proposal nope");
    let id = propose(&pack, "Port 8080 is taken.");
    pack.run(["accept", "nope"]).done().fails(1).err_has("no proposal nope");
    pack.run(["accept", "--workspace", "b", &id]).done().fails(1).err_has("no proposal");
    let first = pack.ok(["accept", "--json", &id]).json();
    assert_eq!(keys(&first), ["schema", "workspace", "generation", "record"]);
    let claim = &first["record"];
    assert_eq!((&claim["origin"], &claim["kind"]), (&"user-declared".into(), &"lesson".into()));
    assert_eq!(claim["text"], "Port 8080 is taken.");
    assert_ne!(claim["id"], id.as_str());
    assert!(is_time(claim["due_at"].as_str().unwrap()), "its review clock runs");
    pack.ok(["proposals"]).out("");
    assert_eq!(pack.found("port"), ["Port 8080 is taken."]);
    let again = pack.ok(["accept", "--json", &id]).json();
    assert_eq!((&again["record"], &again["generation"]), (claim, &Value::Null));
    assert_eq!(pack.atoms(&[]).len(), 1);
    // What was accepted is not open any more: the same words are a proposal of their own.
    assert_ne!(propose(&pack, "Port 8080 is taken."), id);
    let atom = claim["id"].as_str().unwrap();
    pack.ok(["delete", atom]);
    assert_eq!(pack.ok(["accept", "--json", &id]).json()["record"]["tombstone"], true);
    assert!(pack.atoms(&[]).is_empty(), "repeating brings nothing back");
    pack.run(["accept", atom]).done().fails(1).err_has("no proposal");
    pack.ok(["verify"]);
}

#[test]
fn agents_and_hooks_are_held_with_what_they_wrote() {
    let pack = Pack::new();
    let agent = json!({"kind": "lesson", "text": "Agent says this thing.", "origin": "agent-derived", "id": "g"});
    let hook =
        json!({"kind": "lesson", "text": "Hook says another thing.", "hook": true, "id": "h"});
    let g = hold(&pack, agent.clone()).unwrap();
    assert_eq!(hold(&pack, agent).unwrap(), g);
    let h = hold(&pack, hook).unwrap();
    assert_ne!(g, h);
    let listed = pack.ok(["proposals", "--json"]).json_lines();
    let proposal = &listed[0]["proposal"];
    assert_eq!(
        keys(proposal),
        [
            "schema",
            "id",
            "kind",
            "workspace",
            "text",
            "origin",
            "hook",
            "job",
            "when",
            "status",
            "ts",
            "span",
            "verdict",
            "transcript",
            "why",
            "atom"
        ]
    );
    for (field, value) in [
        ("schema", "inside.proposal/v1"),
        ("job", "admission"),
        ("when", "onDemand"),
        ("status", "open"),
        ("verdict", "SUPPORTED"),
        ("why", "agent-derived"),
        ("origin", "agent-derived"),
    ] {
        assert_eq!(proposal[field], value, "{field}");
    }
    let held = &listed[1]["proposal"];
    assert_eq!((&held["why"], &held["hook"]), (&"hook".into(), &true.into()));
    assert_eq!(held["origin"], "user-declared");
    assert_eq!(held["atom"]["ts"], held["ts"]);
    let done = pack.ok(["accept", &h]);
    done.out_has("h\tlesson\tdue 2");
    let stored = pack.ok(["show", "--json", "h"]).json();
    assert_eq!((stored.get("hook"), &stored["origin"]), (None, &"user-declared".into()));
    assert_eq!(stored["ts"], held["ts"], "said when it was held");
    pack.ok(["proposals"]).out(&format!("{g}\tagent-derived\tAgent says this thing.\n"));
}

#[test]
fn what_no_claim_may_be_is_not_held() {
    let pack = Pack::new();
    pack.import(&[r#"{"kind":"lesson","text":"It was here.","id":"gone"}"#]);
    pack.ok(["delete", "gone"]);
    pack.ok(["pin", "dev"]);
    for (claim, fragment) in [
        (json!({"kind": "bogus", "text": "It is so."}), "unknown atom kind"),
        (json!({"kind": "lesson", "text": "the password: hunter2"}), "credential-shaped"),
        (json!({"kind": "lesson", "text": "One. Two. Three."}), "one claim is at most"),
        (json!({"kind": "lesson", "text": "It is so.", "workspace": "b"}), "workspace"),
        (json!({"kind": "lesson", "text": "It is so.", "id": "gone"}), "retired"),
        (json!({"kind": "lesson", "text": "It is so.", "id": "pin"}), "no claim"),
    ] {
        let mut claim = claim;
        claim["origin"] = "agent-derived".into();
        let refused = hold(&pack, claim).unwrap_err().to_string();
        assert!(refused.contains(fragment), "{refused}");
    }
    pack.ok(["proposals"]).out("");
}

#[test]
fn sets_and_voters_keep_proposals_apart() {
    let pack = Pack::new();
    let base = json!({"kind": "lesson", "text": "It is so.", "origin": "agent-derived"});
    let first = hold(&pack, base.clone()).unwrap();
    for (field, value) in [("set", "dev"), ("kind", "preference"), ("about", "x")] {
        let mut other = base.clone();
        other[field] = value.into();
        assert_ne!(hold(&pack, other).unwrap(), first, "{field}");
    }
    assert_eq!(pack.ok(["proposals"]).out.lines().count(), 4);
}

#[test]
fn an_accept_of_what_is_known_stores_no_second_claim() {
    let pack = Pack::new();
    let known = pack.remember("Port 8080 is taken.");
    let id = propose(&pack, "Port 8080 is taken.");
    pack.ok(["accept", &id]).out_has(&known);
    // A claim that an import let in as an agent's becomes the person's who accepts it.
    pack.import(&[
        r#"{"kind":"lesson","text":"Vault is sealed.","id":"v","origin":"agent-derived"}"#,
    ]);
    let id = propose(&pack, "Vault is sealed.");
    pack.ok(["accept", &id]).out_has("v\tlesson\t");
    assert_eq!(pack.ok(["show", "--json", "v"]).json()["origin"], "user-declared");
    assert_eq!(pack.atoms(&[]).len(), 2);
    pack.ok(["proposals"]).out("");
    pack.ok(["verify"]);
}

#[test]
fn only_what_is_supported_is_accepted() {
    let pack = Pack::new();
    let mined = r#"{"schema":"inside.proposal/v1","id":"m","kind":"proposal","text":"It is so.","status":"open","verdict":"NEI","why":"extract","ts":"2026-01-01T00:00:00.000Z"}"#;
    pack.run(["import", "--records", "-"]).stdin(mined).done().code(0);
    pack.ok(["proposals"]).out("m\textract\tIt is so.\n");
    pack.run(["accept", "m"]).done().fails(1).err_has("not supported");
    pack.ok(["proposals"]).out("m\textract\tIt is so.\n");
}

#[test]
fn many_accepts_at_once_store_one_claim() {
    let pack = Pack::new();
    let id = propose(&pack, "Port 8080 is taken.");
    let rows: Vec<String> = std::thread::scope(|scope| {
        let accept = || pack.ok(["accept", &id]).out;
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(accept)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(rows.iter().all(|row| *row == rows[0]), "{rows:?}");
    assert_eq!(pack.atoms(&[]).len(), 1);
}

#[test]
fn an_undo_opens_the_proposal_again() {
    let pack = Pack::new();
    let id = propose(&pack, "Port 8080 is taken.");
    pack.ok(["accept", &id]);
    pack.ok(["undo"]);
    assert!(pack.atoms(&[]).is_empty());
    pack.ok(["proposals"]).out(&format!("{id}\tagent-derived\tPort 8080 is taken.\n"));
}

#[test]
fn an_accept_takes_the_place_of_no_other_record() {
    let pack = Pack::new();
    let claim =
        json!({"kind": "lesson", "text": "It is so.", "origin": "agent-derived", "id": "pin"});
    let id = hold(&pack, claim).unwrap();
    pack.ok(["pin", "dev"]);
    pack.run(["accept", &id]).done().fails(1).err_has("no claim");
    pack.ok(["pin"]).out_has("\"set\":\"dev\"");
}

#[test]
fn a_person_turns_a_proposal_down() {
    let pack = Pack::new();
    let id = propose(&pack, "Port 8080 is taken.");
    pack.ok(["delete", &id]);
    pack.ok(["proposals"]).out("");
    pack.run(["accept", &id]).done().fails(1).err_has("no proposal");
    assert_ne!(propose(&pack, "Port 8080 is taken."), id);
}
