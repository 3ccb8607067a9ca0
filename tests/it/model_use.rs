//! `packset model use` and `check`: what the pack is set to, and what asks for it.

use std::fs;
use std::path::PathBuf;

use packset::embed::models;

use crate::harness::{Pack, set_mode};

const NAME: &str = "bge-base";

/// A pack with a model that was put there by hand.
fn pack() -> Pack {
    let pack = Pack::new();
    let cache = pack.root.join("cache");
    let dir = cache.join("user").join(NAME);
    fs::create_dir_all(dir.join("onnx")).unwrap();
    for file in models::find(NAME).unwrap().files {
        fs::write(dir.join(file.local), "{}").unwrap();
    }
    pack.var("PACKSET_EMBED_CACHE", cache)
}

/// An encoder that knows subjects by their words, and says which model it was asked to be. A
/// subject is a direction of its own; what has none shares a direction too.
fn encoder(pack: &Pack, dims: usize, subjects: &[&str]) -> PathBuf {
    let path = pack.root.join("encoder");
    let vector = |subject: usize| {
        let numbers = (0..dims).map(|n| if n == subject { "1" } else { "0" });
        numbers.collect::<Vec<_>>().join(",")
    };
    let says = |subject| format!("echo '{{\"id\":\"0\",\"v\":[{}]}}'", vector(subject));
    let cases: String = subjects
        .iter()
        .enumerate()
        .map(|(subject, words)| format!("{words}) {};;\n", says(subject)))
        .collect();
    let script = format!(
        "#!/bin/sh\necho \"${{PACKSET_EMBED_MODEL-unset}}\" >> \"$0.log\"\n\
         while read -r line; do case $line in\n{cases}*) {};;\nesac; done\n",
        says(dims - 1)
    );
    fs::write(&path, script).unwrap();
    set_mode(&path, 0o755);
    path
}

/// The subjects of the verb's own texts.
const KNOWING: [&str; 4] =
    ["*assword*|*redentials*", "*cat*|*feline*", "*answers*|*esponses*", "*Friday*|*release*"];

fn in_use(pack: &Pack) -> Vec<String> {
    let listed = pack.ok(["model", "list", "--json"]).json_lines();
    let used = listed.iter().map(|line| &line["model"]).filter(|model| model["in_use"] == true);
    used.map(|model| model["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_pack_is_set_to_a_model() {
    let pack = pack();
    assert_eq!(in_use(&pack), ["static"], "unless it is set");
    let away = pack.run(["model", "use", "bge-large"]).done().fails(1);
    away.err_has("bge-large is not here").err_has("`packset model pull bge-large`");
    pack.run(["model", "use", "bge-bas"]).done().fails(1).err_has("did you mean bge-base?");
    let rerank = pack.run(["model", "use", "jina-turbo"]).done().fails(1);
    rerank.err_has("PACKSET_RERANK_MODEL=jina-turbo");
    assert!(!pack.home().exists(), "nothing was written");
    let done = pack.ok(["model", "use", "BGE-Base-en-v1.5"]).out("bge-base\n");
    assert!(
        done.err.contains("the vectors that static made stay")
            && done.err.contains("`packset embed`")
    );
    assert_eq!(in_use(&pack), [NAME]);
    pack.ok(["model", "use", NAME]).err("");
    let env = pack.run(["model", "use", NAME]).var("PACKSET_EMBED_MODEL", "minilm").done().code(0);
    env.err_has("PACKSET_EMBED_MODEL is minilm, and wins");
    let answer = pack.ok(["model", "use", "none", "--json"]).json();
    assert_eq!((&answer["model"], &answer["before"]), (&"none".into(), &NAME.into()));
    assert_eq!(in_use(&pack), [""; 0]);
    pack.ok(["model", "use", "static"]);
    assert_eq!(in_use(&pack), ["static"]);
    // It belongs to the pack, not to a workspace.
    assert!(pack.home().join("sys").is_dir() && !pack.home().join("ws").exists());
    let remote = pack.run(["model", "use", NAME]).var("PACKSET_URL", "http://127.0.0.1:1");
    remote.done().fails(1).err_has("PACKSET_URL names a writer");
}

#[test]
fn an_encoder_is_told_what_the_pack_is_set_to() {
    let pack = pack();
    let program = encoder(&pack, 5, &KNOWING);
    let pack = pack.var("PACKSET_EMBED", &program);
    let asked = || {
        let log = program.with_extension("log");
        let said = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        said.trim().to_owned()
    };
    pack.remember("The cat is out.");
    assert_eq!(asked(), "unset");
    pack.ok(["model", "use", NAME]);
    assert_eq!(asked(), "");
    pack.ok(["search", "feline"]);
    assert_eq!(asked(), NAME);
    pack.run(["search", "feline"]).var("PACKSET_EMBED_MODEL", "minilm").done().code(0);
    assert_eq!(asked(), "minilm");
}

#[test]
fn a_model_is_checked_through_the_child_that_searches_ask() {
    let pack = pack();
    pack.run(["model", "check"]).done().fails(1).err_has("static runs no model");
    pack.run(["model", "check", "minilm"]).done().fails(1).err_has("`packset model pull minilm`");
    let gone = pack.root.join("gone.so");
    let without = pack.run(["model", "check", NAME]).var("ORT_DYLIB_PATH", &gone).done().code(1);
    without.out_has("fail\truntime\tthere is no ONNX Runtime").out_has("--runtime");
    let library = pack.root.join("library.so");
    fs::write(&library, "x").unwrap();
    let check = |pack: &Pack, dims: usize, known: &[&str]| {
        let program = encoder(pack, dims, known);
        let run = pack.run(["model", "check", NAME]).var("PACKSET_EMBED", program);
        run.var("ORT_DYLIB_PATH", &library).var("INSIDE_EMBED", "off").done()
    };
    let done = check(&pack, 768, &KNOWING).code(0);
    for line in ["ok\tfiles\t", "ok\truntime\t", "ok\tencoder\t", "ok\tdims\t768\n"] {
        assert!(done.out.contains(line), "{line}: {}", done.out);
    }
    // One that means the same is at 1, one that does not at 0.
    done.out_has("ok\tlikeness\ttexts that mean the same are nearer by 1.000 or more");
    let log = fs::read_to_string(pack.root.join("encoder.log")).unwrap();
    assert_eq!(log.trim(), NAME, "whatever is in use");
    check(&pack, 5, &KNOWING).code(1).out_has("fail\tdims\t5, and should be 768");
    check(&pack, 768, &[]).code(1).out_has("fail\tlikeness\t");
    let dir = pack.root.join("cache/user").join(NAME);
    fs::write(dir.join("SHA256SUMS"), format!("{}  config.json\n", "0".repeat(64))).unwrap();
    let rotten = check(&pack, 768, &KNOWING).code(1);
    rotten.out_has("fail\tfiles\t").out_has("config.json").never_says("likeness");
}

#[test]
fn doctor_says_what_is_missing() {
    let pack = pack();
    pack.ok(["model", "use", NAME]);
    let cached = pack.root.join("cache/user").join(NAME);
    pack.ok(["doctor"])
        .out_has(&format!("model\t{NAME} (packset model use) in {}", cached.display()));
    fs::remove_file(cached.join("tokenizer.json")).unwrap();
    pack.ok(["doctor"]).out_has("warn\tmodel\t").out_has("lacks tokenizer.json");
    let run = pack.run(["doctor"]).var("PACKSET_EMBED_MODEL", "minilm").done().code(0);
    run.out_has("minilm (PACKSET_EMBED_MODEL) is not in ")
        .out_has("fix: packset model pull minilm");
    let gone = pack.root.join("gone.so");
    let run = pack.run(["doctor"]).var("ORT_DYLIB_PATH", gone).done().code(0);
    run.out_has("warn\truntime\t").out_has(&format!("fix: packset model pull {NAME} --runtime"));
}
