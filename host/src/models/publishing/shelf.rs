//! Published files that a page may still fetch.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::models::publishing::published::{File, Published};

/// A page fetches the files that it was promised a moment ago, even if another model is active by then: two
/// files for each of the last 16 distinct models.
const FILES_MAX: usize = 32;

/// The files that were promised last.
#[derive(Default)]
pub(crate) struct Shelf {
    files: Mutex<VecDeque<File>>,
}

impl Shelf {
    pub(crate) fn put(&self, Published { core, glue }: &Published) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for file in [core, glue] {
            files.retain(|it| it.digest != file.digest);
            files.push_front(file.clone());
        }
        files.truncate(FILES_MAX);
    }

    /// The file with this digest in hex.
    pub(crate) fn find(&self, digest: &str) -> Option<File> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|file| file.digest.to_string() == digest).cloned()
    }
}
