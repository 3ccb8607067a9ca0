//! The parts of the quality bench that can be wrong in silence: its measures, what it reads, and
//! how it reads an arm.
//!
//! The measures are held against trec_eval's own code, which wrote the values in `trec.json`
//! (through pytrec_eval 0.5.11). Not here: the bench's run, which needs sets that lie elsewhere.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test touches the real world"
)]

#[path = "../../benches/quality/arms.rs"]
mod arms;
#[path = "../../benches/quality/metrics.rs"]
mod metrics;
#[path = "../../benches/quality/sets.rs"]
mod sets;

use std::fs;
use std::path::{Path, PathBuf};

use arms::{Arm, FUSES};
use metrics::{Grades, Mean, NAMES, Values};
use packset::time::Micros;
use serde_json::Value;
use sets::{Half, Set, below};

/// Cases with ties, graded judgements, documents that nobody judged and judged ones not found.
const TREC: &str = include_str!("../../benches/quality/trec.json");

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn measures_are_those_of_trec_eval() {
    let stored: Value = serde_json::from_str(TREC).unwrap();
    let cases = stored["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 21);
    // The order in which the file has them.
    let names = ["nDCG@10", "R@5", "R@10", "MRR", "hit@1", "hit@10", "MAP"];
    assert_eq!(names, NAMES);
    for case in cases {
        let grades: Grades = serde_json::from_value(case["grades"].clone()).unwrap();
        let list: Vec<String> = serde_json::from_value(case["run"].clone()).unwrap();
        let expected: Vec<f64> = serde_json::from_value(case["values"].clone()).unwrap();
        let measured = metrics::measure(&grades, &list);
        for ((name, measured), expected) in NAMES.iter().zip(measured).zip(expected) {
            assert!(near(measured, expected), "{} {name}: {measured} {expected}", case["query"]);
        }
    }
}

#[test]
fn nothing_found_and_nothing_to_find() {
    let grades: Grades = [("a".to_owned(), 1)].into();
    assert_eq!(metrics::measure(&grades, &[]), [0.0; 7]);
    let none: Grades = [("a".to_owned(), 0)].into();
    assert_eq!(metrics::measure(&none, &["a".to_owned()]), [0.0; 7]);
}

fn all(value: f64) -> Values {
    [value; 7]
}

#[test]
fn an_interval_is_as_wide_as_the_mean_is_unsure() {
    let same = metrics::means(&[all(0.25); 50]);
    assert_eq!(same, [Mean { mean: 0.25, low: 0.25, high: 0.25 }; 7]);
    // Half ones, half zeros: the mean of 400 has a standard error of .5 / 20 = .025, and 95 % lie
    // within 1.96 of those; a tenth either way is left to chance.
    let mixed: Vec<Values> = (0..400).map(|at| all(f64::from(at % 2))).collect();
    let Mean { mean, low, high } = metrics::means(&mixed)[6];
    assert!(near(mean, 0.5));
    assert!((low - 0.451).abs() < 0.005 && (high - 0.549).abs() < 0.005, "{low} {high}");
    assert_eq!(metrics::means(&mixed), metrics::means(&mixed), "the draws stand still");
}

#[test]
fn a_gain_is_taken_question_by_question() {
    // The questions differ widely, the arms always by a hundredth: no doubt about the gain.
    let those: Vec<Values> = (0..100).map(|at| all(f64::from(at) / 200.0)).collect();
    let these: Vec<Values> = those.iter().map(|values| values.map(|value| value + 0.01)).collect();
    let Mean { mean, low, high } = metrics::gain(&these, &those);
    assert!(near(mean, 0.01) && near(low, 0.01) && near(high, 0.01), "{mean} {low} {high}");
}

#[test]
fn dates_of_both_spellings() {
    let at = |text| Micros::parse(text).unwrap();
    let table = [
        ("2025-06-12T09:15:00Z", Some(at("2025-06-12T09:15:00Z"))),
        ("7:31 pm on 21 January, 2022", Some(at("2022-01-21T19:31:00Z"))),
        ("12:09 am on 13 September, 2023", Some(at("2023-09-13T00:09:00Z"))),
        ("12:24 pm on 7 April, 2023", Some(at("2023-04-07T12:24:00Z"))),
        ("7:31 on 21 January, 2022", None),
        ("yesterday", None),
        ("", None),
    ];
    for (text, moment) in table {
        assert_eq!(sets::moment(text), moment, "{text}");
    }
}

#[test]
fn halves_part_the_questions_evenly_and_for_good() {
    let names: Vec<String> = (0..1000).map(|at| format!("q{at}")).collect();
    let a = names.iter().filter(|name| Half::A.holds("pack", name)).count();
    let b = names.iter().filter(|name| Half::B.holds("pack", name)).count();
    assert_eq!(a + b, 1000);
    // Four standard deviations of a thousand throws of a coin.
    assert!(a.abs_diff(500) < 64, "{a}");
    let moved = names.iter().filter(|name| Half::A.holds("other", name)).count();
    assert_ne!(names.iter().position(|name| Half::A.holds("pack", name)), None);
    assert!(moved.abs_diff(500) < 64, "{moved}");
}

/// Two packs, the second with a question that nothing answers.
fn made(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality-test").join(name);
    let _ = fs::remove_dir_all(&dir);
    for pack in ["one", "two"] {
        let pack = dir.join("set").join(pack);
        fs::create_dir_all(&pack).unwrap();
        let corpus = concat!(
            r#"{"id":"d1","text":"first","session":"s","date":"2025-06-12","extra":1}"#,
            "\n",
            r#"{"id":"d2","text":"second one","session":"s","date":"2025-06-12"}"#,
            "\n",
            r#"{"id":"d3","text":"third","date":"long ago"}"#,
            "\n",
        );
        let queries = concat!(
            r#"{"id":"q1","text":"which?"}"#,
            "\n",
            r#"{"id":"q2","text":"judged, none right"}"#,
            "\n",
            r#"{"id":"q3","text":"not judged"}"#,
            "\n",
        );
        fs::write(pack.join("corpus.jsonl"), corpus).unwrap();
        fs::write(pack.join("queries.jsonl"), queries).unwrap();
        let judged = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\nq2\td2\t0\n";
        fs::write(pack.join("qrels.tsv"), judged).unwrap();
    }
    let two = dir.join("set/two");
    fs::write(two.join("negatives.jsonl"), "{\"id\":\"n\",\"text\":\"what else?\"}\n").unwrap();
    fs::write(two.join("other.tsv"), "query-id\tcorpus-id\tscore\nq3\td2\t1\n").unwrap();
    dir
}

#[test]
fn a_set_of_packs_is_read() {
    let dir = made("read");
    assert_eq!(below(&dir).unwrap(), [dir.join("set")]);
    let set = Set::read(&dir.join("set"), sets::JUDGEMENTS, None).unwrap();
    assert_eq!((set.name.as_str(), set.packs.len(), set.longest()), ("set", 2, 10));
    let [one, two] = set.packs.as_slice() else { panic!("two packs") };
    assert_eq!((one.name.as_str(), one.negatives.len()), ("one", 0));
    assert_eq!(two.negatives, ["what else?"]);
    let records: Vec<String> =
        one.records.iter().map(|record| Value::Object(record.clone()).to_string()).collect();
    let expected = [
        r#"{"id":"d1","text":"first","session":"s","ts":"2025-06-12T00:00:00.000Z"}"#,
        r#"{"id":"d2","text":"second one","session":"s","ts":"2025-06-12T00:00:01.000Z"}"#,
        r#"{"id":"d3","text":"third"}"#,
    ];
    assert_eq!(records, expected);
    let [question] = one.questions.as_slice() else { panic!("one has a relevant document") };
    assert_eq!((question.id.as_str(), question.text.as_str()), ("q1", "which?"));
    assert_eq!(question.grades, [("d1".to_owned(), 2), ("d3".to_owned(), 0)].into());
}

#[test]
fn other_judgements_are_read_where_they_are() {
    let dir = made("other");
    let set = Set::read(&dir.join("set"), "other.tsv", None).unwrap();
    let asked: Vec<&str> =
        set.packs.iter().flat_map(|pack| &pack.questions).map(|q| q.id.as_str()).collect();
    assert_eq!(asked, ["q1", "q3"]);
}

#[test]
fn the_halves_of_a_set_are_the_set() {
    let dir = made("half");
    let of = |half| {
        let set = Set::read(&dir.join("set"), sets::JUDGEMENTS, Some(half)).unwrap();
        set.packs.iter().map(|pack| pack.questions.len()).sum::<usize>()
    };
    assert_eq!(of(Half::A) + of(Half::B), 2);
}

#[test]
fn what_is_no_set_is_named() {
    let dir = made("wrong");
    let file = dir.join("set/one/qrels.tsv");
    fs::write(&file, "query-id\tcorpus-id\tscore\nq1 d1 2\n").unwrap();
    let error = Set::read(&dir.join("set"), sets::JUDGEMENTS, None).unwrap_err().to_string();
    assert!(error.ends_with("qrels.tsv: line 2: it is not query, document and grade"), "{error}");
    fs::remove_file(&file).unwrap();
    let error = Set::read(&dir.join("set"), sets::JUDGEMENTS, None).unwrap_err().to_string();
    assert!(error.contains("qrels.tsv: "), "{error}");
    assert!(Set::read(&dir, sets::JUDGEMENTS, None).is_err());
}

#[test]
fn arms_as_they_are_written() {
    let arm = Arm::parse("mine:PACKSET_FUSE=rrf,PACKSET_STATIC=off:--rank relevance").unwrap();
    let var = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let vars = vec![var("PACKSET_FUSE", "rrf"), var("PACKSET_STATIC", "off")];
    let flags = vec!["--rank".to_owned(), "relevance".to_owned()];
    assert_eq!(arm, Arm { name: "mine".into(), vars, flags });
    assert_eq!(arm.of_import(), [var("PACKSET_STATIC", "off")]);
    assert!(!arm.encodes());
    assert_eq!(Arm::parse("borda").unwrap().vars, [var("PACKSET_FUSE", "borda")]);
    assert!(Arm::parse("rerank").unwrap().encodes());
    assert_eq!(Arm::parse("default").unwrap().vars, []);
    assert!(Arm::parse("bored").unwrap_err().starts_with("no arm is named \"bored\""));
    let error = Arm::parse("mine:rrf").unwrap_err();
    assert_eq!(error, "arm mine: rrf is neither VAR=VALUE nor a flag");
    assert_eq!(Arm::defaults().len(), 2 + FUSES.len());
}

#[test]
fn a_model_is_found_by_name_or_place() {
    let models = Path::new("m");
    let place = |written| {
        let arm = Arm::of_model(written, models, Path::new("e"));
        assert!(arm.encodes());
        let var = |name: &str| {
            arm.vars.iter().find(|(var, _)| var == name).map(|(_, value)| value.clone()).unwrap()
        };
        (arm.name.clone(), var("PACKSET_EMBED_MODEL"), var("PACKSET_EMBED_MODEL_PATH"))
    };
    let is = |name: &str, model: &str, path: &str| (name.into(), model.into(), path.into());
    assert_eq!(place("bge-small"), is("model bge-small", "bge-small", "m/BAAI/bge-small-en-v1.5"));
    assert_eq!(place("x=y/z"), is("model x", "x", "m/y/z"));
}
