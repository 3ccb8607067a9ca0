//! Worked by hand but for the order of ties, which a Python script of the rule (FNV-1a-64 over the
//! ids) gave.

use std::collections::BTreeMap;

use super::*;

fn topics(names: &str) -> Vec<String> {
    names.chars().map(String::from).collect()
}

/// Selects among candidates written as id and one-letter topics.
fn chosen(own: (&str, &str), candidates: &[(&str, &str)], least: f64) -> Vec<String> {
    let about: Vec<Vec<String>> = candidates.iter().map(|(_, names)| topics(names)).collect();
    let peers: Vec<Peer<'_>> =
        candidates.iter().zip(&about).map(|((id, _), topics)| Peer { id, topics }).collect();
    let kept = select(Peer { id: own.0, topics: &topics(own.1) }, &peers, least);
    kept.into_iter().map(str::to_owned).collect()
}

#[test]
fn enough_must_be_shared() {
    // Of {a,b,c}: 1, 3/4, 2/3, 1/3 and 1/5. The second is as near to the first as to the claim,
    // so it waits, and so do all others; they fill what is left in order.
    let candidates = [("full", "abc"), ("axy", "axy"), ("c", "c"), ("more", "abcd"), ("ab", "ab")];
    assert_eq!(chosen(("n", "abc"), &candidates, NEAR), ["full", "more", "ab", "c"]);
    assert_eq!(chosen(("n", "abc"), &candidates, 0.0), ["full", "more", "ab", "c", "axy"]);
    // 3 of 10 is enough.
    assert_eq!(chosen(("n", "abc"), &[("p", "abcdefghij")], NEAR), ["p"]);
    assert_eq!(chosen(("n", "abc"), &[("p", "abcdefghijk")], NEAR), [""; 0]);
    // Without topics there is nothing to share, and no claim is its own neighbour.
    assert_eq!(chosen(("n", ""), &[("p", ""), ("q", "a")], NEAR), [""; 0]);
    assert_eq!(chosen(("n", "a"), &[("n", "a"), ("p", "a"), ("p", "a")], NEAR), ["p"]);
}

#[test]
fn equals_are_ordered_by_a_hash_of_both_ids() {
    let ids: Vec<String> = (0..12).map(|at| format!("p{at}")).collect();
    let candidates: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "a")).collect();
    let of_n = ["p8", "p9", "p6", "p7", "p4", "p5", "p2", "p3"];
    let of_m = ["p10", "p11", "p9", "p8", "p7", "p6", "p5", "p4"];
    assert_eq!(chosen(("n", "a"), &candidates, NEAR), of_n);
    assert_eq!(chosen(("m", "a"), &candidates, NEAR), of_m);
}

#[test]
fn a_crowd_of_copies_leaves_room_for_another_direction() {
    // Ten copies share 2/4 with the claim; `far` only 2/5, but nothing with the copies, so it
    // comes second. Copies fill the other places.
    let ids: Vec<String> = (0..10).map(|at| format!("p{at}")).collect();
    let mut candidates: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "ab")).collect();
    candidates.push(("far", "cdx"));
    let expected = ["p8", "far", "p9", "p6", "p7", "p4", "p5", "p2"];
    assert_eq!(chosen(("n", "abcd"), &candidates, NEAR), expected);
    candidates.reverse();
    assert_eq!(chosen(("n", "abcd"), &candidates, NEAR), expected);
}

#[test]
fn the_nearest_sixty_four_are_considered() {
    let ids: Vec<String> = (0..70).map(|at| format!("q{at:02}")).collect();
    let mut candidates: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "a")).collect();
    // 1/2 for the crowd. `far` has 2/6, which is enough, and would be kept for its direction, but
    // 70 are nearer.
    candidates.push(("far", "bcxy"));
    let of_crowd = ["q10", "q11", "q12", "q13", "q14", "q15", "q16", "q17"];
    assert_eq!(chosen(("n", "ab"), &candidates[..70], NEAR), of_crowd);
    let crowd: Vec<(&str, &str)> = candidates[..70].iter().map(|(id, _)| (*id, "ad")).collect();
    let with_far: Vec<(&str, &str)> = crowd.iter().copied().chain([("far", "bcxy")]).collect();
    assert!(!chosen(("n", "abcd"), &with_far, NEAR).contains(&"far".to_owned()));
    let fewer: Vec<(&str, &str)> = with_far[7..].to_vec();
    assert_eq!(chosen(("n", "abcd"), &fewer, NEAR)[1], "far");
}

#[test]
fn nearest_takes_counts_as_well() {
    let counted = (0..200).map(|at: u32| (["even", "odd"][at as usize % 2], 0.5, at));
    let ids: Vec<&str> = nearest("own", counted, 0.3).into_iter().map(|near| near.0).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&"even") && ids.contains(&"odd"));
}

type World = BTreeMap<String, Claim>;

/// A world of claims written as id, topics and links.
fn world(claims: &[(&str, &str, &[&str])]) -> World {
    let claim = |(id, names, links): &(&str, &str, &[&str])| {
        let mut edges = Edges::default();
        links.iter().for_each(|link| edges.add(link));
        ((*id).to_owned(), Claim { edges, topics: topics(names), reviewed: true })
    };
    claims.iter().map(claim).collect()
}

/// Relinks a claim among all others; what it has in the end, and who changed to what.
fn relinked(world: &World, id: &str, names: &str) -> (Vec<String>, Vec<(String, Vec<String>)>) {
    let old = world.get(id).map(|claim| claim.edges.clone()).unwrap_or_default();
    let claim = Claim { edges: old, topics: topics(names), reviewed: true };
    let peers: Vec<Peer<'_>> =
        world.iter().map(|(id, claim)| Peer { id, topics: &claim.topics }).collect();
    let Ok(Relinked { own, peers }) = relink(id, &claim, &peers, world);
    let peers = peers.into_iter().map(|(id, edges)| (id, edges.links)).collect();
    (own.links, peers)
}

fn strings(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// The recorded case `links_entities`: redis is r, pg is p.
#[test]
fn a_new_claim_links_both_ways() {
    let mut pack = world(&[("a", "r", &[])]);
    let (own, peers) = relinked(&pack, "b", "rp");
    assert_eq!((own, peers), (strings(&["a"]), vec![("a".into(), strings(&["b"]))]));
    pack = world(&[("a", "r", &["b"]), ("b", "pr", &["a"])]);
    let (own, peers) = relinked(&pack, "c", "r");
    let expected = vec![("a".into(), strings(&["b", "c"])), ("b".into(), strings(&["a", "c"]))];
    assert_eq!((own, peers), (strings(&["a", "b"]), expected));
    // pg and three others share 1/5 with b.
    assert_eq!(relinked(&pack, "d", "pxyz"), (vec![], vec![]));
}

#[test]
fn a_changed_claim_leaves_those_it_no_longer_resembles() {
    let pack = world(&[("a", "r", &["n"]), ("b", "k", &[]), ("n", "r", &["a", "gone"])]);
    let (own, peers) = relinked(&pack, "n", "k");
    let expected = vec![("a".into(), vec![]), ("b".into(), strings(&["n"]))];
    assert_eq!((own, peers), (strings(&["b"]), expected));
    // Nothing changed: nobody is written, and the dead link goes.
    assert_eq!(relinked(&pack, "n", "r"), (strings(&["a"]), vec![]));
}

#[test]
fn a_full_neighbour_lets_its_farthest_go() {
    // `hub` is about a and b and has eight links: seven share 1/2 with it, `weak` shares 1/3.
    let seven = ["p0", "p1", "p2", "p3", "p4", "p5", "p6"];
    let mut claims: Vec<(&str, &str, &[&str])> =
        seven.iter().map(|id| (*id, "a", &["hub"][..])).collect();
    let links = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "weak"];
    claims.push(("hub", "ab", &links));
    claims.push(("weak", "ac", &["hub"]));
    let pack = world(&claims);
    // A new claim about b alone shares 1/2 with the hub and nothing with the others: it stays, and
    // `weak` is the ninth in order. (`weak` shares 1/2 with each p, which is more than with the
    // hub, so it waits; of the p's all but the first wait before it.)
    let (own, peers) = relinked(&pack, "new", "b");
    let kept = strings(&["new", "p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
    assert_eq!(own, ["hub"]);
    assert_eq!(peers, [("hub".into(), kept), ("weak".into(), vec![])]);
    // About b, c and d it shares 1/4 with the hub: too little to link at all.
    assert_eq!(relinked(&pack, "new", "bcd").0, [""; 0]);
}

#[test]
fn a_new_claim_may_end_without_the_link_it_wanted() {
    // All eight neighbours of the hub are its equals; the new one shares 1/3 with the hub and with
    // each of them, so it waits behind all and is the ninth.
    let eight = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    let mut claims: Vec<(&str, &str, &[&str])> =
        eight.iter().map(|id| (*id, "xyz", &["hub"][..])).collect();
    claims.push(("hub", "xyz", &eight));
    let pack = world(&claims);
    let claim = Claim { topics: topics("z"), ..Claim::default() };
    let about = topics("xyz");
    let Ok(done) = relink("new", &claim, &[Peer { id: "hub", topics: &about }], &pack);
    assert_eq!(done, Relinked { own: Edges::default(), peers: vec![] });
}

#[test]
fn dead_links_make_room_for_live_ones() {
    let links = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"];
    let pack = world(&[("hub", "a", &links)]);
    let (own, peers) = relinked(&pack, "new", "a");
    assert_eq!(own, ["hub"]);
    assert_eq!(peers, [("hub".into(), strings(&["new"]))]);
}

#[test]
fn a_candidate_that_is_not_shown_is_passed_over() {
    let about = topics("a");
    let claim = Claim { topics: topics("a"), ..Claim::default() };
    let Ok(done) = relink("n", &claim, &[Peer { id: "mail", topics: &about }], &World::new());
    assert_eq!(done, Relinked { own: Edges::default(), peers: vec![] });
}
