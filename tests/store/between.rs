//! A door to files at which another process may do something between two calls.
//!
//! [`Between`] passes every call on. Once, at a call that was chosen before, it first runs what
//! it was given: the schedule of two processes, fixed to the call. Not here: faults.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use packset_segments::Bytes;
use packset_segments::vfs::{FileId, Kind, Lock, NewFile, Vfs};

type Act = Box<dyn FnOnce() + Send>;
type Chooser = Box<dyn FnMut(&str, &Path) -> bool + Send>;

/// See the module. A clone is a second handle on the same schedule.
#[derive(Clone)]
pub struct Between {
    inner: Arc<dyn Vfs>,
    plan: Arc<Mutex<Option<(Chooser, Act)>>>,
}

impl Between {
    /// Passes everything on to `inner`.
    pub fn new(inner: Arc<dyn Vfs>) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Runs `act` before the first call that `chooser` takes.
    pub fn when(
        &self,
        chooser: impl FnMut(&str, &Path) -> bool + Send + 'static,
        act: impl FnOnce() + Send + 'static,
    ) {
        *self.plan.lock().unwrap() = Some((Box::new(chooser), Box::new(act)));
    }

    /// Runs `act` before the `n`-th call from now; 1 is the next one.
    pub fn at(&self, n: u64, act: impl FnOnce() + Send + 'static) {
        let mut left = n;
        self.when(
            move |_, _| {
                left -= 1;
                left == 0
            },
            act,
        );
    }

    /// Whether the act has not come yet.
    pub fn is_waiting(&self) -> bool {
        self.plan.lock().unwrap().is_some()
    }

    fn pass(&self, call: &str, path: &Path) {
        let act = {
            let mut plan = self.plan.lock().unwrap();
            let due = plan.as_mut().is_some_and(|(chooser, _)| chooser(call, path));
            if due { plan.take().map(|(_, act)| act) } else { None }
        };
        if let Some(act) = act {
            act();
        }
    }
}

impl Vfs for Between {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.pass("create", path);
        let file = self.inner.create_new(path)?;
        Ok(Box::new(File { file, path: path.to_owned(), between: self.clone() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.pass("create dir", path);
        self.inner.create_dir(path)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass("rename", to);
        self.inner.rename_new(from, to)
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass("rename over", to);
        self.inner.rename_over(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.pass("unlink", path);
        self.inner.unlink(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.pass("remove dir", path);
        self.inner.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.pass("sync dir", path);
        self.inner.sync_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.pass("list", dir);
        self.inner.list(dir)
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        self.pass("kind", path);
        self.inner.kind(path)
    }

    fn id(&self, path: &Path) -> io::Result<FileId> {
        self.pass("id", path);
        self.inner.id(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.pass("read", path);
        self.inner.read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Bytes> {
        self.pass("open", path);
        self.inner.open(path)
    }

    fn lock(&self, path: &Path, wait: Duration) -> io::Result<Box<dyn Lock>> {
        self.pass("lock", path);
        self.inner.lock(path, wait)
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        self.pass("free space", path);
        self.inner.free_space(path)
    }
}

struct File {
    file: Box<dyn NewFile>,
    path: PathBuf,
    between: Between,
}

impl NewFile for File {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.between.pass("write", &self.path);
        self.file.write_all(bytes)
    }

    fn seal(&mut self) -> io::Result<()> {
        self.between.pass("seal", &self.path);
        self.file.seal()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.between.pass("sync", &self.path);
        self.file.sync()
    }
}
