//! Every way in which a model or its runtime is not what it should be, and processes that end.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::asked::{PROGRAM, Place};
use crate::onnx::{self, Is};

fn one_sentence(said: &str) {
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("packset-embed: "), "{said}");
}

#[test]
fn a_library_that_is_missing_or_another_is_one_sentence() {
    let place = Place::new().var("ORT_DYLIB_PATH", "/nowhere/libonnxruntime.so");
    let began = Instant::now();
    let (code, said) = place.fails(&[]);
    assert_eq!(code, 69, "{said}");
    one_sentence(&said);
    assert!(said.contains("/nowhere/libonnxruntime.so cannot be loaded"), "{said}");
    assert!(said.contains("set ORT_DYLIB_PATH"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(5));
    let text = Place::new();
    fs::write(text.root.join("text.so"), "no library").unwrap();
    let text = text.var("ORT_DYLIB_PATH", "text.so");
    let (code, said) = text.fails(&["--rerank"]);
    assert_eq!(code, 69, "{said}");
    one_sentence(&said);
}

#[cfg(target_os = "linux")]
#[test]
fn another_library_is_seen_for_what_it_is() {
    // The program itself has the C library in it: that is one, and not the right one.
    let place = Place::new().var("ORT_DYLIB_PATH", "libc.so.6");
    let (code, said) = place.fails(&[]);
    assert_eq!(code, 69, "{said}");
    one_sentence(&said);
    assert!(said.contains("libc.so.6 is another library"), "{said}");
}

#[test]
fn a_graph_that_is_cut_short_or_none_is_bad_data() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let file = place.root.join(".cache/packset/embed/user/minilm/onnx/model.onnx");
    let whole = fs::read(&file).unwrap();
    for cut in [whole.len() / 2, 10, 0] {
        fs::write(&file, &whole[..cut]).unwrap();
        let (code, said) = place.fails(&[]);
        assert_eq!(code, 65, "{cut}: {said}");
        one_sentence(&said);
    }
    fs::write(&file, vec![0xff; 5000]).unwrap();
    assert_eq!(place.fails(&[]).0, 65);
    fs::write(&file, &whole).unwrap();
    let tokenizer = place.root.join(".cache/packset/embed/user/minilm/tokenizer.json");
    fs::write(&tokenizer, "{\"version\":").unwrap();
    let (code, said) = place.fails(&[]);
    assert_eq!(code, 65, "{said}");
    one_sentence(&said);
}

#[test]
fn a_model_of_another_kind_is_bad_data() {
    let Some(place) = Place::with("ms-marco-minilm", Is::Rerank) else { return };
    let (code, said) = place.fails(&[]);
    assert_eq!(
        (code, said.as_str()),
        (65, "packset-embed: ms-marco-minilm is a rerank model and not a dense one\n")
    );
    // The name is right and the graph is not.
    let dir = place.root.join(".cache/packset/embed/user/ms-marco-minilm");
    onnx::lay(&dir, Is::Dense);
    let (code, said) = place.fails(&["--rerank"]);
    assert_eq!(code, 65, "{said}");
    one_sentence(&said);
    onnx::lay(&place.root.join(".cache/packset/embed/user/minilm"), Is::Rerank);
    let place = place.var("PACKSET_EMBED_MODEL", "minilm");
    assert_eq!(place.fails(&[]).0, 65);
}

#[test]
fn the_command_line_and_the_variables_are_checked() {
    for (words, name, value) in [
        (vec!["--sparse", "--late"], "A", "b"),
        (vec!["nonsense"], "A", "b"),
        (vec![], "PACKSET_EMBED_THREADS", "many"),
        (vec!["--rerank"], "PACKSET_RERANK_MAX_LENGTH", "-1"),
    ] {
        let (code, said) = Place::new().var(name, value).fails(&words);
        assert_eq!(code, 64, "{said}");
        one_sentence(&said);
    }
    let help = Place::new().run(&["--help"]);
    assert!(help.status.success() && help.stdout.starts_with(b"packset-embed: "));
    let version = Place::new().run(&["--version"]);
    assert_eq!(version.stdout, format!("packset-embed {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
}

/// Whether a process is there and no mere entry in a table.
#[cfg(target_os = "linux")]
fn lives(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
    state.is_some_and(|state| state != 'Z')
}

#[cfg(target_os = "linux")]
#[test]
fn it_ends_with_the_process_that_started_it_though_its_input_stays_open() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    // The shell starts it with a pipe that we hold open, says its number and waits.
    let script = format!("{PROGRAM} <&3 >/dev/null 2>&1 & echo $!; wait");
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("exec 3<&0; {script}")).env_clear();
    shell.envs(place.vars.iter().map(|(a, b)| (a, b))).current_dir(&place.root);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let held = shell.stdin.take().unwrap();
    let mut said = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(shell.stdout.take().unwrap()),
        &mut said,
    )
    .unwrap();
    let id = said.trim();
    // It is past its start when it has read what it runs.
    std::thread::sleep(Duration::from_millis(500));
    assert!(lives(id), "it never ran");
    shell.kill().unwrap();
    shell.wait().unwrap();
    let began = Instant::now();
    while lives(id) {
        assert!(began.elapsed() < Duration::from_secs(5), "it outlived its parent");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(held);
}

#[test]
fn it_ends_with_its_input_and_answers_what_came_before() {
    let Some(place) = Place::with("minilm", Is::Dense) else { return };
    let file = place.root.join("lines");
    fs::write(&file, "{\"id\":1,\"text\":\"cat\"}\n{\"id\":2,\"text\":\"dog\"}").unwrap();
    let output = place.command(&[]).stdin(fs::File::open(&file).unwrap()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let ids: Vec<&str> = text.lines().map(|line| line.get(..8).unwrap()).collect();
    assert_eq!(ids, ["{\"id\":1,", "{\"id\":2,"]);
}
