//! Published files that a page may still fetch.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::models::publishing::published::File;

/// Three files for each of the last 16 distinct models. A page may fetch the files of a model that was active
/// a moment ago.
const FILES_MAX: usize = 48;

/// The files that were published last.
#[derive(Default)]
pub struct Shelf {
    files: Mutex<VecDeque<File>>,
}

impl Shelf {
    pub fn put(&self, those: [&File; 3]) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for file in those {
            files.retain(|it| it.digest != file.digest);
            files.push_front(file.clone());
        }
        files.truncate(FILES_MAX);
    }

    /// The file with this digest in hex.
    pub fn find(&self, digest: &str) -> Option<File> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|file| file.digest.to_string() == digest).cloned()
    }
}
