//! Machine code of compiled components in files, so that a host starts quickly.
//!
//! Loading machine code amounts to running it, so each file starts with a message authentication code
//! over everything that it depends on: the engine's version and settings, the class, the component's
//! digest and the machine code. The key is derived from the host's secret, which is kept elsewhere (in
//! the sandbox, in another file of the data folder). A file that fails authentication is replaced.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::process::geteuid;
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::domain::model::{Digest, PolicyClass};

/// Largest number of files; the oldest are removed. A JavaScript engine compiles to about 50 MB, so this is
/// at most a few gigabytes, and usually a few megabytes.
const FILES_MAX: usize = 32;

const FILE_BYTES_MAX: u64 = 256 << 20;

/// Length of the authentication code at the start of a file.
const TAG_BYTES: usize = 32;

/// Separates this key from others that are derived from the same secret.
const PURPOSE: &[u8] = b"caudal: cache of compiled components, version 1";

const ENDING: &str = "cwasm";

/// A folder of files with machine code.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    key: [u8; 32],
}

impl Cache {
    /// Opens or creates the folder; `secret` is the host's.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn open(folder: &Path, secret: &[u8]) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Self { folder: folder.to_owned(), key: derive_key(secret, &[PURPOSE]) })
    }

    /// The component with this digest, as compiled by an engine with the same version and settings.
    pub(super) fn get(&self, engine: &Engine, class: PolicyClass, digest: Digest) -> Option<Component> {
        let version = version_of(engine);
        let path = self.path(version, class, digest);
        let code = match self.read(&path, version, class, digest) {
            Ok(code) => code,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot use a cached component; compiling it");
                return None;
            }
        };
        #[expect(unsafe_code, reason = "wasmtime cannot validate machine code; we authenticated it")]
        // SAFETY: only `put` can have written these bytes, because they are authenticated with our key. So
        // they are wasmtime's own output for this version, these settings and this component.
        let component = unsafe { Component::deserialize(engine, &code) };
        component.inspect_err(|error| tracing::warn!(%error, "cannot use a cached component; compiling it")).ok()
    }

    fn read(&self, path: &Path, version: u64, class: PolicyClass, digest: Digest) -> io::Result<Vec<u8>> {
        let unusable = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.uid() != geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
            return Err(unusable("another user owns it or may access it"));
        }
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        if bytes.len() < TAG_BYTES {
            return Err(unusable("it is truncated"));
        }
        let code = bytes.split_off(TAG_BYTES);
        let expected = authentication(&self.key, version, class, digest, &code);
        expected.verify_slice(&bytes).map_err(|_| unusable("its authentication code is wrong"))?;
        Ok(code)
    }

    /// Stores a compiled component. A failure only costs time later.
    pub(super) fn put(&self, component: &Component, class: PolicyClass, digest: Digest) {
        let version = version_of(component.engine());
        let kept = component.serialize().map_err(|error| error.to_string()).and_then(|code| {
            self.write(version, class, digest, &code).and_then(|()| self.prune()).map_err(|error| error.to_string())
        });
        if let Err(error) = kept {
            tracing::warn!(folder = %self.folder.display(), error, "cannot cache a compiled component");
        }
    }

    fn write(&self, version: u64, class: PolicyClass, digest: Digest, code: &[u8]) -> io::Result<()> {
        let tag = authentication(&self.key, version, class, digest, code).finalize().into_bytes();
        let path = self.path(version, class, digest);
        // Renamed once complete, so that a partial file is never read.
        let draft = path.with_extension(format!("{:016x}", getrandom::u64().map_err(io::Error::other)?));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let written = file.write_all(&tag).and_then(|()| file.write_all(code)).and_then(|()| fs::rename(&draft, path));
        written.inspect_err(|_| drop(fs::remove_file(&draft)))
    }

    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Includes drafts that a crash left behind.
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        let surplus = files.len().saturating_sub(FILES_MAX);
        files.into_iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn path(&self, version: u64, class: PolicyClass, digest: Digest) -> PathBuf {
        self.folder.join(format!("{version:016x}-{class}-{digest}.{ENDING}"))
    }
}

/// A hash of the engine's version and settings. Another toolchain may hash differently, which only costs
/// a compilation.
fn version_of(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    Hmac::new_from_slice(key).expect("a key")
}

fn derive_key(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = mac(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

fn authentication(key: &[u8; 32], version: u64, class: PolicyClass, digest: Digest, code: &[u8]) -> Hmac<Sha256> {
    let mut mac = mac(key);
    // The fields before the code have fixed lengths, except the class, and no class is a prefix of another.
    mac.update(&version.to_le_bytes());
    mac.update(&digest.0);
    mac.update(class.as_str().as_bytes());
    mac.update(code);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: Digest = Digest([7; 32]);
    const CODE: &[u8] = b"machine code";

    /// A cache in a folder of its own, with one file of version 1.
    fn cache(name: &str) -> (Cache, PathBuf) {
        let folder = Path::new("/tmp").join(format!("caudal-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let cache = Cache::open(&folder, b"a secret").unwrap();
        cache.write(1, PolicyClass::Pure, DIGEST, CODE).unwrap();
        let path = cache.path(1, PolicyClass::Pure, DIGEST);
        (cache, path)
    }

    #[test]
    fn a_written_file_is_read_back() {
        let (cache, path) = cache("read");
        assert_eq!(cache.read(&path, 1, PolicyClass::Pure, DIGEST).unwrap(), CODE);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::remove_dir_all(cache.folder).unwrap();
    }

    #[test]
    fn a_file_fails_under_another_version_class_digest_or_key() {
        let (cache, path) = cache("names");
        assert!(cache.read(&path, 2, PolicyClass::Pure, DIGEST).is_err(), "another version of the engine");
        assert!(cache.read(&path, 1, PolicyClass::DenyAll, DIGEST).is_err());
        assert!(cache.read(&path, 1, PolicyClass::Pure, Digest([8; 32])).is_err());
        let other = Cache::open(&cache.folder, b"another secret").unwrap();
        assert!(other.read(&path, 1, PolicyClass::Pure, DIGEST).is_err());
        fs::remove_dir_all(cache.folder).unwrap();
    }

    #[test]
    fn every_changed_byte_is_detected() {
        let (cache, path) = cache("bytes");
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert!(cache.read(&path, 1, PolicyClass::Pure, DIGEST).is_err(), "byte {place}");
        }
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(cache.read(&path, 1, PolicyClass::Pure, DIGEST).is_err(), "truncated");
        fs::write(&path, &whole[..5]).unwrap();
        assert!(cache.read(&path, 1, PolicyClass::Pure, DIGEST).is_err(), "truncated in the tag");
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        assert!(cache.read(&path, 1, PolicyClass::Pure, DIGEST).is_err(), "a group may read it");
        fs::remove_dir_all(cache.folder).unwrap();
    }

    #[test]
    fn the_oldest_files_are_removed() {
        let (cache, first) = cache("prune");
        for index in 0..FILES_MAX {
            let digest = Digest([u8::try_from(index).unwrap(); 32]);
            cache.write(3, PolicyClass::Pure, digest, CODE).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        cache.prune().unwrap();
        assert!(!first.exists());
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), FILES_MAX);
        fs::remove_dir_all(cache.folder).unwrap();
    }
}
