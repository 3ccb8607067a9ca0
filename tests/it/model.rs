//! `packset model pull`: whole, resumed, checked, refused; against a mirror on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use packset::embed::models::{self, Model};
use sha2::{Digest as _, Sha256};

use crate::harness::{Done, Pack, Run, all_files, mode};
use crate::mirror::{Asked, Files, Mirror, Reply, plain};

/// A model none of whose files has a sum that is known beforehand.
const NAME: &str = "bge-base";
/// Bytes of its model file here: several pieces of a transfer, and no whole number of them.
const SIZE: usize = 300_001;

fn model() -> &'static Model {
    models::find(NAME).unwrap()
}

/// The path of one of its files on a hub.
fn remote(local: &str) -> String {
    let model = model();
    let file = model.files.iter().find(|file| file.local == local).unwrap();
    format!("/{}/resolve/{}/{}", model.repository, model.revision, file.path)
}

fn onnx() -> Vec<u8> {
    (0..SIZE).map(|n| (n * 31 % 251) as u8).collect()
}

/// What the hub has of it.
fn files() -> Files {
    let mut files = Files::new();
    for file in model().files {
        let bytes = match file.local {
            "onnx/model.onnx" => onnx(),
            other => format!("{{\"file\":{other:?}}}").into_bytes(),
        };
        files.insert(remote(file.local), bytes);
    }
    files
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A pack whose models go where it does.
fn pack() -> Pack {
    let pack = Pack::new();
    let cache = pack.root.join("cache");
    pack.var("PACKSET_EMBED_CACHE", cache)
}

fn cache(pack: &Pack) -> PathBuf {
    pack.root.join("cache")
}

fn dir(pack: &Pack) -> PathBuf {
    cache(pack).join("user").join(NAME)
}

fn part(pack: &Pack) -> PathBuf {
    cache(pack).join(format!("user/.{NAME}.part/onnx/model.onnx.part"))
}

fn pull(pack: &Pack, mirror: &Mirror) -> Run {
    pack.run(["model", "pull", NAME, "--no-runtime", "--mirror", &mirror.url])
}

/// The model is here whole, and nothing is left over.
#[track_caller]
fn is_whole(pack: &Pack) {
    assert_eq!(fs::read(dir(pack).join("onnx/model.onnx")).unwrap(), onnx());
    for file in model().files {
        assert!(dir(pack).join(file.local).is_file(), "{}", file.local);
    }
    let mut left: Vec<String> = fs::read_dir(cache(pack).join("user"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [format!(".{NAME}.lock"), NAME.to_owned()]);
}

#[track_caller]
fn is_not_here(pack: &Pack) {
    assert!(!dir(pack).exists(), "half of it has a name");
}

/// Starts a pull and ends it by force when so many bytes of the model are here.
fn killed_at(pack: &Pack, mirror: &Mirror, bytes: usize) {
    let mut run = pull(pack, mirror);
    let mut child = run.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while fs::metadata(part(pack)).map_or(0, |found| found.len()) < bytes as u64 {
        assert!(began.elapsed() < Duration::from_secs(20), "the part does not grow");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_model_comes_whole_and_once() {
    let (pack, mut files) = (pack(), files());
    let list: String = files
        .iter()
        .map(|(path, bytes)| format!("{}  {}\n", sum(bytes), path.trim_start_matches('/')))
        .collect();
    files.insert("/SHA256SUMS".into(), list.into());
    let mirror = Mirror::of(files);
    let done = pull(&pack, &mirror).done().code(0);
    assert_eq!(done.out, format!("{}\n", dir(&pack).display()));
    let lines: Vec<&str> = done.err.lines().collect();
    assert_eq!(lines.len(), model().files.len(), "{lines:?}");
    let line =
        format!("onnx/model.onnx, 0.3 MB, {}, checked: sha256 as in SHA256SUMS", sum(&onnx()));
    assert_eq!(lines[0], format!("packset: {line}"));
    is_whole(&pack);
    assert_eq!((mode(&cache(&pack)), mode(&dir(&pack))), (0o700, 0o700));
    let kept = fs::read_to_string(dir(&pack).join("SHA256SUMS")).unwrap();
    assert!(kept.contains(&format!("{}  onnx/model.onnx\n", sum(&onnx()))), "{kept}");
    // What is here asks nobody, offline or not.
    let before = mirror.connections();
    let again = pull(&pack, &mirror).var("LJOS_OFFLINE", "1").done().code(0);
    assert_eq!(again.err, format!("packset: {NAME} is here\n"));
    assert_eq!(mirror.connections(), before);
    let listed = pack.ok(["model", "--json"]).json_lines();
    let mine = listed.iter().find(|line| line["model"]["name"] == NAME).unwrap();
    assert_eq!(mine["model"]["path"], dir(&pack).to_str().unwrap());
    assert_eq!(mine["model"]["here"], true);
}

#[test]
fn a_hub_says_sums_on_the_way_to_the_content() {
    let (pack, files) = (pack(), files());
    let found = files.clone();
    let mirror = Mirror::new(move |asked, _| {
        if let Some(path) = asked.path.strip_prefix("/cdn") {
            let asked = Asked { path: path.to_owned(), ..asked.clone() };
            return plain(&found, &asked, "\"not-a-sum\"");
        }
        match found.get(&asked.path) {
            None => Reply::new(404, ""),
            Some(bytes) => {
                let reply = Reply::new(302, "").header("location", &format!("/cdn{}", asked.path));
                // A hub has no sha256 of its small files.
                match asked.path.ends_with(".onnx") {
                    true => reply.header("x-linked-etag", &format!("\"{}\"", sum(bytes))),
                    false => reply,
                }
            }
        }
    });
    let run = pack.run(["model", "pull", model().repository, "--no-runtime", "--json"]);
    let answer = run.var("HF_ENDPOINT", format!("{}/", mirror.url)).done().code(0).json();
    is_whole(&pack);
    let checked = |file: &str| {
        let of = answer["fetched"].as_array().unwrap().iter().find(|it| it["file"] == file);
        of.unwrap()["checked"].as_str().unwrap().to_owned()
    };
    assert_eq!(answer["name"], NAME);
    assert_eq!(checked("onnx/model.onnx"), "sha256 as the server says");
    assert!(checked("tokenizer.json").starts_with("length and form alone"));
    assert!(mirror.asked_for("SHA256SUMS").is_empty(), "a hub has no such list");
}

#[test]
fn a_broken_connection_is_taken_up_where_it_broke() {
    let (pack, files) = (pack(), files());
    let half = SIZE / 2;
    let mirror = Mirror::new(move |asked, before| {
        let reply = plain(&files, asked, "\"one\"");
        match asked.path.ends_with(".onnx") && before == 0 {
            true => reply.cut(half),
            false => reply,
        }
    });
    pull(&pack, &mirror).done().code(0);
    is_whole(&pack);
    let asked = mirror.asked_for(".onnx");
    let from: Vec<Option<usize>> = asked.iter().map(|asked| asked.from).collect();
    assert_eq!(from, [None, Some(half)]);
    assert_eq!(asked[1].if_range.as_deref(), Some("\"one\""));
}

#[test]
fn a_killed_pull_is_taken_up_by_the_next() {
    let (pack, found) = (pack(), files());
    let half = SIZE / 2;
    let stalls = Mirror::new(move |asked, before| {
        let reply = plain(&found, asked, "\"one\"");
        match asked.path.ends_with(".onnx") && before == 0 {
            true => reply.cut(half).stall(),
            false => reply,
        }
    });
    killed_at(&pack, &stalls, half);
    is_not_here(&pack);
    pack.run(["model", "use", NAME]).done().fails(1);
    let done = pull(&pack, &stalls).done().code(0);
    is_whole(&pack);
    assert_eq!(stalls.asked_for(".onnx").last().unwrap().from, Some(half));
    // Files are told once each, the model's after its rest came.
    assert_eq!(done.err.lines().count(), model().files.len());
}

/// Kills a pull in the middle, and pulls again from a server that answers otherwise.
fn taken_up(second: impl Fn(&Files, &Asked) -> Reply + Send + Sync + 'static) -> (Pack, Done) {
    let (pack, found) = (pack(), files());
    let mirror = Mirror::new(move |asked, before| {
        match (asked.path.ends_with(".onnx"), before) {
            (true, 0) => {
                // What comes first is another file than what comes then.
                let other: Vec<u8> = onnx().iter().map(|byte| byte ^ 1).collect();
                Reply::new(200, other).header("etag", "\"one\"").cut(SIZE / 2).stall()
            }
            (true, _) => second(&found, asked),
            (false, _) => plain(&found, asked, "\"two\""),
        }
    });
    killed_at(&pack, &mirror, SIZE / 2);
    let done = pull(&pack, &mirror).done();
    (pack, done)
}

#[test]
fn beginnings_and_ends_of_two_contents_are_never_joined() {
    // The server knows that its content changed: it sends all of it.
    let (pack, done) = taken_up(|files, asked| plain(files, asked, "\"two\""));
    done.code(0);
    is_whole(&pack);
    // It minds no ranges.
    let (pack, done) =
        taken_up(|files, asked| plain(files, &Asked { from: None, ..asked.clone() }, "\"two\""));
    done.code(0);
    is_whole(&pack);
    // It minds the range and not the tag.
    let (pack, done) = taken_up(|files, asked| {
        plain(files, &Asked { if_range: None, ..asked.clone() }, "\"two\"")
    });
    done.code(0);
    is_whole(&pack);
}

#[test]
fn what_has_another_sum_is_removed_and_both_are_said() {
    let (pack, mut files) = (pack(), files());
    let wrong = "0".repeat(64);
    let path = remote("onnx/model.onnx");
    files.insert("/SHA256SUMS".into(), format!("{wrong}  {}\n", &path[1..]).into());
    let mirror = Mirror::of(files);
    let done = pull(&pack, &mirror).done().fails(65);
    done.err_has(&sum(&onnx())).err_has(&wrong).err_has("onnx/model.onnx");
    is_not_here(&pack);
    assert!(!part(&pack).exists());
    assert_eq!(mirror.asked_for(".onnx").len(), 1, "it would be the same again");
}

#[test]
fn a_page_in_the_place_of_a_small_file_is_none() {
    let (pack, mut files) = (pack(), files());
    files.insert(remote("tokenizer.json"), b"<html>log in first</html>".to_vec());
    let mirror = Mirror::of(files);
    pull(&pack, &mirror).done().fails(65).err_has("tokenizer.json").err_has("no JSON");
    is_not_here(&pack);
}

#[test]
fn a_file_that_is_missing_matters_if_the_model_needs_it() {
    let (pack, mut found) = (pack(), files());
    let spare = model().files.iter().find(|file| !file.needed).unwrap().local;
    found.remove(&remote(spare));
    pull(&pack, &Mirror::of(found)).done().code(0);
    assert!(!dir(&pack).join(spare).exists());
    let other = self::pack();
    let mut found = files();
    found.remove(&remote("tokenizer.json"));
    let done = pull(&other, &Mirror::of(found)).done().fails(1);
    done.err_has("tokenizer.json").err_has("404");
    is_not_here(&other);
}

#[test]
fn a_server_that_fails_once_is_asked_again() {
    let (pack, files) = (pack(), files());
    let mirror = Mirror::new(move |asked, before| match before {
        0 if asked.path.ends_with(".onnx") => Reply::new(500, "oops"),
        1 if asked.path.ends_with(".onnx") => Reply::new(429, "").header("retry-after", "0"),
        _ => plain(&files, asked, "\"one\""),
    });
    pull(&pack, &mirror).done().code(0);
    is_whole(&pack);
    let refusing = Mirror::new(|asked, _| match asked.path.ends_with("SHA256SUMS") {
        true => Reply::new(404, ""),
        false => Reply::new(403, ""),
    });
    let other = self::pack();
    pull(&other, &refusing).done().fails(1).err_has("403");
    assert_eq!(refusing.asked_for(".onnx").len(), 1, "it will not change its mind");
}

#[test]
fn offline_nobody_is_asked() {
    let (pack, mirror) = (pack(), Mirror::of(files()));
    for (name, value) in [("LJOS_OFFLINE", "1"), ("HF_HUB_OFFLINE", "TRUE")] {
        let done = pull(&pack, &mirror).var(name, value).done().fails(1);
        done.err_has(name).err_has("nothing is fetched");
        let run = pack.run(["model", "pull", "static", "--runtime", "--mirror", &mirror.url]);
        run.var(name, value).done().fails(1).err_has(name);
    }
    assert_eq!(mirror.connections(), 0);
    pack.run(["model"]).var("LJOS_OFFLINE", "1").done().code(0);
    pull(&pack, &mirror).var("LJOS_OFFLINE", "0").done().code(0);
}

#[test]
fn a_proxy_that_will_not_is_named() {
    let (pack, mirror) = (pack(), Mirror::of(files()));
    let proxy = Mirror::new(|_, _| Reply::new(403, "no"));
    let at = proxy.url.trim_start_matches("http://").to_owned();
    let through = |url: &str| pull(&pack, &mirror).var("HTTP_PROXY", url);
    let done = through(&proxy.url.replace("//", "//me:hunter2@")).done().fails(74);
    done.err_has(&format!("through the proxy {at}")).never_says("hunter2");
    through("http://127.0.0.1:1").done().fails(74).err_has("through the proxy 127.0.0.1:1");
    through("gopher://h").done().fails(64).err_has("HTTP_PROXY is \"gopher://h\"");
    assert_eq!(mirror.connections(), 0, "nobody goes past a proxy");
    through(&proxy.url).var("NO_PROXY", "127.0.0.1").done().code(0);
    is_whole(&pack);
}

#[test]
fn addresses_that_are_none() {
    let pack = pack();
    for bad in ["ftp://h", "models.example.org", "http://", "https://me:pw@h"] {
        let run = pack.run(["model", "pull", NAME, "--mirror", bad]);
        run.done().fails(64).err_has("--mirror is ").never_says("pw@");
    }
    let nowhere = pack.run(["model", "pull", NAME]).no_var("PACKSET_EMBED_CACHE").no_var("HOME");
    nowhere.done().fails(1).err_has("PACKSET_EMBED_CACHE");
}

#[test]
fn two_pulls_at_once_fetch_it_once() {
    let (pack, files) = (pack(), files());
    let mirror = Mirror::new(move |asked, _| {
        std::thread::sleep(Duration::from_millis(30));
        plain(&files, asked, "\"one\"")
    });
    let start = || {
        let mut run = pull(&pack, &mirror);
        run.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()];
    let ends = both.map(|child| Done::of("pull".into(), child.wait_with_output().unwrap()).code(0));
    is_whole(&pack);
    assert_eq!(mirror.asked_for(".onnx").len(), 1);
    let here = ends.iter().filter(|end| end.err.ends_with(&format!("{NAME} is here\n"))).count();
    assert_eq!(here, 1);
}

#[test]
fn a_full_disk_keeps_what_is_there() {
    let (pack, mirror) = (pack(), Mirror::of(files()));
    let run = pull(&pack, &mirror);
    let args: Vec<_> = run.command.get_args().map(ToOwned::to_owned).collect();
    // At most 64 or 128 KiB a file, and no signal for whoever wants more.
    let mut limited = pull(&pack, &mirror);
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, crate::harness::PROGRAM]).args(args);
    command.env_clear().current_dir(pack.work());
    for (name, value) in limited.command.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    limited.command = command;
    let done = limited.done().fails(74);
    done.err_has("no room for").err_has("goes on where it broke off");
    is_not_here(&pack);
    let kept = fs::metadata(part(&pack)).unwrap().len() as usize;
    assert!(kept > 0 && kept < SIZE, "{kept}");
    pull(&pack, &mirror).done().code(0);
    is_whole(&pack);
    assert_eq!(mirror.asked_for(".onnx").last().unwrap().from, Some(kept));
}

#[test]
fn names_that_are_none() {
    let pack = pack();
    let asked = |name: &str| pack.run(["model", "pull", name]).done().fails(1);
    asked("bge-bse").err_has("there is no model \"bge-bse\"").err_has("did you mean bge-base?");
    asked("../../etc").err_has("there is no model").never_says("did you mean");
    asked("nobody/nothing").err_has("`packset model` lists them");
    // One that is known, and not to be had.
    asked("splade-tiny").err_has("is in no hub").err_has("user/splade-tiny");
    assert!(!cache(&pack).exists());
}

#[test]
fn what_others_put_there_is_not_touched() {
    let (pack, mirror) = (pack(), Mirror::of(files()));
    fs::create_dir_all(dir(&pack).join("onnx")).unwrap();
    fs::write(dir(&pack).join("onnx/model.onnx"), "mine").unwrap();
    pull(&pack, &mirror).done().fails(1).err_has("lacks tokenizer.json");
    fs::write(dir(&pack).join("tokenizer.json"), "{}").unwrap();
    pull(&pack, &mirror).done().code(0).err_has("is here");
    assert_eq!(fs::read(dir(&pack).join("onnx/model.onnx")).unwrap(), b"mine");
    assert_eq!(mirror.connections(), 0);
}

#[test]
fn the_library_comes_from_the_mirror_too() {
    let library = packset::fetch::runtime::file_name();
    let path = format!("/lib/{library}");
    let (pack, mut files) = (pack(), files());
    files.insert(path.clone(), b"a library".to_vec());
    files.insert("/SHA256SUMS".into(), format!("{}  lib/{library}\n", sum(b"a library")).into());
    let mirror = Mirror::of(files);
    let line = ["model", "pull", NAME, "--runtime", "--json", "--mirror", &mirror.url];
    let answer = pack.ok(line).json();
    let here = cache(&pack).join("lib").join(library);
    assert_eq!(fs::read(&here).unwrap(), b"a library");
    assert_eq!(answer["runtime"]["path"], here.to_str().unwrap());
    assert_eq!(answer["runtime"]["fetched"]["checked"], "sha256 as in SHA256SUMS");
    is_whole(&pack);
    let left = all_files(&cache(&pack).join("lib"));
    let names: Vec<&Path> = left.iter().map(|(path, _)| path.as_path()).collect();
    assert_eq!(names, [&cache(&pack).join("lib/.runtime.lock"), &here]);
    let doctor = pack.ok(["doctor"]);
    doctor.out_has(&format!("runtime\t{} (the cache)", here.display()));
    // Found, it is not fetched again; a mirror without one says so and leaves the model.
    pack.ok(["model", "pull", NAME, "--mirror", &mirror.url]);
    assert_eq!(mirror.asked_for(&path).len(), 1);
    let other = self::pack();
    let without = Mirror::of(self::files());
    let line = ["model", "pull", NAME, "--runtime", "--mirror", &without.url];
    other.run(line).done().code(1).err_has(&path).err_has("404");
    is_whole(&other);
}
