//! A persona's lens: its own weights, written by a fire as it and read through it alone.

use packset::claim::network::{Fired, fire_as, fire_together, persona, wake};
use packset::search::panel::Panel;
use serde_json::json;

use crate::lab::Lab;

fn three() -> Lab {
    let lab = Lab::new();
    for (id, text) in [
        ("a", "Every `gateway` answers within a second."),
        ("b", "No `gateway` keeps a cookie."),
        ("c", "Restarting a `gateway` drops its queue."),
    ] {
        lab.write(json!({"kind": "lesson", "id": id, "text": text}));
    }
    lab
}

fn fire(lab: &Lab, ids: &[&str], as_persona: Option<&str>) -> Fired {
    lab.commit(|transaction| fire_as(transaction, ids, None, as_persona))
}

#[test]
fn a_persona_s_fire_moves_its_own_weights_and_no_shared_one() {
    let lab = three();
    let fired = fire(&lab, &["a", "b"], Some("skeptic"));
    assert_eq!((fired.found, fired.changed, fired.held), (2, 3, false));
    // 0.5 + 0.1 * 0.5, and 0.5 * 0.98.
    let own = json!({"skeptic": {"b": 0.55, "c": 0.49}});
    assert_eq!(lab.get("a")["link_weights_by"], own);
    assert!(lab.get("a").get("link_weights").is_none());
    assert_eq!(lab.get("b")["link_weights_by"]["skeptic"]["a"], json!(0.55));
    // The hold is the persona's: others and nobody fire the same claims within the hour.
    assert!(fire(&lab, &["b", "a"], Some("skeptic")).held);
    assert!(!fire(&lab, &["a", "b"], Some("optimist")).held);
    let shared = lab.commit(|transaction| fire_together(transaction, &["a", "b"], None));
    assert!(!shared.held);
    assert_eq!(lab.get("a")["link_weights"], json!({"b": 0.55, "c": 0.49}));
    assert_eq!(lab.get("a")["link_weights_by"]["skeptic"], own["skeptic"]);
    // An hour later it goes on from where it was.
    lab.set(lab.now().plus(3_601_000_000));
    fire(&lab, &["a", "b"], Some("skeptic"));
    let weight = lab.get("a")["link_weights_by"]["skeptic"]["b"].as_f64().unwrap();
    assert!((weight - 0.595).abs() < 1e-12, "{weight}");
}

#[test]
fn an_island_is_seen_through_the_lens() {
    let lab = three();
    fire(&lab, &["b", "c"], Some("skeptic"));
    let seen = |persona: Option<&str>| {
        let woken =
            wake(&lab.snapshot(), ("cookie", &[]), Panel::default(), persona, lab.now()).unwrap();
        let row = |(claim, energy): &(packset::pack::Record, f64)| {
            (claim["id"].as_str().unwrap().to_owned(), *energy)
        };
        (woken.ranked.iter().map(row).collect::<Vec<_>>(), woken.seeds.clone())
    };
    let (plain, seeds) = seen(None);
    assert_eq!(seeds, ["b"]);
    // Equal weights: both neighbours get a quarter, and a quarter of a quarter each way back.
    assert!((plain[1].1 - plain[2].1).abs() < 1e-9, "{plain:?}");
    let (own, _) = seen(Some("skeptic"));
    // Of 0.55 + 0.49, `c` gets more.
    assert_eq!((own[1].0.as_str(), own[2].0.as_str()), ("c", "a"));
    assert!(own[1].1 > own[2].1);
    assert_eq!(seen(Some("nobody")).0, plain);
    assert_eq!(seen(None).0.len(), 3);
}

#[test]
fn a_persona_s_name_is_a_name() {
    assert_eq!(persona(" skeptic ").unwrap(), Some("skeptic"));
    assert_eq!(persona("  ").unwrap(), None);
    assert!(persona(&"x".repeat(201)).is_err());
    let refused = persona("password: hunter2").unwrap_err().to_string();
    assert!(refused.contains("credential-shaped") && !refused.contains("hunter2"), "{refused}");
}
