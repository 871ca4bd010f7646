//! Pages of designs, made by the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is there as long as the test.
pub(crate) struct Page {
    folder: PathBuf,
}

impl Page {
    pub(crate) fn of_example(name: &str) -> Self {
        Self::of_example_with(name, &[])
    }

    pub(crate) fn of_example_with(name: &str, more: &[&str]) -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        Self::of(&examples.join(name).join(format!("{name}.loom")), more)
    }

    pub(crate) fn of_text(text: &str) -> Self {
        let folder = folder();
        let model = folder.join("model.loom");
        fs::write(&model, text).unwrap();
        let page = Self::of(&model, &[]);
        fs::remove_dir_all(folder).unwrap();
        page
    }

    fn of(model: &Path, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askloom"));
        command.arg("design").arg(model).args(["--format", "html"]).args(more).env_remove("ASKLOOM_TARGET");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = Self { folder: folder() };
        fs::write(page.file(), output.stdout).unwrap();
        page
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("page.html")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("askloom-page-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}
