//! The side that asks: children that do what they should, children that do not, and which are
//! started at all.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use packset::cli::Env;
use packset::encode::Encoders;
use packset_segments::os::OsFs;

use crate::asked::{PROGRAM, Place};
use crate::onnx::Is;

/// A program of a name that answers each line as a shell script does.
fn script(place: &Place, name: &str, answers: &str) -> PathBuf {
    let path = place.root.join(name);
    fs::write(&path, format!("#!/bin/sh\n{answers}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn env(vars: &[(&str, &str)]) -> Env {
    Env::new([""; 0], vars.iter().copied(), None)
}

/// Encoders that are the script, with a second of time for an answer.
fn encoders(place: &Place, answers: &str, more: &[(&str, &str)]) -> Encoders {
    let program = script(place, "packset-embed", answers);
    let program = program.to_str().unwrap();
    let vars = [("PACKSET_EMBED", program), ("PACKSET_EMBED_TIMEOUT_MS", "1000")];
    Encoders::find(&env(&[&vars, more].concat()), &OsFs::default(), None)
}

/// Says what it is, and gives two numbers a text; logs who it is and what it was asked.
const TWO: &str = r#"
while read -r line; do
    echo "$$ $line" >> "$0.log"
    case "$line" in
        *about*) echo '{"id":"about","model":"toy","dims":2,"sha256":"abc","runtime":"1"}' ;;
        *texts*) sleep 0.2; echo '{"id":"b","vs":[[1.0,0.0],[0.0,1.0]]}' ;;
        *) echo '{"id":"0","v":[0.6,0.8]}' ;;
    esac
done"#;

fn log(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(place.root.join("packset-embed.log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_program_that_merely_lies_there_is_not_started() {
    let place = Place::new();
    script(&place, "packset-embed", TWO);
    let path = place.root.to_str().unwrap();
    let find = |vars: &[(&str, &str)], model| {
        let vars = [&[("PATH", path)], vars].concat();
        Encoders::find(&env(&vars), &OsFs::default(), model)
    };
    assert!(!find(&[], None).are_there());
    assert!(find(&[("PACKSET_EMBED_MODEL", "minilm")], None).are_there());
    assert!(find(&[("PACKSET_EMBED_MODEL_PATH", "/m")], None).are_there());
    let off = [("PACKSET_EMBED_MODEL", "minilm"), ("INSIDE_EMBED", "off")];
    let off = find(&off, Some("minilm"));
    assert!(!off.are_there() && off.vectors(&["a"], false).is_none() && off.space().is_none());
    assert!(find(&[], Some("minilm")).are_there());
    assert!(log(&place).is_empty());
    assert!(!place.root.join("packset-embed.log").exists());
}

#[test]
fn the_packs_model_is_the_childs_unless_the_environment_names_one() {
    let place = Place::new();
    let says = r#"
while read -r line; do
    echo "{\"id\":\"about\",\"model\":\"$PACKSET_EMBED_MODEL\",\"dims\":2,\"sha256\":\"a\"}"
done"#;
    let program = script(&place, "packset-embed", says);
    let vars = [("PACKSET_EMBED", program.to_str().unwrap())];
    let found = Encoders::find(&env(&vars), &OsFs::default(), Some("e5-base"));
    assert_eq!(found.space().unwrap().model, "e5-base");
}

#[test]
fn the_space_is_asked_for_once_and_holds_for_every_vector() {
    let place = Place::new();
    let encoders = encoders(&place, TWO, &[]);
    let space = encoders.space().unwrap();
    assert_eq!((space.model.as_str(), space.dims, space.hash.as_str()), ("toy", 2, "abc"));
    assert_eq!(encoders.space(), Some(space.clone()));
    assert_eq!(encoders.vector("a", true), Some(vec![0.6, 0.8]));
    let asked = log(&place);
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].ends_with(r#"{"id":"about","about":true}"#), "{asked:?}");
    assert!(asked[1].ends_with(r#"{"id":"0","text":"a","query":true}"#), "{asked:?}");
    let other = packset::encode::Space { dims: 3, ..space.clone() };
    assert_ne!(other.id(), space.id());
}

#[test]
fn many_texts_are_asked_for_together() {
    let place = Place::new();
    let encoders = encoders(&place, TWO, &[]);
    assert_eq!(encoders.vectors(&[], false), Some(vec![]));
    let two = encoders.vectors(&["a", "b"], false);
    assert_eq!(two, Some(vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
    let asked = log(&place);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].ends_with(r#"{"id":"b","query":false,"texts":["a","b"]}"#), "{asked:?}");
    // Three numbers for as many texts is not what was asked.
    assert_eq!(encoders.vectors(&["a", "b", "c"], false), None);
}

#[test]
fn a_batch_is_spread_over_the_children_that_are_free() {
    let place = Place::new();
    let encoders = encoders(&place, TWO, &[("PACKSET_EMBED_QUERY_WORKERS", "2")]);
    let four = encoders.vectors(&["a", "b", "c", "d"], false).unwrap();
    assert_eq!(four.len(), 4);
    let asked = log(&place);
    let who: Vec<&str> = asked.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(who.len(), 2, "{asked:?}");
    assert_ne!(who[0], who[1], "{asked:?}");
}

#[test]
fn what_is_no_answer_is_none_and_nobody_waits_for_it() {
    let batch = |then: &str| format!("while read -r line; do {then}; done");
    for (what, answers) in [
        ("it crashes in the middle", batch(r#"printf '{"id":"b","vs":[[1.0,'; exit 1"#)),
        ("it gives no number", batch(r#"echo '{"id":"b","vs":[[1.0,0.0],[NaN,0.0]]}'"#)),
        ("it gives null", batch(r#"echo '{"id":"b","vs":[[1.0,0.0],[null,0.0]]}'"#)),
        ("it gives other numbers each", batch(r#"echo '{"id":"b","vs":[[1.0,0.0],[1.0]]}'"#)),
        ("it gives too few", batch(r#"echo '{"id":"b","vs":[[1.0,0.0]]}'"#)),
        ("it says why it cannot", batch(r#"echo '{"id":"b","error":"no"}'"#)),
        ("it hangs", "sleep 30".into()),
    ] {
        let place = Place::new();
        // The name is another, so that nothing is asked but what every encoder answers.
        let program = script(&place, "encoder", &answers);
        let vars =
            [("PACKSET_EMBED", program.to_str().unwrap()), ("PACKSET_EMBED_TIMEOUT_MS", "300")];
        let encoders = Encoders::find(&env(&vars), &OsFs::default(), None);
        let began = Instant::now();
        assert_eq!(encoders.vectors(&["a", "b"], false), None, "{what}");
        assert_eq!(encoders.status().0["answering"], false, "{what}");
        // It is left alone now.
        assert_eq!(encoders.vector("a", true), None, "{what}");
        assert!(began.elapsed() < Duration::from_secs(5), "{what}: it was waited for");
    }
}

#[test]
fn a_vector_of_other_numbers_than_the_child_said_is_none() {
    let place = Place::new();
    let lies = TWO.replace("\"dims\":2", "\"dims\":3");
    let encoders = encoders(&place, &lies, &[]);
    assert_eq!(encoders.space().unwrap().dims, 3);
    assert_eq!(encoders.vector("a", false), None);
}

#[test]
fn an_encoder_that_says_nothing_of_itself_is_known_by_its_file_and_its_numbers() {
    let place = Place::new();
    let program = script(&place, "encoder", TWO);
    let vars = [("PACKSET_EMBED", program.to_str().unwrap())];
    let encoders = Encoders::find(&env(&vars), &OsFs::default(), None);
    assert_eq!(encoders.space(), None);
    encoders.vector("a", false).unwrap();
    let space = encoders.space().unwrap();
    assert_eq!((space.model.as_str(), space.dims), (program.to_str().unwrap(), 2));
    let asked = fs::read_to_string(place.root.join("encoder.log")).unwrap();
    assert!(!asked.contains("about"), "{asked}");
}

#[test]
fn a_reranker_that_is_busy_with_others_is_absent_and_has_not_failed() {
    let place = Place::new();
    let slow = r#"while read -r line; do sleep 0.9; echo '{"id":"q","s":[1.5]}'; done"#;
    let encoders = encoders(&place, slow, &[("PACKSET_EMBED_TIMEOUT_MS", "5000")]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| encoders.scores("a", &["b"]));
        std::thread::sleep(Duration::from_millis(200));
        let began = Instant::now();
        assert_eq!(encoders.scores("c", &["d"]), None);
        assert!(began.elapsed() >= Duration::from_millis(390), "{:?}", began.elapsed());
        assert_eq!(first.join().unwrap(), Some(vec![1.5]));
    });
    assert_eq!(encoders.scores("c", &["d"]), Some(vec![1.5]));
}

#[test]
fn the_real_child_is_asked_by_the_real_parent() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    // The child sees this process's environment; what it needs is put before it by a script.
    let vars: Vec<String> = place
        .vars
        .iter()
        .map(|(name, value)| format!("{}='{}'", name.display(), value.display()))
        .collect();
    let vars = vars.join(" ");
    let run = format!("echo start >> \"$0.log\"; exec env {vars} {PROGRAM} \"$@\"");
    let encoders = encoders(&place, &run, &[("PACKSET_EMBED_TIMEOUT_MS", "60000")]);
    // The system sends the child its parent's death when the thread ends that started it.
    let space = std::thread::scope(|scope| scope.spawn(|| encoders.space()).join().unwrap());
    let space = space.unwrap();
    assert_eq!((space.model.as_str(), space.dims, space.hash.len()), ("minilm", 384, 64));
    let texts: Vec<String> = (0..40).map(|at| "cat ".repeat(at)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let all = encoders.vectors(&texts, false).unwrap();
    assert_eq!(all.len(), 40);
    let alone = encoders.vector("cat cat cat", false).unwrap();
    assert!(crate::asked::dot(&all[3], &alone) > 0.999_999);
    assert_eq!(log(&place), ["start"], "the child of a thread that ended was started again");
}
