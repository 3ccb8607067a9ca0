//! The engine against the oracle, over small worlds of records laid out in many ways.

use std::collections::HashMap;
use std::path::Path;

use packset_segments::{Bytes, Error, Segment};

use super::engine::{self, Plan};
use super::naive::{self, Doc};
use super::panel::{Decay, Diversify, Fuse, Panel};
use super::world::{Dice, START, VOCABULARY, Version, World, bits, merged, snapshot};
use super::{Answer, Dense, Query, Rank, Towards, search, search_on, words};
use crate::pack::record;
use crate::pack::snapshot::{Place, Snapshot, View};
use crate::text::Tokenizer;
use crate::time::{DAY, Micros};

fn query(text: &str, now: i64) -> Query<'_> {
    Query {
        text,
        limit: 10,
        view: View::now(Micros(now)),
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: Panel::default(),
    }
}

fn ask(snapshot: &Snapshot, query: &Query<'_>) -> Answer {
    search(snapshot, &mut Tokenizer::new(true), query).unwrap()
}

fn ids(snapshot: &Snapshot, answer: &Answer) -> Vec<u128> {
    let id = |place: Place| snapshot.segment(place).id(place.row).unwrap();
    answer.hits.iter().map(|hit| id(hit.version)).collect()
}

/// Record key, when the version was recorded, score bits.
type Seen = Vec<(u128, i64, u32)>;

fn engine_ballots(snapshot: &Snapshot, query: &Query<'_>, parallel: bool) -> [Seen; 2] {
    let corpus = query.kind.map_or(record::CLAIMS, record::corpus);
    let (mut words, _) = words::of_query(&mut Tokenizer::new(true), query.text, corpus);
    let plan = Plan {
        snapshot,
        view: query.view,
        corpus,
        kind: query.kind,
        set: query.set.map(record::set_code),
        recency: query.rank == Rank::Fused,
        formula: super::Bm25::USUAL,
        limit: query.limit,
        parallel: Some(parallel),
    };
    let ballots = engine::evaluate(&plan, &mut words).unwrap();
    [ballots.scan, ballots.bm25].map(|ballot| {
        let seen = |entry: &super::Entry| {
            let recorded = snapshot.segment(entry.version).recorded(entry.version.row);
            (entry.id, recorded, entry.score.to_bits())
        };
        ballot.iter().map(seen).collect()
    })
}

fn naive_ballots(world: &World, query: &Query<'_>) -> [Seen; 2] {
    let corpus = query.kind.map_or(record::CLAIMS, record::corpus);
    let mut tokenizer = Tokenizer::new(true);
    let (sums, df) = world.statistics(corpus);
    let shown: Vec<&Version> = world
        .shown(&query.view)
        .into_iter()
        .filter(|version| record::corpus(version.kind) == corpus)
        .filter(|version| query.kind.is_none_or(|kind| kind == version.kind))
        .filter(|version| query.set.is_none_or(|set| version.set == Some(set)))
        .collect();
    let docs: Vec<Doc> = shown
        .iter()
        .map(|version| Doc {
            id: version.id,
            terms: tokenizer.collect(&version.text),
            ts: version.ts,
            due: version.due,
            trust: version.trust,
        })
        .collect();
    let recorded: HashMap<u128, i64> =
        shown.iter().map(|version| (version.id, version.recorded)).collect();
    let now = Micros(query.view.valid);
    let recency = query.rank == Rank::Fused;
    naive::ballots(&mut tokenizer, query.text, &docs, &sums, &df, now, recency, query.limit).map(
        |ballot| ballot.iter().map(|(id, score)| (*id, recorded[id], score.to_bits())).collect(),
    )
}

/// Queries of one to four words, some with a typing error.
fn queries(dice: &mut Dice, count: usize) -> Vec<String> {
    let mut one = || {
        let count = 1 + dice.roll(4);
        let mut words: Vec<String> =
            (0..count).map(|_| dice.pick(&VOCABULARY).to_owned()).collect();
        if dice.roll(3) == 0 {
            let last = words.len() - 1;
            let cut = words[last].chars().count() / 2;
            words[last] = words[last]
                .chars()
                .enumerate()
                .filter(|(at, _)| *at != cut)
                .map(|(_, c)| c)
                .collect();
        }
        words.join(" ")
    };
    (0..count).map(|_| one()).collect()
}

fn variations<'a>(text: &'a str, world: &World, dice: &mut Dice) -> Query<'a> {
    let end = world.end();
    let past = START + (end - START) / 10 * dice.roll(10) as i64;
    Query {
        limit: dice.pick(&[1, 3, 10, 1000]),
        view: dice.pick(&[
            View::now(Micros(end)),
            View::now(Micros(end)),
            View::as_of(Micros(past)),
            View::known_at(Micros(past), Micros(end)),
        ]),
        rank: dice.pick(&[Rank::Fused, Rank::Fused, Rank::Relevance]),
        kind: dice.pick(&[None, None, Some("belief"), Some("message"), Some("task"), Some("none")]),
        set: dice.pick(&[None, None, None, Some("red"), Some("nothing")]),
        ..query(text, end)
    }
}

#[test]
fn the_engine_agrees_with_the_oracle_however_the_store_lies() {
    for seed in 0..4 {
        let world = World::random(seed, 150 + 90 * seed as usize);
        let single = snapshot(world.laid_out(&[]));
        let many = world.snapshot(&[70, 1, 30, 30, 5, 12, 2, 40]);
        let all = world.laid_out(&[70, 1, 30, 30, 5, 12, 2, 40]);
        let count = all.len();
        let whole = snapshot(merged(all, count));
        let some = snapshot(merged(world.laid_out(&[50, 9, 30, 20]), 3));
        let mut dice = Dice(seed + 100);
        for text in queries(&mut dice, 24) {
            let query = variations(&text, &world, &mut dice);
            let expected = naive_ballots(&world, &query);
            for (layout, snapshot) in [&single, &many, &whole, &some].into_iter().enumerate() {
                let found = engine_ballots(snapshot, &query, false);
                assert_eq!(found, expected, "seed {seed}, layout {layout}, {query:?}");
            }
        }
    }
}

/// Many rows near the bar, so that a bound that is a little too low loses one.
#[test]
fn nothing_is_lost_to_a_bound() {
    for trusting in [false, true] {
        let world = World::settled(70, 1200, trusting);
        let [single, many] = [world.snapshot(&[]), world.snapshot(&[700, 200, 150])];
        let mut dice = Dice(71);
        for text in queries(&mut dice, 30) {
            let limit = dice.pick(&[1, 2, 5, 10, 25]);
            let rank = dice.pick(&[Rank::Fused, Rank::Relevance]);
            let query = Query { limit, rank, ..query(&text, world.end()) };
            let expected = naive_ballots(&world, &query);
            assert_eq!(engine_ballots(&single, &query, false), expected, "{query:?}");
            assert_eq!(engine_ballots(&many, &query, false), expected, "{query:?}");
        }
    }
}

/// Two windows of 64 rows; what the first one holds must not hide what is better in the second.
#[test]
fn no_window_is_passed_over_that_holds_a_better_row() {
    let mut texts = vec!["gear"; 64];
    texts.extend(["other"; 64]);
    texts[10] = "widget";
    texts[70] = "widgetry";
    let mut world = claims(&texts);
    world.0[70].due = START;
    let one = |text| Query { limit: 1, ..query(text, START + DAY) };
    // 4 for an equal word, against 3 for one that starts with it and 2 because it is due.
    let [scan, bm25] = engine_ballots(&world.snapshot(&[]), &one("widget"), false);
    assert_eq!((scan[0].0, bm25[0].0), (71, 11));

    texts[10] = "widget gear one two three four five six seven";
    texts[70] = "widget widget widget widget widget";
    let world = claims(&texts);
    // Both words against one, five times in a short text.
    let [scan, bm25] = engine_ballots(&world.snapshot(&[]), &one("widget gear"), false);
    assert_eq!((scan[0].0, bm25[0].0), (11, 71));
}

#[test]
fn threads_change_no_answer() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let world = World::random(40, 600);
    let snapshot = world.snapshot(&[300, 100]);
    let mut dice = Dice(41);
    for text in queries(&mut dice, 20) {
        let query = variations(&text, &world, &mut dice);
        let run = |parallel| {
            let mut tokenizer = Tokenizer::new(true);
            pool.install(|| search_on(&snapshot, &mut tokenizer, &query, Some(parallel))).unwrap()
        };
        assert_eq!(run(true), run(false), "{query:?}");
    }
}

#[test]
fn a_layout_changes_no_hit() {
    let world = World::random(50, 400);
    let [one, many] = [world.snapshot(&[]), world.snapshot(&[90, 60, 3, 100])];
    let mut dice = Dice(51);
    for text in queries(&mut dice, 20) {
        let query = variations(&text, &world, &mut dice);
        let strip = |snapshot: &Snapshot| {
            let answer = ask(snapshot, &query);
            let ids = ids(snapshot, &answer);
            let rest = answer.hits.into_iter().map(|hit| (hit.score, hit.ranks, hit.decay));
            ids.into_iter().zip(rest).collect::<Vec<_>>()
        };
        assert_eq!(strip(&one), strip(&many), "{query:?}");
    }
}

#[test]
fn scores_are_shares_and_never_rise() {
    let world = World::random(60, 400);
    let snapshot = world.snapshot(&[200]);
    let mut dice = Dice(61);
    for text in queries(&mut dice, 30) {
        let query = variations(&text, &world, &mut dice);
        let hits = ask(&snapshot, &query).hits;
        assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0));
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        assert!(hits.iter().all(|hit| hit.of == 2 && usize::from(hit.ballots) == hit.ranks.len()));
    }
}

/// Claims with these texts, written a minute apart, all ids in order.
fn claims(texts: &[&str]) -> World {
    let claim = |(at, text): (usize, &&str)| {
        Version::new(at as u128 + 1, START + at as i64 * 60_000_000, text)
    };
    World(texts.iter().enumerate().map(claim).collect())
}

fn found(texts: &[&str], text: &str) -> Vec<u128> {
    let world = claims(texts);
    let snapshot = world.snapshot(&[2]);
    let relevance = Query { rank: Rank::Relevance, ..query(text, world.end()) };
    ids(&snapshot, &ask(&snapshot, &relevance))
}

#[test]
fn every_class_of_match_finds() {
    // Equality, prefix, substring, one edit, in this order; the last has nothing in common.
    let texts = ["forged widgets", "widgetry", "subwidget", "wodget", "unrelated words"];
    assert_eq!(found(&texts, "widget"), [1, 2, 3, 4]);
    // Three letters match by equality alone.
    assert_eq!(found(&["an ox", "an oxbow", "a box"], "ox"), [1]);
    assert_eq!(found(&["fox den", "foxglove", "fix"], "fox"), [1]);
    // One edit in the first half, in the second half, at either end, and two edits.
    let edits = ["xindow", "winxow", "windo", "xwindow", "wnidow"];
    assert_eq!(found(&edits, "window"), [4, 1, 2, 3]);
    assert!(found(&["anything"], "the of").is_empty());
    assert!(found(&["anything"], "").is_empty());
}

#[test]
fn scripts_without_spaces_are_found_by_parts() {
    // Tokyo prefecture, Kyoto, Osaka.
    let texts = ["\u{6771}\u{4eac}\u{90fd}", "\u{4eac}\u{90fd}", "\u{5927}\u{962a}"];
    assert_eq!(found(&texts, "\u{4eac}\u{90fd}"), [2, 1]);
    // One character: a bigram of both texts starts with it, so they come by key.
    assert_eq!(found(&texts, "\u{4eac}"), [1, 2]);
    // No edit: half of a word is not nearly a word.
    assert!(found(&texts, "\u{5927}\u{4eac}").is_empty());
}

#[test]
fn identifiers_are_found_whole_and_in_parts() {
    let texts = ["call tasks_claim first", "a task to claim", "see v0.29.1", "getUserName fails"];
    assert_eq!(found(&texts, "tasks_claim")[0], 1);
    assert_eq!(found(&texts, "v0.29.1"), [3]);
    assert_eq!(found(&texts, "user"), [4]);
    assert_eq!(found(&texts, "getusername"), [4]);
}

#[test]
fn five_hundred_equal_claims_come_by_key() {
    let mut world = claims(&["the same claim again"; 500]);
    for version in &mut world.0 {
        version.ts = START;
        version.id = 501 - version.id;
    }
    for sizes in [&[][..], &[100, 100, 250]] {
        let snapshot = world.snapshot(sizes);
        let panel = Panel { diversify: Diversify::None, ..Panel::default() };
        let answer = ask(&snapshot, &Query { panel, ..query("same claim", world.end()) });
        assert_eq!(ids(&snapshot, &answer), (1..=10).collect::<Vec<u128>>());
    }
}

#[test]
fn due_claims_come_first() {
    let mut world = claims(&["zebra stripes one", "zebra stripes two"]);
    world.0[0].due = START + DAY;
    world.0[1].ts = START;
    let snapshot = world.snapshot(&[]);
    let now = START + 2 * DAY;
    let answer = ask(&snapshot, &query("zebra stripes", now));
    assert_eq!(ids(&snapshot, &answer), [1, 2]);
    // Two equal tokens 8, trust 0.1, two days of age 0.5^(2/14), due 2.
    let recency = 0.5f32.powf(2.0 / 14.0);
    let expected = 8.0 + 0.1 + recency + 2.0;
    assert!((answer.hits[0].ballot_score - expected).abs() < 1e-5, "{:?}", answer.hits[0]);
    assert_eq!(answer.hits[0].ranks[0].ballot, "scan");
    assert_eq!(answer.hits[0].ranks[1].rank, 1);
}

#[test]
fn bm25_is_what_the_formula_says() {
    // Two texts of two tokens each; the word is in one of them: N 2, df 1, length = average.
    let world = claims(&["apple pear", "plum fig"]);
    let snapshot = world.snapshot(&[1]);
    let relevance = Query { rank: Rank::Relevance, ..query("pear", world.end()) };
    let hits = ask(&snapshot, &relevance).hits;
    // idf ln(1 + 1.5 / 1.5) = ln 2; part ln 2 * (2.2 / 2.2 + 1) = 2 ln 2; trust 0.1.
    let expected = 2.0 * 2f32.ln() + 0.1;
    assert_eq!(hits.len(), 1);
    assert!((hits[0].ranks[1].score - expected).abs() < 1e-6);
    // The share: a full scan match; 2 of at most 3.2 of BM25+.
    assert!((hits[0].score - (1.0 + 2.0 / 3.2) / 2.0).abs() < 1e-6);
}

#[test]
fn a_claim_fades_by_its_own_review() {
    let mut world = claims(&["yak grazing wide", "yak grazing herd"]);
    let now = START + 30 * DAY;
    world.0[0].last = now - DAY;
    world.0[0].stability = bits(100.0);
    world.0[1].recorded = START + 1;
    let snapshot = world.snapshot(&[]);
    let hits = ask(&snapshot, &query("yak grazing", now)).hits;
    // (1 + 19/81 * 1/100)^-0.5 = 0.99883 against (1 + 19/81 * 30)^-0.5 = 0.35276.
    assert_eq!(
        ids(&snapshot, &Answer { hits: hits.clone(), tokens: 2, ..Answer::default() }),
        [1, 2]
    );
    assert!((hits[0].decay - 0.99883).abs() < 1e-4, "{}", hits[0].decay);
    assert!((hits[1].decay - 0.35276).abs() < 1e-3, "{}", hits[1].decay);
}

#[test]
fn a_tiny_gap_in_recency_outweighs_no_match() {
    // The long text matches all three words, the others one each and a minute newer.
    let texts = ["alpha beta gamma padding padding", "alpha", "beta"];
    let world = claims(&texts);
    let snapshot = world.snapshot(&[]);
    for fuse in [Fuse::CombMnz, Fuse::CombSum] {
        let panel = Panel { fuse, decay: Decay::Off, diversify: Diversify::None };
        let answer = ask(&snapshot, &Query { panel, ..query("alpha beta gamma", world.end()) });
        assert_eq!(ids(&snapshot, &answer)[0], 1);
    }
}

#[test]
fn a_long_query_is_cut_and_repeats_count() {
    let world = claims(&["needle", "thread"]);
    let snapshot = world.snapshot(&[]);
    let long = format!("{} thread", "needle ".repeat(2000));
    let answer = ask(&snapshot, &query(&long, world.end()));
    assert_eq!(answer.tokens, words::MAX_TOKENS);
    assert_eq!(ids(&snapshot, &answer), [1]);
    // 1024 equal tokens 4096, trust 0.1, recency.
    let recency = 0.5f32.powf((DAY as f32) / (14.0 * DAY as f32));
    assert!((answer.hits[0].ballot_score - 4096.1 - recency).abs() < 1e-2);
}

#[test]
fn an_empty_store_and_no_limit_find_nothing() {
    let snapshot = snapshot(Vec::new());
    assert!(ask(&snapshot, &query("anything", START)).hits.is_empty());
    let world = claims(&["anything"]);
    let none = Query { limit: 0, ..query("anything", world.end()) };
    assert!(ask(&world.snapshot(&[]), &none).hits.is_empty());
}

/// A mapped file is not read whole when it is opened, so damage is met where it is used.
#[test]
fn damaged_lists_are_errors() {
    // Lists of more than one block, so that blocks and tails are met.
    let texts: Vec<String> = (0..400).map(|at| format!("common word{}", at % 3)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let world = claims(&texts);
    let whole = world.laid_out(&[]).remove(0);
    let good = whole.bytes().to_vec();
    let (mut opened, mut errors) = (0, 0);
    for at in (0..good.len()).step_by(17) {
        let mut map = memmap2::MmapMut::map_anon(good.len()).unwrap();
        map.copy_from_slice(&good);
        map[at] ^= 0x55;
        let bytes = Bytes::Mapped(map.make_read_only().unwrap());
        let Ok(bent) = Segment::parse(Path::new("bent.seg"), bytes) else { continue };
        let Ok(_) = bent.counts() else { continue };
        opened += 1;
        let snapshot = snapshot(vec![bent]);
        match search(&snapshot, &mut Tokenizer::new(true), &query("common wurd2", world.end())) {
            Ok(_) => {}
            Err(Error::Corrupt { section: "postings", .. }) => errors += 1,
            Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "{error}"),
        }
    }
    assert!(opened > 100 && errors > 0, "{opened} opened, {errors} errors");
}

/// The static table's ballot of a query, as the engine gives it.
fn dense_ballot(snapshot: &Snapshot, query: &Query<'_>, parallel: bool) -> Seen {
    let plan = Plan {
        snapshot,
        view: query.view,
        corpus: query.kind.map_or(record::CLAIMS, record::corpus),
        kind: query.kind,
        set: query.set.map(record::set_code),
        recency: false,
        formula: super::Bm25::USUAL,
        limit: query.limit,
        parallel: Some(parallel),
    };
    let Some(dense) = Dense::new(&plan, &towards(query.text)).unwrap() else { return Vec::new() };
    let seen = |entry: super::Entry| {
        let recorded = snapshot.segment(entry.version).recorded(entry.version.row);
        (entry.id, recorded, entry.score.to_bits())
    };
    dense.ballot().unwrap().into_iter().map(seen).collect()
}

fn towards(text: &str) -> Towards {
    let vector = crate::meaning::vector(text).to_vec();
    Towards { name: "static", model: String::new(), space: crate::meaning::space(), vector }
}

/// The same from every text that is shown, by the definition of a cosine.
fn naive_dense(world: &World, query: &Query<'_>) -> Seen {
    let corpus = query.kind.map_or(record::CLAIMS, record::corpus);
    let towards = super::kernel::Query::of(&towards(query.text).vector, crate::meaning::space());
    let Some(towards) = towards else { return Vec::new() };
    let mut found: Vec<(u128, i64, f32)> = world
        .shown(&query.view)
        .into_iter()
        .filter(|version| record::corpus(version.kind) == corpus)
        .filter(|version| query.kind.is_none_or(|kind| kind == version.kind))
        .filter(|version| query.set.is_none_or(|set| version.set == Some(set)))
        .filter_map(|version| {
            let code = crate::meaning::code(&version.text);
            let cosine = towards.cosine(&code, packset_segments::vectors::norm(&code));
            let score = cosine + 0.1 * super::score::trust(version.trust);
            (cosine > 0.0).then_some((version.id, version.recorded, score))
        })
        .collect();
    found.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    found.truncate(query.limit);
    found.into_iter().map(|(id, recorded, score)| (id, recorded, score.to_bits())).collect()
}

#[test]
fn the_dense_ballot_agrees_with_the_oracle_however_the_store_lies() {
    for seed in 80..83 {
        // Few enough that no sketch is looked at.
        let world = World::random(seed, 110);
        let single = snapshot(world.laid_out(&[]));
        let many = world.snapshot(&[40, 1, 20, 5, 12]);
        let all = world.laid_out(&[40, 1, 20, 5, 12]);
        let count = all.len();
        let whole = snapshot(merged(all, count));
        let mut dice = Dice(seed + 100);
        for text in queries(&mut dice, 24) {
            let query = variations(&text, &world, &mut dice);
            let expected = naive_dense(&world, &query);
            for (layout, snapshot) in [&single, &many, &whole].into_iter().enumerate() {
                for parallel in [false, true] {
                    let found = dense_ballot(snapshot, &query, parallel);
                    assert_eq!(found, expected, "seed {seed}, layout {layout}, {query:?}");
                }
            }
        }
    }
}

/// Sketches may miss what lies far down; what they let through is scored as ever, and nearly all
/// of the first ten is.
#[test]
fn sketches_let_the_best_through() {
    let world = World::settled(90, 1500, false);
    let [single, many] = [world.snapshot(&[]), world.snapshot(&[700, 200, 150])];
    let mut dice = Dice(91);
    let (mut wanted, mut got) = (0, 0);
    for text in queries(&mut dice, 40) {
        let query = Query { limit: 10, ..query(&text, world.end()) };
        let expected = naive_dense(&world, &query);
        let found = dense_ballot(&single, &query, false);
        assert_eq!(found, dense_ballot(&many, &query, true), "{query:?}");
        wanted += expected.len();
        got += expected.iter().filter(|entry| found.contains(entry)).count();
    }
    assert!(got * 20 >= wanted * 19, "{got} of {wanted}");
}

#[test]
fn a_blend_depends_on_neither_layout_nor_threads() {
    let world = World::random(95, 100);
    let layouts = [world.snapshot(&[]), world.snapshot(&[30, 1, 25, 3])];
    let mut dice = Dice(96);
    for text in queries(&mut dice, 20) {
        let query = Query { panel: Panel::BEST, ..variations(&text, &world, &mut dice) };
        let mut answers = Vec::new();
        for snapshot in &layouts {
            for parallel in [false, true] {
                let mut tokenizer = Tokenizer::new(true);
                let none = super::Paragraphs::of(&[]);
                let towards = [towards(&text)];
                let (snapshot, parallel) = (Some(snapshot), Some(parallel));
                let answer =
                    super::answer(snapshot, &mut tokenizer, &query, parallel, &none, &towards)
                        .unwrap();
                let found = ids(snapshot.unwrap(), &answer);
                let scores: Vec<f32> = answer.hits.iter().map(|hit| hit.score).collect();
                assert!(scores.is_sorted_by(|a, b| a >= b));
                answers.push((found, scores, answer.confidence));
            }
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{query:?}");
    }
}
