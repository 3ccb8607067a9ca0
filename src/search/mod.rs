//! Search: a query in words, ranked claims out.
//!
//! A query becomes words ([`crate::text`]); two scorers rank the rows of a snapshot, *scan* by how
//! the words match and *BM25+* by how rare and how frequent they are; the [`panel`] makes one list
//! of their ballots. Both read terms and columns only: a text is read for the hits alone. The
//! panel knows candidates by number, so a ballot may name other things beside claims (the paragraphs
//! of cards, [`search_beside`]), and a [`dense`] ballot joins for each space that the query has a
//! vector in. By meaning the default is not an election of ballots but the sum of their scores
//! (`blend`); how sure the answer is says [`confidence`].
//!
//! A hit's score is the share of the query that it carries, between 0 and 1: the mean over the
//! ballots of what the hit reached, of what a perfect match could reach, times its decay weight;
//! in a blend the mean of its words and its cosine. A perfect scan match equals every token; a perfect BM25+ match holds every token
//! infinitely often. The number depends on the hit, the query and the corpus, never on the other
//! hits, so that it can be compared between answers and held against a threshold. As the panel
//! orders by more than this, the score is made monotone: no hit shows more than one above it.
//!
//! Not here: printing, models. Invariants: the answer depends on the snapshot's content,
//! not on how it lies in segments nor on threads; ties break by record key; a damaged list is an
//! error, never a wrong answer.
//!
//! Reading order: [`search`], `words` (what matches), `engine` (the walk), `score` (the
//! arithmetic), `top` (the best so far), [`panel`], [`dense`], `kernel` (its loops), `blend`.

mod beside;
mod blend;
pub mod confidence;
pub mod dense;
mod engine;
mod kernel;
#[cfg(test)]
mod naive;
pub mod panel;
mod score;
#[cfg(test)]
mod tests;
mod top;
mod words;
#[cfg(test)]
mod world;

use packset_segments::{Error, NULL};
use rustc_hash::FxHashMap;

use self::beside::Paragraphs;
pub use self::beside::{CardHit, Found};
use self::dense::Dense;
pub use self::dense::Towards;
use self::engine::{Ballots, Plan};
use self::panel::{Age, Ballot, Decay, Diversify, Fuse, Panel, Words};
use self::score::{Bm25, Corpus};
use self::top::Entry;
use self::words::Word;
use crate::cards::Card;
use crate::meaning;
use crate::pack::record;
use crate::pack::snapshot::{Place, Snapshot, View};
use crate::text::{self, Tokenizer};
use crate::time::{Micros, days_between};

/// What the ranking looks at beside the match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// Recency and decay too.
    #[default]
    Fused,
    /// Neither.
    Relevance,
}

/// A question to a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The words, as they were typed. Past 1024 tokens the rest is ignored.
    pub text: &'a str,
    /// How many hits at most; each ballot is cut to as many.
    pub limit: usize,
    /// The moment that is asked about; its valid time is also the now of recency and reviews.
    pub view: View,
    /// What counts beside the match.
    pub rank: Rank,
    /// Only records of this kind; none: every kind of claim, but no mail.
    pub kind: Option<&'a str>,
    /// Only records of this set. Names are compared by hash: who prints a hit compares the name.
    pub set: Option<&'a str>,
    /// How ballots become one list.
    pub panel: Panel,
}

/// A hit's place on one ballot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The scorer.
    pub ballot: &'static str,
    /// From 1.
    pub rank: usize,
    /// The scorer's own score.
    pub score: f32,
}

/// A found version.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The version that the view shows.
    pub version: Place,
    /// The row that owns its text.
    pub text: Place,
    /// The share of the query that it carries, from 0 to 1; never rises along the list.
    pub score: f32,
    /// How many ballots name it.
    pub ballots: u8,
    /// How many ballots there were.
    pub of: u8,
    /// Its score on the first ballot that names it.
    pub ballot_score: f32,
    /// Its place on each ballot that names it.
    pub ranks: Vec<Ranked>,
    /// The weight that decay left it.
    pub decay: f32,
    /// The cosine by which a dense ballot named it, if one did.
    pub cosine: Option<f32>,
    /// Its score in a blend ([`Fuse::Blend`]), which orders the hits.
    pub blended: Option<f32>,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Tokens of the query; without any there are no hits.
    pub tokens: usize,
    /// How sure it is that the first hit answers, from 0 to 1; none without hits ([`confidence`]).
    pub confidence: Option<f32>,
}

/// What a search over claims and cards found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Best first.
    pub found: Vec<Found>,
    /// As [`Answer::tokens`].
    pub tokens: usize,
    /// As [`Answer::confidence`].
    pub confidence: Option<f32>,
}

/// Finds what matches the query.
///
/// Costs about 2 ns per posting of the query's words and a search of the term dictionary per
/// word; more threads are used when that exceeds about 3 ms.
///
/// # Errors
/// [`Error::Corrupt`] when a list or a text that it needs is damaged.
pub fn search(
    snapshot: &Snapshot,
    tokenizer: &mut Tokenizer,
    query: &Query<'_>,
) -> Result<Answer, Error> {
    search_on(snapshot, tokenizer, query, None)
}

/// As [`search`], over claims and the paragraphs of cards ([`crate::cards::beside`]), which take
/// no part when a kind is asked for. Without a snapshot there are only cards. A ballot joins for
/// each space that the query has a vector in.
///
/// # Errors
/// As [`search`].
pub fn search_beside(
    snapshot: Option<&Snapshot>,
    tokenizer: &mut Tokenizer,
    query: &Query<'_>,
    cards: &[(Card, String)],
    towards: &[Towards],
) -> Result<Findings, Error> {
    let paragraphs = Paragraphs::of(if query.kind.is_some() { &[] } else { cards });
    let answer = answer(snapshot, tokenizer, query, None, &paragraphs, towards)?;
    let found = answer.hits.into_iter().map(|hit| paragraphs.found(hit)).collect();
    Ok(Findings { found, tokens: answer.tokens, confidence: answer.confidence })
}

/// [`search`] with or without threads; none: with, if it pays.
fn search_on(
    snapshot: &Snapshot,
    tokenizer: &mut Tokenizer,
    query: &Query<'_>,
    parallel: Option<bool>,
) -> Result<Answer, Error> {
    answer(Some(snapshot), tokenizer, query, parallel, &Paragraphs::of(&[]), &[])
}

fn answer(
    snapshot: Option<&Snapshot>,
    tokenizer: &mut Tokenizer,
    query: &Query<'_>,
    parallel: Option<bool>,
    paragraphs: &Paragraphs<'_>,
    towards: &[Towards],
) -> Result<Answer, Error> {
    let corpus = query.kind.map_or(record::CLAIMS, record::corpus);
    let (mut words, mut tokens) = words::of_query(tokenizer, query.text, corpus);
    let blends = query.panel.fuse == Fuse::Blend;
    if blends {
        words::without_joining(&mut words, &mut tokens);
    }
    if words.is_empty() || query.limit == 0 {
        return Ok(Answer { tokens: tokens as usize, ..Answer::default() });
    }
    let average = snapshot.map_or(1.0, |snapshot| engine::corpus_of(snapshot, corpus).average());
    let formula = if blends { Bm25::of(average) } else { Bm25::USUAL };
    let plan = snapshot.map(|snapshot| Plan {
        snapshot,
        view: query.view,
        corpus,
        kind: query.kind,
        set: query.set.map(record::set_code),
        recency: query.rank == Rank::Fused,
        formula,
        limit: if blends { query.limit.max(blend::CANDIDATES) } else { query.limit },
        parallel,
    });
    let limit = plan.as_ref().map_or(query.limit, |plan| plan.limit);
    let mut ballots = match &plan {
        Some(plan) => engine::evaluate(plan, &mut words)?,
        None => Ballots { scan: Vec::new(), bm25: Vec::new() },
    };
    if !paragraphs.is_empty() {
        let nothing = Corpus { texts: 0, tokens: 0 };
        let corpus = snapshot.map_or(nothing, |snapshot| engine::corpus_of(snapshot, corpus));
        let norms = formula.norms(&corpus);
        if snapshot.is_none() {
            words.iter_mut().for_each(|word| word.weigh(&corpus, 0, &formula, &norms));
        }
        let lonely = corpus.texts == 0;
        ballots = paragraphs.join(ballots, &words, (&formula, &norms), tokenizer, limit, lonely);
    }
    let most = Perfect {
        halves: tokens as f32 * f32::from(score::EQUAL),
        points: words.iter().map(|word| formula.ceiling(word.weight)).sum(),
    };
    let mut spaces = Vec::with_capacity(towards.len());
    for towards in towards {
        let weighed = (blends && towards.space == meaning::space())
            .then(|| weighed(query.text, &words, tokenizer, towards));
        let towards = weighed.as_ref().unwrap_or(towards);
        let dense = plan.as_ref().map(|plan| Dense::new(plan, towards)).transpose()?.flatten();
        spaces.push((towards.name, dense));
    }
    let round =
        Round { plan: plan.as_ref(), query, words: &words, spaces: &spaces, most, paragraphs };
    let hits = round.decide(ballots)?;
    let confidence = round.confidence(&hits)?;
    Ok(Answer { hits, tokens: tokens as usize, confidence })
}

/// What a text that carries the whole query would reach.
struct Perfect {
    halves: f32,
    points: f32,
}

impl Perfect {
    /// What an entry has of it by scan and by BM25+. An idf is positive, so no sum is zero.
    fn parts(&self, entry: &Entry) -> (f32, f32) {
        (f32::from(entry.halves) / self.halves, entry.points / self.points)
    }

    fn share(&self, entry: &Entry) -> f32 {
        let (scan, bm25) = self.parts(entry);
        (scan + bm25) / 2.0
    }

    /// With a dense ballot the share is the mean over three; what it does not name has none of it.
    fn share_beside(&self, entry: &Entry, cosine: Option<f32>) -> f32 {
        (2.0 * self.share(entry) + cosine.unwrap_or_default()) / 3.0
    }
}

/// The query's vector by the static table, each word weighed by how rare it is in the corpus: by
/// the root of its idf over the highest, and a word that only joins others as one of idf 0.3.
fn weighed(text: &str, words: &[Word], tokenizer: &mut Tokenizer, plain: &Towards) -> Towards {
    let idf = |word: &Word| word.weight / f32::from(word.count.max(1));
    let most = words.iter().map(idf).fold(0f32, f32::max).max(JOINING);
    let vector = meaning::vector_weighed(text, |part| {
        let terms = tokenizer.collect(part);
        let known = words.iter().filter(|word| terms.iter().any(|it| it.as_bytes() == word.text()));
        let own = known.map(idf).fold(0f32, f32::max);
        (own.max(JOINING) / most).sqrt()
    });
    Towards { vector: vector.to_vec(), ..plain.clone() }
}

/// The idf that a word has which the index does not hold: a stop word, a punctuation mark.
const JOINING: f32 = 0.3;

/// Everything that decides about one query's candidates.
struct Round<'a> {
    plan: Option<&'a Plan<'a>>,
    query: &'a Query<'a>,
    words: &'a [Word],
    spaces: &'a [blend::Meant<'a>],
    most: Perfect,
    paragraphs: &'a Paragraphs<'a>,
}

impl Round<'_> {
    fn snapshot(&self) -> Option<&Snapshot> {
        self.plan.map(|plan| plan.snapshot)
    }

    /// Numbers the candidates in order of first mention, and lets the panel decide.
    fn decide(&self, lexical: Ballots) -> Result<Vec<Hit>, Error> {
        let Self { query, paragraphs, .. } = self;
        let mut numbers: FxHashMap<Place, usize> = FxHashMap::default();
        let mut candidates: Vec<Entry> = Vec::new();
        let mut ballot = |name, entries: Vec<Entry>| {
            let vote = |entry: Entry| {
                let number = *numbers.entry(entry.version).or_insert_with(|| {
                    candidates.push(entry);
                    candidates.len() - 1
                });
                (number, entry.score)
            };
            Ballot { name, votes: entries.into_iter().map(vote).collect() }
        };
        let mut ballots = vec![ballot("scan", lexical.scan), ballot("bm25", lexical.bm25)];
        for (name, dense) in self.spaces {
            let ranked = dense.as_ref().map(Dense::ballot).transpose()?;
            ballots.push(ballot(name, ranked.unwrap_or_default()));
        }
        let blended = match query.panel.fuse {
            Fuse::Blend => {
                let numbers = |ballot: &Ballot| ballot.votes.iter().map(|vote| vote.0).collect();
                let heads: Vec<Vec<usize>> = ballots.iter().map(numbers).collect();
                Some(blend::scores(self.plan, self.words, self.spaces, &heads, &mut candidates)?)
            }
            _ => None,
        };
        let fades: Vec<f32> = candidates.iter().map(|entry| self.fade(entry)).collect();
        let words = match query.panel.diversify {
            Diversify::None => Vec::new(),
            _ => word_sets(self.snapshot(), &candidates, paragraphs)?,
        };
        let order = match &blended {
            Some(scores) => {
                // What is named by words may mean less than the mean of the pack: what fades is
                // what lies above the least of the named.
                let named = || scores.iter().copied().filter(|score| *score > f32::MIN);
                let least = named().fold(0f32, f32::min) - 1e-3;
                let weight = |at: usize| f64::from(scores[at] - least) * f64::from(fades[at]);
                let mut order: Vec<(usize, f64)> =
                    (0..candidates.len()).map(|at| (at, weight(at))).collect();
                order.sort_by(|a, b| {
                    b.1.total_cmp(&a.1).then_with(|| candidates[a.0].id.cmp(&candidates[b.0].id))
                });
                order.retain(|(_, weight)| *weight > 0.0);
                query.panel.diversify.order(&order, &words, query.limit)
            }
            None => query.panel.order(&ballots, &fades, &words, query.limit),
        };
        let mut ranks: Vec<Vec<Ranked>> = vec![Vec::new(); candidates.len()];
        for ballot in &ballots {
            for (at, (candidate, score)) in ballot.votes.iter().enumerate() {
                ranks[*candidate].push(Ranked { ballot: ballot.name, rank: at + 1, score: *score });
            }
        }
        let mut lowest = 1f32;
        let hits = order.into_iter().map(|number| {
            let entry = &candidates[number];
            let ranks = std::mem::take(&mut ranks[number]);
            let cosines: Vec<Option<f32>> =
                self.spaces.iter().map(|(_, dense)| dense.as_ref()?.cosine(entry.text)).collect();
            let share = match (self.spaces, &blended) {
                ([], _) => self.most.share(entry),
                (_, None) => self.most.share_beside(entry, cosines.iter().rev().find_map(|it| *it)),
                (_, Some(_)) => {
                    let cosine = cosines.iter().rev().find_map(|it| *it);
                    blend::share(self.most.parts(entry), cosine)
                }
            };
            let cosine = self.spaces.iter().zip(&cosines).rev().find_map(|((name, _), cosine)| {
                cosine.filter(|_| ranks.iter().any(|ranked| ranked.ballot == *name))
            });
            lowest = lowest.min(share * fades[number]);
            Hit {
                version: entry.version,
                text: entry.text,
                score: lowest,
                ballots: ranks.len() as u8,
                of: ballots.len() as u8,
                ballot_score: ranks.first().map_or(0.0, |first| first.score),
                ranks,
                decay: fades[number],
                cosine,
                blended: blended.as_ref().map(|scores| scores[number] * fades[number]),
            }
        });
        Ok(hits.collect())
    }

    /// How sure it is that the first hit answers ([`confidence`]).
    fn confidence(&self, hits: &[Hit]) -> Result<Option<f32>, Error> {
        let Some(first) = hits.first() else { return Ok(None) };
        let Some(plan) = self.plan.filter(|_| self.paragraphs.get(first.version).is_none()) else {
            // A paragraph of a card was put before the agent on purpose.
            return Ok(Some(1.0));
        };
        let frequencies = engine::frequencies_of(plan.snapshot, self.words, &[first.text])?;
        let held = self.words.iter().zip(&frequencies).filter(|(_, frequency)| **frequency > 0);
        let all: f32 = self.words.iter().map(|word| word.weight).sum();
        let covered = held.map(|(word, _)| word.weight).sum::<f32>() / all;
        let meant = self.spaces.iter().rev().find_map(|(_, dense)| {
            let dense = dense.as_ref()?;
            let cosine = dense.cosine(first.text)?;
            let standing = dense.standing(cosine);
            let (model, texts) = (dense.model(), dense.spread_over());
            Some(confidence::Meant { model, cosine, standing, texts })
        });
        Ok(Some(confidence::of(covered, meant)))
    }

    /// The weight that decay leaves a candidate. Cards are never scaled (the page).
    fn fade(&self, entry: &Entry) -> f32 {
        let decay = match self.query.rank {
            Rank::Relevance => Decay::Off,
            Rank::Fused => self.query.panel.decay,
        };
        match self.snapshot().filter(|_| self.paragraphs.get(entry.version).is_none()) {
            Some(snapshot) => decay.weight(&age(snapshot, entry, Micros(self.query.view.valid))),
            None => 1.0,
        }
    }
}

/// What a claim fades by: its own times, its own stability.
fn age(snapshot: &Snapshot, entry: &Entry, now: Micros) -> Age {
    let value = |place: Place, tag| {
        snapshot.segment(place).column(tag).map_or(NULL, |column| column.get(place.row))
    };
    let days = |at| (at != NULL).then(|| days_between(Micros(at), now));
    Age {
        written: days(value(entry.version, record::TS)),
        reviewed: days(value(entry.version, record::LAST_REVIEW)),
        stability: score::float(value(entry.version, record::STABILITY)),
    }
}

/// The words of each candidate's text, numbered.
fn word_sets(
    snapshot: Option<&Snapshot>,
    candidates: &[Entry],
    paragraphs: &Paragraphs<'_>,
) -> Result<Vec<Words>, Error> {
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let set = |entry: &Entry| {
        let text = match (paragraphs.get(entry.text), snapshot) {
            (Some((_, paragraph)), _) => paragraph,
            (None, Some(snapshot)) => snapshot.segment(entry.text).text(entry.text.row)?,
            (None, None) => "",
        };
        let mut set = Words::new();
        text::each_word(text, &mut |word| {
            let next = numbers.len() as u32;
            set.push(match numbers.get(word) {
                Some(number) => *number,
                None => *numbers.entry(word.to_owned()).or_insert(next),
            });
        });
        set.sort_unstable();
        set.dedup();
        Ok(set)
    };
    candidates.iter().map(set).collect()
}
