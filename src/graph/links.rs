//! Who becomes a neighbour: the claims that share most topics, thinned out and kept symmetric.
//!
//! Of the claims that share enough, the nearest 64 are considered; relative-neighbourhood pruning
//! then prefers those that are nearer to the claim than to one another, so that eight links reach
//! in several directions instead of into one crowd of near copies. It does not find candidates:
//! whoever holds the index does. Invariants: a link stands on both ends; at most [`MOST`] on any
//! claim; a link that goes takes its weights along; ties are broken by a hash of both ids, so
//! that equals spread over the crowd instead of all choosing the same eight.

use std::rc::Rc;

use super::topics::jaccard;
use super::{Claim, Claims, Desk, Edges, Fnv};

/// Links on one claim, at most (the page, `links`).
pub const MOST: usize = 8;

/// The least overlap that makes a claim a candidate (behaviour spec, 4.4).
pub const NEAR: f64 = 0.3;

/// Candidates that pruning looks at (behaviour spec, 4.4). Bounds its cost at 64 * 8 overlaps.
pub const CONSIDERED: usize = 64;

/// A claim that may become a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its topics, sorted, each once.
    pub topics: &'a [String],
}

/// The nearest [`CONSIDERED`] of the candidates that overlap by `least` or more, nearest first.
///
/// A candidate is anything with an id and its overlap with claim `own`, so that an index which
/// counts shared topics need not read a peer's topics to rule it out. Linear in the candidates
/// but for the sort of those equally near.
pub fn nearest<'a, T>(
    own: &str,
    candidates: impl IntoIterator<Item = (&'a str, f64, T)>,
    least: f64,
) -> Vec<(&'a str, f64, T)> {
    let tie = |id: &str| Fnv::new().put(own.as_bytes()).put(&[0xff]).put(id.as_bytes()).0;
    let near = candidates.into_iter().filter(|(id, overlap, _)| *overlap >= least && *id != own);
    let mut near: Vec<_> = near.map(|candidate| (tie(candidate.0), candidate)).collect();
    let order = |(a_tie, a): &(u64, (&str, f64, T)), (b_tie, b): &(u64, (&str, f64, T))| {
        b.1.total_cmp(&a.1).then(a_tie.cmp(b_tie)).then(a.0.cmp(b.0))
    };
    // One id twice could fill two places; twice the bound leaves 64 even if all come twice.
    if near.len() > 2 * CONSIDERED {
        near.select_nth_unstable_by(2 * CONSIDERED, order);
        near.truncate(2 * CONSIDERED);
    }
    near.sort_unstable_by(order);
    near.dedup_by(|a, b| a.1.0 == b.1.0);
    near.truncate(CONSIDERED);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The neighbours of claim `own`, at most [`MOST`], in the order they were chosen.
///
/// A candidate is kept if it overlaps with the claim by more than with each one kept before;
/// places that remain go to the others in order. `least` is [`NEAR`] for a written claim, and 0
/// for one that must choose among the links it already has.
pub fn select<'a>(own: Peer<'_>, candidates: &[Peer<'a>], least: f64) -> Vec<&'a str> {
    let measured = candidates.iter().map(|peer| (peer.id, jaccard(own.topics, peer.topics), peer));
    let near = nearest(own.id, measured, least);
    let mut kept: Vec<&Peer<'a>> = Vec::with_capacity(MOST);
    let mut rest: Vec<&Peer<'a>> = Vec::new();
    for (_, overlap, peer) in near {
        if kept.len() == MOST {
            break;
        }
        if kept.iter().all(|other| overlap > jaccard(peer.topics, other.topics)) {
            kept.push(peer);
        } else {
            rest.push(peer);
        }
    }
    kept.into_iter().chain(rest).take(MOST).map(|peer| peer.id).collect()
}

/// What a written claim does to the links around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Relinked {
    /// The edges of the claim itself.
    pub own: Edges,
    /// Every other claim whose edges changed, by id, with all the edges it now has.
    pub peers: Vec<(String, Edges)>,
}

/// Links a new claim, or links a changed one anew.
///
/// `claim` is the claim as it will be written: its new topics, and the edges it had (also one that
/// was closed and comes back: its neighbours may still name it, or no longer do). A candidate
/// that `claims` does not show is passed over, so mail is no one's neighbour. A neighbour that
/// gets a ninth link chooses among the nine; what it lets go loses the link too, even if that is
/// the claim itself. Reads the claim's neighbours and, of those that had eight links, theirs.
///
/// # Errors
/// What [`Claims::claim`] says.
pub fn relink<C: Claims>(
    id: &str,
    claim: &Claim,
    candidates: &[Peer<'_>],
    claims: &C,
) -> Result<Relinked, C::Error> {
    let mut desk = Desk::new(claims);
    desk.lay(id, claim);
    let mut targets = Vec::new();
    for target in select(Peer { id, topics: &claim.topics }, candidates, NEAR) {
        if desk.get(target)?.is_some() {
            targets.push(target);
        }
    }
    for link in claim.edges.links() {
        if !targets.contains(&link.as_str()) {
            desk.part(id, link)?;
        }
    }
    for target in targets {
        desk.join(id, target)?;
        reselect(&mut desk, target)?;
    }
    let own = desk.get(id)?.map(|claim| claim.edges.clone()).unwrap_or_default();
    let peers = desk.changes().filter(|(peer, _)| peer != id).collect();
    Ok(Relinked { own, peers })
}

/// Lets a claim with too many links choose among them, and takes the others from both ends.
fn reselect<C: Claims>(desk: &mut Desk<'_, C>, id: &str) -> Result<(), C::Error> {
    let crowded = |claim: &Rc<Claim>| claim.edges.links().len() > MOST;
    if !desk.get(id)?.is_some_and(|claim| crowded(&claim)) {
        return Ok(());
    }
    desk.bury(id)?;
    let Some(own) = desk.get(id)?.filter(crowded) else { return Ok(()) };
    let links = own.edges.links();
    let mut about = Vec::with_capacity(links.len());
    for link in links {
        about.push(desk.get(link)?.unwrap_or_default());
    }
    let peers: Vec<Peer<'_>> =
        links.iter().zip(&about).map(|(id, claim)| Peer { id, topics: &claim.topics }).collect();
    let kept = select(Peer { id, topics: &own.topics }, &peers, 0.0);
    for link in links.iter().filter(|link| !kept.contains(&link.as_str())) {
        desk.part(id, link)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
