//! Finds the system's Postgres binaries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

/// Oldest supported major version.
const MAJOR_MIN: u32 = 14;

/// Folders in which distributions and Homebrew install versions side by side.
const VERSIONED_FOLDERS: [&str; 3] = ["/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt"];

/// A folder with `postgres` and `initdb`.
pub(super) struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    /// The newest usable version, or `major` if given.
    pub(super) fn find(given: Option<&Path>, major: Option<u32>) -> Result<Self> {
        let mut found: Vec<(u32, PathBuf)> = match given {
            Some(folder) => vec![folder.to_owned()],
            None => candidates(),
        }
        .into_iter()
        .filter_map(|folder| Some((major_version(&folder)?, folder)))
        .filter(|(version, _)| *version >= MAJOR_MIN && major.is_none_or(|major| major == *version))
        .collect();
        found.sort();
        let Some((_, folder)) = found.pop() else {
            let version = major.map_or(format!("{MAJOR_MIN} or newer"), |major| major.to_string());
            bail!(
                "no Postgres server {version} is installed: run `apt-get install postgresql`, set --postgres-bin, or \
                 set DATABASE_URL to a running one"
            );
        };
        Ok(Self { folder })
    }

    pub(super) fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}

fn candidates() -> Vec<PathBuf> {
    let versioned = VERSIONED_FOLDERS.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut folders: Vec<PathBuf> = versioned.flatten().map(|entry| entry.path().join("bin")).collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    folders
}

/// The major version of `postgres` in a folder that also has `initdb`.
fn major_version(folder: &Path) -> Option<u32> {
    if !folder.join("initdb").is_file() {
        return None;
    }
    let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
