//! The workspace that a git repository stands for, read from its files.
//!
//! git itself is never run: starting it costs more than a whole search. What that leaves out:
//! `include` is not followed, `insteadOf` not applied, `config.worktree` and `GIT_DIR` not looked
//! at. Invariants: the answer depends on the repository, not on which of its worktrees or
//! subdirectories one stands in; of a remote's URL only host and path are kept, never a user or
//! a password.

use std::path::{Path, PathBuf};

use packset_segments::vfs::{Kind, Vfs};

use super::{Look, check_name, clean, is_answer, look};

/// Largest file of git's that is read, in bytes. Configurations are a few KiB even with thousands
/// of branches; the bound keeps a hostile directory from costing memory.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A repository's name and where it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// `git:host/path`.
    pub name: String,
    /// The remote that names it.
    pub remote: String,
    /// The configuration that has the remote.
    pub config: PathBuf,
}

/// Why git names no workspace.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Miss {
    #[error("no git repository at or above {}", .0.display())]
    NoRepository(PathBuf),
    #[error("{} cannot be read as git writes it", .0.display())]
    Unreadable(PathBuf),
    #[error("no remote in {}", .0.display())]
    NoRemote(PathBuf),
    #[error("remote {remote} in {} is no network address", config.display())]
    NoAddress { remote: String, config: PathBuf },
    #[error(transparent)]
    Look(#[from] Look),
}

/// Names the repository that holds `directory`, an absolute path: the nearest `.git` upwards or
/// the nearest bare repository, and in it remote `origin`, else the first that has a URL.
pub(super) fn remote_of(directory: &Path, vfs: &dyn Vfs) -> Result<Found, Miss> {
    let config = common_directory(directory, vfs)?.join("config");
    let bytes = read(&config, vfs)?;
    // For the eye: a worktree leads here through `worktrees/NAME/../..`.
    let config = clean(&config);
    let bytes = bytes.ok_or_else(|| Miss::Unreadable(config.clone()))?;
    let remotes = remotes(&bytes);
    let chosen = remotes.iter().find(|remote| remote.name == b"origin").or(remotes.first());
    let Some(chosen) = chosen else {
        return Err(Miss::NoRemote(config));
    };
    let remote = String::from_utf8_lossy(&chosen.name).into_owned();
    match std::str::from_utf8(&chosen.url).ok().and_then(name_of_url) {
        Some(name) => Ok(Found { name, remote, config }),
        None => Err(Miss::NoAddress { remote, config }),
    }
}

/// The directory that the worktrees of the repository around `directory` share.
fn common_directory(directory: &Path, vfs: &dyn Vfs) -> Result<PathBuf, Miss> {
    for at in directory.ancestors() {
        let dot_git = at.join(".git");
        let own = match look(&dot_git, vfs)? {
            Some(Kind::File(_)) => {
                // What the file leads to is the repository, or there is none: going on upwards
                // would give a broken worktree the outer repository's claims.
                let to = pointer(&dot_git, b"gitdir:", at, vfs)?;
                to.ok_or_else(|| Miss::Unreadable(dot_git.clone()))?
            }
            // An empty .git is none, to git as well.
            Some(Kind::Dir) if is_file(&dot_git.join("HEAD"), vfs)? => dot_git,
            _ if is_bare(at, vfs)? => at.to_owned(),
            _ => continue,
        };
        return Ok(pointer(&own.join("commondir"), b"", &own, vfs)?.unwrap_or(own));
    }
    Err(Miss::NoRepository(directory.to_owned()))
}

fn is_file(path: &Path, vfs: &dyn Vfs) -> Result<bool, Look> {
    Ok(matches!(look(path, vfs)?, Some(Kind::File(_))))
}

/// Whether the directory is itself what `.git` is elsewhere.
fn is_bare(at: &Path, vfs: &dyn Vfs) -> Result<bool, Look> {
    Ok(is_file(&at.join("HEAD"), vfs)?
        && is_file(&at.join("config"), vfs)?
        && look(&at.join("objects"), vfs)? == Some(Kind::Dir)
        && look(&at.join("refs"), vfs)? == Some(Kind::Dir))
}

/// A file of one line that names a path, taken from `base` when it is relative.
fn pointer(
    file: &Path,
    prefix: &[u8],
    base: &Path,
    vfs: &dyn Vfs,
) -> Result<Option<PathBuf>, Look> {
    let Some(bytes) = read(file, vfs)? else { return Ok(None) };
    let text = bytes.strip_prefix(prefix).and_then(|rest| std::str::from_utf8(rest).ok());
    let path = text.map(|text| text.trim_start_matches(' ').trim_end_matches(['\n', '\r']));
    Ok(path.filter(|path| !path.is_empty()).map(|path| base.join(path)))
}

fn read(path: &Path, vfs: &dyn Vfs) -> Result<Option<Vec<u8>>, Look> {
    match look(path, vfs)? {
        Some(Kind::File(len)) if len <= FILE_MAX_BYTES => match vfs.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_answer(&error) => Ok(None),
            Err(error) => Err(Look { path: path.to_owned(), why: error.to_string() }),
        },
        _ => Ok(None),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Remote {
    name: Vec<u8>,
    url: Vec<u8>,
}

/// The remotes of a configuration that have a URL, each with its first, in the file's order.
/// A line that git would refuse is passed over.
fn remotes(config: &[u8]) -> Vec<Remote> {
    let mut remotes: Vec<Remote> = Vec::new();
    let mut section = None;
    let mut rest = Scan(config.strip_prefix(b"\xef\xbb\xbf").unwrap_or(config));
    while let Some(first) = rest.peek() {
        match first {
            b'[' => section = rest.header(),
            b' ' | b'\t' | b'\r' | b'\n' => {
                rest.next();
            }
            b'#' | b';' => rest.skip_line(),
            _ => {
                let (key, value) = rest.entry();
                let (Some(name), Some(url)) = (&section, value) else {
                    continue;
                };
                let known = remotes.iter().any(|remote| remote.name == *name);
                if key.eq_ignore_ascii_case(b"url") && !url.is_empty() && !known {
                    remotes.push(Remote { name: name.clone(), url });
                }
            }
        }
    }
    remotes
}

/// What is left of a configuration; a CR before a newline is part of the newline.
struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        match self.0 {
            [b'\r', b'\n', ..] => Some(b'\n'),
            bytes => bytes.first().copied(),
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (byte, rest) = match self.0 {
            [b'\r', b'\n', rest @ ..] => (b'\n', rest),
            [byte, rest @ ..] => (*byte, rest),
            [] => return None,
        };
        self.0 = rest;
        Some(byte)
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut taken = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| wanted(*byte)) {
            taken.push(byte);
            self.next();
        }
        taken
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// Reads `[remote "NAME"]` or the old `[remote.name]`; `None` for any other section.
    fn header(&mut self) -> Option<Vec<u8>> {
        self.next();
        let words = self.take_while(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let words = words.to_ascii_lowercase();
        self.take_while(|byte| b" \t".contains(&byte));
        let mut quoted = None;
        if self.peek() == Some(b'"') {
            self.next();
            quoted = Some(self.quoted()?);
        }
        if self.peek() != Some(b']') {
            self.skip_line();
            return None;
        }
        self.next();
        match quoted {
            Some(name) => (words == b"remote").then_some(name),
            None => words.strip_prefix(b"remote.").map(<[u8]>::to_vec),
        }
    }

    /// Reads a subsection's name up to its closing quote; it may not span lines.
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Some(name),
                b'\n' => return None,
                b'\\' => name.push(self.next()?),
                byte => name.push(byte),
            }
        }
    }

    /// Reads `key = value` to the end of its line; without `=` there is no value.
    fn entry(&mut self) -> (Vec<u8>, Option<Vec<u8>>) {
        let key = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        self.take_while(|byte| b" \t".contains(&byte));
        if self.peek() != Some(b'=') {
            self.skip_line();
            return (key, None);
        }
        self.next();
        (key, self.value())
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        // Blanks at the end do not count unless they are quoted.
        let mut end = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                None | Some(b'\n') if quoted => return None,
                None | Some(b'\n') => break,
                Some(b'#' | b';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some(b'"') => quoted = !quoted,
                Some(b' ' | b'\t') if !quoted && value.is_empty() => {}
                Some(byte @ (b' ' | b'\t')) if !quoted => value.push(byte),
                Some(b'\\') => {
                    match self.next()? {
                        b'\n' => continue,
                        b'n' => value.push(b'\n'),
                        b't' => value.push(b'\t'),
                        b'b' => value.push(8),
                        byte @ (b'"' | b'\\') => value.push(byte),
                        _ => {
                            self.skip_line();
                            return None;
                        }
                    }
                    end = value.len();
                }
                Some(byte) => {
                    value.push(byte);
                    end = value.len();
                }
            }
        }
        value.truncate(end);
        Some(value)
    }
}

/// `git:host/path` of a URL or of `[user@]host:path`; `None` for a path of this machine, a
/// transport of its own, or anything that could not be a workspace's name.
fn name_of_url(url: &str) -> Option<String> {
    const SCHEMES: [&str; 6] = ["http", "https", "ssh", "git", "git+ssh", "ssh+git"];
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let scheme = scheme.to_ascii_lowercase();
            if !SCHEMES.contains(&scheme.as_str()) {
                return None;
            }
            let (authority, path) = rest.split_once('/')?;
            (without_port(after_user(authority))?, path)
        }
        None => {
            let (host, path) = scp_form(url)?;
            (without_port(host)?, path)
        }
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return None;
    }
    let name = format!("git:{}/{path}", host.to_ascii_lowercase());
    check_name(&name).is_ok().then_some(name)
}

fn after_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`; the brackets of an IPv6 address stay.
fn without_port(host: &str) -> Option<&str> {
    if host.starts_with('[') {
        let end = host.find(']')?;
        return host.get(..=end);
    }
    Some(host.split_once(':').map_or(host, |(host, _)| host))
}

/// Splits `[user@]host:path`, `[user@][v6]:path` and `[user@][host:port]:path`. As git has it, a
/// slash before the colon makes it a path of this machine.
fn scp_form(url: &str) -> Option<(&str, &str)> {
    let start = url.find([':', '/', '['])?;
    let (host, path) = match url.as_bytes().get(start)? {
        b'[' => {
            let (inner, path) = url.get(start + 1..)?.split_once("]:")?;
            // Two colons make an address, one sets off a port.
            let address = after_user(inner).matches(':').count() > 1;
            let host = if address { url.get(start..start + inner.len() + 2)? } else { inner };
            (after_user(host), path)
        }
        b':' => {
            let (host, path) = url.split_at(start);
            (after_user(host), path.get(1..)?)
        }
        _ => return None,
    };
    // `ext::command` is a transport helper, `C:\dir` a drive.
    let foreign = path.starts_with(':') || (host.len() == 1 && path.starts_with('\\'));
    (!foreign).then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, Real};

    #[test]
    fn urls() {
        let table = [
            ("https://github.com/own/repo.git", Some("git:github.com/own/repo")),
            ("https://github.com/own/repo", Some("git:github.com/own/repo")),
            (
                "http://u:p@w@Git.Example.ORG:8080/Own/Repo.git/",
                Some("git:git.example.org/Own/Repo"),
            ),
            ("ssh://git@host:22/~me//x.git", Some("git:host/~me/x")),
            ("git+ssh://host/x", Some("git:host/x")),
            ("git://host/a/b/c", Some("git:host/a/b/c")),
            ("HTTPS://H/x", Some("git:h/x")),
            ("ssh://git@[2001:DB8::1]:2222/x.git", Some("git:[2001:db8::1]/x")),
            ("git@github.com:own/repo.git", Some("git:github.com/own/repo")),
            ("host:/srv/x.git", Some("git:host/srv/x")),
            ("me@host:x", Some("git:host/x")),
            ("git@[::1]:x/y", Some("git:[::1]/x/y")),
            ("[git@host:2222]:x/y.git", Some("git:host/x/y")),
            ("host:a.git.git", Some("git:host/a.git")),
            ("/srv/x.git", None),
            ("../x.git", None),
            ("./a:b", None),
            ("file:///srv/x", None),
            ("ext::sh -c x", None),
            ("C:\\dir\\x", None),
            ("ftp://host/x", None),
            ("https://host", None),
            ("https://host/", None),
            ("https:///x", None),
            ("host:.git", None),
            ("plain", None),
            ("", None),
            ("https://h/a\u{7}b", None),
        ];
        for (url, name) in table {
            assert_eq!(name_of_url(url).as_deref(), name, "{url}");
        }
        let long = format!("https://h/{}", "x".repeat(512));
        assert_eq!(name_of_url(&long), None);
    }

    fn pairs(config: &str) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        remotes(config.as_bytes()).iter().map(|r| (text(&r.name), text(&r.url))).collect()
    }

    #[test]
    fn configurations() {
        let table: [(&str, &[(&str, &str)]); 18] = [
            ("", &[]),
            ("[remote \"a\"]\n\turl = x\n\tfetch = +y\n", &[("a", "x")]),
            ("\u{feff}[remote \"a\"]\r\n\turl = x\r\n", &[("a", "x")]),
            ("[ReMoTe \"A b\"]\nURL=x", &[("A b", "x")]),
            ("[remote \"a\\\"\\\\c\"]url=x", &[("a\"\\c", "x")]),
            ("[Remote.Up]\nurl = x", &[("up", "x")]),
            (
                "[remote \"a\"]\nurl = x\nurl = y\n[remote \"b\"]\nurl = z",
                &[("a", "x"), ("b", "z")],
            ),
            ("[remote \"a\"]\npushurl = x\n[core]\nurl = y\n[remote]\nurl = z", &[]),
            ("[remote \"a\"]\nurl\nurl =\nurl = x", &[("a", "x")]),
            ("[remote \"a\"]\nurl =  x y  ; c\n", &[("a", "x y")]),
            ("[remote \"a\"]\nurl = \"x#;y \" # c\n", &[("a", "x#;y ")]),
            ("[remote \"a\"]\nurl = x\\\ny\\\\z\\\"\n", &[("a", "xy\\z\"")]),
            ("# [remote \"a\"]\n;url = x\n[remote \"b\"] # c\nurl = y", &[("b", "y")]),
            ("[remote \"a\"\nurl = x\n[remote \"b\"]\nurl = y", &[("b", "y")]),
            ("[remote \"a\nurl = x\n[remote \"b\"]\nurl = y", &[("b", "y")]),
            ("[remote \"a\"]\nurl = \"x\n[remote \"b\"]\nurl = y", &[("b", "y")]),
            ("[remote \"a\"]\nurl = \\x\n=\n!\nurl = y\\", &[]),
            ("[url \"x\"]\ninsteadOf = y\n[include]\npath = z\n", &[]),
        ];
        for (config, want) in table {
            let want: Vec<_> = want.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            assert_eq!(pairs(config), want, "{config}");
        }
    }

    const ORIGIN: &str = "[remote \"up\"]\nurl = h:u\n[remote \"origin\"]\nurl = h:o\n";

    fn name(directory: &str, disk: &Disk) -> Result<String, Miss> {
        remote_of(Path::new(directory), disk).map(|found| found.name)
    }

    #[test]
    fn repositories() {
        let mut disk = Disk::default();
        disk.file("/r/.git/HEAD", "").file("/r/.git/config", ORIGIN);
        disk.file("/r/.git/worktrees/w/commondir", "../..\n");
        disk.file("/r/.git/worktrees/w/HEAD", "");
        disk.file("/wt/.git", "gitdir: /r/.git/worktrees/w\n");
        disk.file("/r/.git/modules/s/HEAD", "").file(
            "/r/.git/modules/s/config",
            "[remote \"first\"]\nurl = h:f\n[remote \"second\"]\nurl = h:s\n",
        );
        disk.file("/r/s/.git", "gitdir: ../.git/modules/s\r\n");
        disk.dir("/r/s/deep/.git");
        disk.file("/bare/HEAD", "").file("/bare/config", ORIGIN);
        disk.dir("/bare/objects").dir("/bare/refs/heads");
        disk.file("/r/broken/.git", "nonsense");
        disk.file("/r/gone/.git", "gitdir: /nowhere\n");
        disk.file("/none/.git/HEAD", "").file("/none/.git/config", "[core]\n");
        disk.file("/local/.git/HEAD", "");
        disk.file("/local/.git/config", "[remote \"origin\"]\nurl = /srv/x\n");
        let table: [(&str, Result<&str, Miss>); 11] = [
            ("/r", Ok("git:h/o")),
            ("/r/a/b", Ok("git:h/o")),
            ("/wt/src", Ok("git:h/o")),
            ("/r/s", Ok("git:h/f")),
            ("/r/s/deep", Ok("git:h/f")),
            ("/bare/refs", Ok("git:h/o")),
            ("/r/broken/x", Err(Miss::Unreadable("/r/broken/.git".into()))),
            ("/r/gone", Err(Miss::Unreadable("/nowhere/config".into()))),
            ("/none", Err(Miss::NoRemote("/none/.git/config".into()))),
            (
                "/local",
                Err(Miss::NoAddress {
                    remote: "origin".into(),
                    config: "/local/.git/config".into(),
                }),
            ),
            ("/else", Err(Miss::NoRepository("/else".into()))),
        ];
        for (directory, want) in table {
            assert_eq!(name(directory, &disk), want.map(str::to_owned), "{directory}");
        }
    }

    #[test]
    fn a_password_is_nowhere_in_the_answer() {
        let mut disk = Disk::default();
        disk.file("/r/.git/HEAD", "");
        disk.file("/r/.git/config", "[remote \"origin\"]\nurl = https://u:hush@h/x\n");
        let found = remote_of(Path::new("/r"), &disk).unwrap();
        assert!(!format!("{found:?}").contains("hush"), "{found:?}");
    }

    /// What the real git lays out: a worktree, a submodule-like separate directory, a bare clone.
    #[cfg(unix)]
    #[test]
    fn layouts_of_the_real_git() {
        let top = std::env::temp_dir().join(format!("packset-git-{}", std::process::id()));
        let main = top.join("main");
        let git = |args: &[&str]| {
            let run = std::process::Command::new("git")
                .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
                .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgSign=false"])
                .args(args)
                .env_remove("GIT_DIR")
                .env_remove("GIT_WORK_TREE")
                .output();
            run.is_ok_and(|run| run.status.success())
        };
        if !git(&["--version"]) {
            return;
        }
        let at = |path: &Path| path.to_str().unwrap().to_owned();
        let (main_s, tree, apart, bare) =
            (at(&main), at(&top.join("tree")), at(&top.join("apart")), at(&top.join("bare")));
        assert!(git(&["init", "-q", &main_s]));
        assert!(git(&["-C", &main_s, "remote", "add", "up", "https://example.org/up.git"]));
        assert!(git(&["-C", &main_s, "remote", "add", "origin", "git@Example.org:own/repo.git"]));
        assert!(git(&["-C", &main_s, "commit", "-q", "--allow-empty", "-m", "c"]));
        assert!(git(&["-C", &main_s, "worktree", "add", "-q", &tree]));
        assert!(git(&["init", "-q", "--separate-git-dir", &at(&top.join("store")), &apart]));
        assert!(git(&["-C", &apart, "remote", "add", "one", "ssh://git@example.org:22/one"]));
        assert!(git(&["init", "-q", "--bare", &bare]));
        assert!(git(&["-C", &bare, "remote", "add", "origin", "https://example.org/bare"]));
        let name = |path: &str| remote_of(Path::new(path), &Real).map(|found| found.name);
        let seen = [name(&main_s), name(&tree), name(&apart), name(&bare)];
        #[expect(clippy::disallowed_methods, reason = "cleans up after a real git")]
        let _ = std::fs::remove_dir_all(&top);
        let want =
            ["own/repo", "own/repo", "one", "bare"].map(|p| Ok(format!("git:example.org/{p}")));
        assert_eq!(seen, want);
    }
}
