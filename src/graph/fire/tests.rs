//! Weights by the formula, worked by hand; the sequence and the counts of the recorded case `fire`.

use std::collections::BTreeMap;

use super::super::Claim;
use super::*;

type World = BTreeMap<String, Claim>;

fn world(ids: &[&str], links: &[(&str, &str)]) -> World {
    let mut world: World = ids
        .iter()
        .map(|id| ((*id).to_owned(), Claim { reviewed: true, ..Claim::default() }))
        .collect();
    for (a, b) in links.iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
        world.entry((*a).to_owned()).or_default().edges.add(b);
    }
    world
}

/// Fires, writes, and says how many were found and how many records changed.
fn run(world: &mut World, ids: &[&str], persona: Option<&str>) -> (usize, usize) {
    let Ok(fired) = fire(ids, persona, world);
    let counts = (fired.found.len(), fired.changes.len());
    for change in fired.changes {
        if let Some(edges) = change.edges {
            world.get_mut(&change.id).unwrap().edges = edges;
        }
    }
    counts
}

/// The weight of a link, after making sure that both ends agree.
#[track_caller]
fn expect(world: &World, a: &str, b: &str, persona: Option<&str>, weight: f64) {
    for (id, link) in [(a, b), (b, a)] {
        assert!(world[id].edges.has(link), "{id} -> {link}");
        let got = world[id].edges.weight(link, persona);
        assert!((got - weight).abs() < 1e-12, "{id} -> {link}: {got}, not {weight}");
    }
}

#[test]
fn weights_climb_toward_one() {
    let mut pack = world(&["a", "b"], &[("a", "b")]);
    for weight in [0.55, 0.595, 0.6355] {
        assert_eq!(run(&mut pack, &["a", "b"], None), (2, 2));
        expect(&pack, "a", "b", None, weight);
    }
    for _ in 0..1000 {
        run(&mut pack, &["a", "b"], None);
    }
    let weight = pack["a"].edges.weight("b", None);
    assert!(weight > 0.999_999 && weight <= 1.0);
}

#[test]
fn the_recorded_case() {
    let mut pack = world(&["a", "b", "c"], &[]);
    assert_eq!(run(&mut pack, &["a", "b"], None), (2, 2));
    assert_eq!(run(&mut pack, &["b", "a"], Some("zed")), (2, 2));
    assert_eq!(run(&mut pack, &["a", "c"], None), (2, 3));
    expect(&pack, "a", "b", None, 0.539);
    expect(&pack, "a", "c", None, 0.55);
    expect(&pack, "a", "b", Some("zed"), 0.595);
    // c has no lens of zed's.
    expect(&pack, "a", "c", Some("zed"), 0.55);
    assert!(pack["c"].edges.lenses.is_empty());
    // One claim alone is used, and moves no weight.
    assert_eq!(run(&mut pack, &["a", "missing"], None), (1, 1));
    assert_eq!(run(&mut pack, &["a", "a"], None), (1, 1));
    expect(&pack, "a", "b", None, 0.539);
}

#[test]
fn unknown_ids_do_nothing() {
    let pack = world(&["a"], &[]);
    assert_eq!(fire(&["x", "y"], None, &pack), Ok(Fired::default()));
    assert_eq!(fire(&[], None, &pack), Ok(Fired::default()));
    assert_eq!(found(&["x", "a", "a"], &pack), Ok(vec!["a".to_owned()]));
}

#[test]
fn links_fade_toward_those_that_did_not_fire() {
    // x hangs on both: once from a and once from b. y hangs on x alone. `gone` is not there.
    let mut pack = world(&["a", "b", "x", "y"], &[("a", "x"), ("b", "x"), ("x", "y")]);
    pack.get_mut("a").unwrap().edges.add("gone");
    assert_eq!(run(&mut pack, &["a", "b"], None), (2, 3));
    expect(&pack, "a", "x", None, 0.49);
    expect(&pack, "b", "x", None, 0.49);
    expect(&pack, "x", "y", None, 0.5);
    expect(&pack, "a", "b", None, 0.55);
    assert!(pack["a"].edges.has("gone") && pack["x"].edges.shared.len() == 2);
    // However often it fades, it stays a weight.
    for (id, link) in [("a", "x"), ("x", "a")] {
        pack.get_mut(id).unwrap().edges.weigh(link, None, f64::MIN_POSITIVE);
    }
    assert_eq!(run(&mut pack, &["a", "b"], None), (2, 3));
    assert!(pack["a"].edges.weight("x", None) > 0.0);
}

#[test]
fn a_persona_moves_its_own_weights_alone() {
    let mut pack = world(&["a", "b", "x"], &[("a", "b"), ("a", "x")]);
    run(&mut pack, &["a", "b"], None);
    // From the shared 0.55 and 0.49 on.
    run(&mut pack, &["a", "b"], Some("zed"));
    expect(&pack, "a", "b", Some("zed"), 0.595);
    expect(&pack, "a", "x", Some("zed"), 0.4802);
    // From its own on; the shared ones and another's lens stay.
    run(&mut pack, &["a", "b"], Some("zed"));
    expect(&pack, "a", "b", Some("zed"), 0.6355);
    expect(&pack, "a", "x", Some("zed"), 0.470_596);
    for persona in [None, Some("ann")] {
        expect(&pack, "a", "b", persona, 0.55);
        expect(&pack, "a", "x", persona, 0.49);
    }
    // A link that a persona's fire makes is everybody's; its weight is the persona's.
    run(&mut pack, &["b", "x"], Some("zed"));
    expect(&pack, "b", "x", Some("zed"), 0.55);
    expect(&pack, "b", "x", None, 0.5);
}

#[test]
fn the_heavier_end_counts() {
    let mut pack = world(&["a", "b"], &[("a", "b")]);
    pack.get_mut("a").unwrap().edges.weigh("b", None, 0.2);
    pack.get_mut("b").unwrap().edges.weigh("a", None, 0.6);
    run(&mut pack, &["a", "b"], None);
    expect(&pack, "a", "b", None, 0.64);
}

#[test]
fn a_full_claim_gains_no_link_and_a_dead_one_gives_way() {
    let eight = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    let links: Vec<(&str, &str)> = eight.iter().map(|id| ("a", *id)).collect();
    let mut pack = world(&["a", "b"], &links);
    // b is linked to nobody and nothing weighs more; a's eight links fade. Only those with a
    // review are used: the p's have none.
    let Ok(fired) = fire(&["a", "b"], None, &pack);
    assert!(fired.changes.iter().any(|c| c.id == "b" && c.edges.is_none() && c.used));
    assert_eq!(fired.changes.iter().filter(|change| change.used).count(), 2);
    assert_eq!(run(&mut pack, &["a", "b"], None), (2, 10));
    assert!(!pack["a"].edges.has("b") && !pack["b"].edges.has("a"));
    pack.remove("p3");
    run(&mut pack, &["a", "b"], None);
    expect(&pack, "a", "b", None, 0.55);
    assert!(pack["a"].edges.links.len() == MOST && !pack["a"].edges.has("p3"));
}

#[test]
fn pairs_are_made_in_the_order_named() {
    // a has room for one more.
    let seven = ["p0", "p1", "p2", "p3", "p4", "p5", "p6"];
    let links: Vec<(&str, &str)> = seven.iter().map(|id| ("a", *id)).collect();
    let mut pack = world(&["a", "b", "c"], &links);
    run(&mut pack, &["c", "a", "b"], None);
    expect(&pack, "a", "c", None, 0.55);
    expect(&pack, "b", "c", None, 0.55);
    assert!(!pack["a"].edges.has("b"));
}

#[test]
fn a_hold_has_a_name_of_its_own() {
    let of = |persona, ids: &[&str]| hold_of_claims(persona, ids);
    assert_eq!(of(None, &[]), None);
    assert_eq!(of(None, &["b", "a", "b"]), of(None, &["a", "b"]));
    let names = [
        of(None, &["a", "b"]),
        of(None, &["ab"]),
        of(None, &["a"]),
        of(Some("a"), &["b"]),
        of(Some("zed"), &["a", "b"]),
        Some(hold_of_cue(None, "a")),
        Some(hold_of_cue(Some("zed"), "a")),
        Some(hold_of_cue(None, "a b")),
    ];
    for (at, name) in names.iter().enumerate() {
        assert!(name.as_ref().is_some_and(|name| name.len() == 32));
        assert!(!names[..at].contains(name), "{at}");
    }
    assert_eq!(hold_of_cue(None, " REDIS cache\n"), hold_of_cue(None, "redis cache"));
}

#[test]
fn a_hold_lasts_an_hour() {
    let last = Micros(1_000_000 * SECOND);
    for (after, held) in [(0, true), (1, true), (3599, true), (3600, false), (86_400, false)] {
        assert_eq!(is_held(last, Micros(last.0 + after * SECOND)), held, "{after}");
        // A clock that was set back.
        assert_eq!(is_held(last, Micros(last.0 - after * SECOND)), held, "-{after}");
    }
    assert!(!is_held(Micros(i64::MIN), Micros(i64::MAX)));
}
