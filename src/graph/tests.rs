//! What a record says of its edges, and the invariants under random histories.

use serde_json::json;

use super::fire::{self, Fired};
use super::links::{self, MOST, Peer, Relinked};
use super::*;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

#[test]
fn edges_are_read_from_a_record_and_written_back() {
    let mut record = map(json!({
        "kind": "lesson", "links": ["b", "a", "b", 7], "id": "x",
        "link_weights": {"a": 0.25, "b": 0, "c": 0.5},
        "link_weights_by": {"zed": {"b": 1, "a": 1.5}, "ann": {"c": 0.5}, "bob": 3}
    }));
    let edges = Edges::of(&record);
    assert_eq!(edges.links(), ["a", "b"]);
    for (id, persona, weight) in [
        ("a", None, 0.25),
        ("b", None, 0.5),
        ("b", Some("zed"), 1.0),
        // Out of (0, 1]: no weight, so the shared one is read; and so for one without weights.
        ("a", Some("zed"), 0.25),
        ("a", Some("ann"), 0.25),
        ("b", Some("ann"), 0.5),
    ] {
        assert_eq!(edges.weight(id, persona), weight, "{id} {persona:?}");
    }
    edges.write(&mut record);
    assert_eq!(
        Value::from(record.clone()).to_string(),
        r#"{"kind":"lesson","links":["a","b"],"id":"x","link_weights":{"a":0.25},"#.to_owned()
            + r#""link_weights_by":{"zed":{"b":1.0}}}"#
    );
    assert_eq!(Edges::of(&record), edges);
    Edges::default().write(&mut record);
    assert_eq!(Value::from(record), json!({"kind": "lesson", "links": [], "id": "x"}));
}

#[test]
fn a_link_takes_its_weights_along() {
    let mut edges = Edges::of(&map(json!({
        "links": ["a", "b"], "link_weights": {"a": 0.25, "b": 0.5},
        "link_weights_by": {"zed": {"a": 0.75}, "ann": {"a": 0.75, "b": 0.75}}
    })));
    edges.remove("a");
    let mut record = Map::new();
    edges.write(&mut record);
    let expected = json!({
        "links": ["b"], "link_weights": {"b": 0.5}, "link_weights_by": {"ann": {"b": 0.75}}
    });
    assert_eq!(Value::from(record), expected);
    // A link that comes back starts as any other, and what is no link cannot be weighed.
    edges.add("a");
    edges.weigh("c", None, 0.75);
    assert_eq!((edges.weight("a", Some("zed")), edges.weight("c", None)), (0.5, 0.5));
}

#[test]
fn mail_has_no_place_in_the_graph() {
    for (kind, is_there) in [
        ("lesson", true),
        ("trust", true),
        ("message", false),
        ("receipt", false),
        ("group", false),
        ("session", false),
    ] {
        let claim = Claim::of(&map(json!({"kind": kind, "text": "ask Redis", "review": {}})));
        assert_eq!(claim.is_some(), is_there, "{kind}");
        assert!(claim.is_none_or(|claim| claim.reviewed && claim.topics == ["Redis"]));
    }
}

#[test]
fn fnv_by_the_published_vectors() {
    // From the authors' test suite for FNV-1a, 64 bits.
    for (text, hash) in [
        ("", 0xcbf2_9ce4_8422_2325),
        ("a", 0xaf63_dc4c_8601_ec8c),
        ("foobar", 0x8594_4171_f739_67e8),
    ] {
        assert_eq!(Fnv::new().put(text.as_bytes()).0, hash);
    }
}

/// A pack in memory, written to as a store would be.
struct World {
    claims: BTreeMap<String, Claim>,
    /// What was closed. A claim that comes back has the edges it went with.
    closed: BTreeMap<String, Claim>,
    state: u64,
}

impl World {
    fn random(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 33) as usize % below
    }

    fn some_id(&mut self) -> String {
        format!("c{}", self.random(40))
    }

    fn write(&mut self) {
        let id = self.some_id();
        let mut topics: Vec<String> = Vec::new();
        for _ in 0..=self.random(3) {
            topics.push(format!("t{}", self.random(5)));
        }
        topics.sort_unstable();
        topics.dedup();
        let old = self.claims.get(&id).or_else(|| self.closed.get(&id));
        let edges = old.map(|old| old.edges.clone()).unwrap_or_default();
        let claim = Claim { edges, topics, reviewed: true };
        let candidates: Vec<Peer<'_>> =
            self.claims.iter().map(|(id, claim)| Peer { id, topics: &claim.topics }).collect();
        let Ok(Relinked { own, peers }) = links::relink(&id, &claim, &candidates, &self.claims);
        for (id, edges) in peers {
            self.claims.get_mut(&id).unwrap().edges = edges;
        }
        self.claims.insert(id, Claim { edges: own, ..claim });
    }

    fn fire(&mut self) {
        let ids: Vec<String> = (0..=self.random(6)).map(|_| self.some_id()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let persona = [None, Some("zed")][self.random(2)];
        let Ok(Fired { changes, .. }) = fire::fire(&ids, persona, &self.claims);
        for change in changes {
            if let Some(edges) = change.edges {
                self.claims.get_mut(&change.id).unwrap().edges = edges;
            }
        }
    }

    /// Links to claims that are gone stay behind, as in a store; all others are as promised.
    fn check(&self) {
        for (id, claim) in &self.claims {
            let edges = &claim.edges;
            assert!(edges.links.len() <= MOST, "{id}: {edges:?}");
            assert!(edges.links.windows(2).all(|two| two[0] < two[1]));
            assert!(!edges.has(id));
            for (persona, weights) in edges
                .lenses
                .iter()
                .map(|(name, own)| (Some(name.as_str()), own))
                .chain([(None, &edges.shared)])
            {
                assert!(persona.is_none() || !weights.is_empty());
                assert!(weights.iter().all(|(to, w)| is_weight(*w) && edges.has(to)));
            }
            for link in &edges.links {
                let Some(peer) = self.claims.get(link) else { continue };
                assert!(peer.edges.has(id), "{id} -> {link}");
                for persona in [None, Some("zed")] {
                    assert_eq!(edges.weight(link, persona), peer.edges.weight(id, persona));
                }
            }
        }
    }
}

#[test]
fn links_stay_symmetric_and_at_most_eight_through_any_history() {
    for seed in 0..2 {
        let mut world = World { claims: BTreeMap::new(), closed: BTreeMap::new(), state: seed };
        let mut full = 0;
        for _ in 0..120 {
            match world.random(10) {
                0..6 => world.write(),
                6..9 => world.fire(),
                _ => {
                    let id = world.some_id();
                    world.closed.extend(world.claims.remove(&id).map(|claim| (id, claim)));
                }
            }
            world.check();
            full += world.claims.values().filter(|c| c.edges.links.len() == MOST).count();
        }
        assert!(full > 100, "the bound was never put to the test");
    }
}
