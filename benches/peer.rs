//! The public packset, run beside ours: its own home, its own port, its daemon started and
//! stopped by its own verbs.
//!
//! Not here: timing. Invariant: whatever happens, the daemon is stopped.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use crate::process::Program;

/// A port that nothing else is likely to use.
const PORT: u16 = 18_917;

/// A running daemon and the program that talks to it.
pub(crate) struct Peer {
    program: Program,
    home: PathBuf,
}

impl Peer {
    /// Starts the daemon of the binaries in `binaries` on a fresh home below `dir`.
    pub(crate) fn start(binaries: &Path, dir: &Path) -> io::Result<Self> {
        let home = dir.join("peer");
        fs::create_dir_all(&home)?;
        let binaries = fs::canonicalize(binaries)?;
        let program = Program::new(binaries.join("packset"), dir)
            .var("PATH", binaries.as_os_str())
            .var("HOME", &home)
            .var("PACKSET_HOME", &home)
            .var("PACKSET_PORT", PORT.to_string())
            .var("PACKSET_WORKSPACE", "bench");
        let peer = Self { program, home };
        if !peer.program.run(&["start"])?.success {
            return Err(io::Error::other("the public packset does not start"));
        }
        Ok(peer)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Stores claims, JSON objects, through its HTTP door.
    pub(crate) fn store(&self, claims: &[String]) -> io::Result<()> {
        let token = fs::read_to_string(self.home.join("token"))?;
        for claim in claims {
            let body = claim.replacen('{', "{\"workspace\":\"bench\",\"level\":\"explicit\",", 1);
            let mut stream = TcpStream::connect(("127.0.0.1", PORT))?;
            write!(
                stream,
                "POST /v1/atoms HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                 Authorization: Bearer {}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                token.trim(),
                body.len()
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            if !answer.starts_with("HTTP/1.1 2") {
                return Err(io::Error::other(format!("the public packset says {answer}")));
            }
        }
        Ok(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.program.run(&["stop"]);
    }
}
