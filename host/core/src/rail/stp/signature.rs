//! Signs orders: RSA with PKCS#1 v1.5 padding and SHA-256, in base64.
//!
//! Uses ring, whose RSA signatures take constant time; the `rsa` crate, a dependency of tokens, does not guarantee
//! that. STP's replies are not signed, so nothing is verified.

use anyhow::{Context, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::RsaSigningKey;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::{Signer, SigningKey};

pub(super) struct Key(Box<dyn Signer>);

impl Key {
    /// The first private key in the PEM text.
    pub(super) fn read(pem: &[u8]) -> anyhow::Result<Self> {
        let der = PrivateKeyDer::from_pem_slice(pem).context("no private key in PEM")?;
        let key = RsaSigningKey::new(&der).context("not a usable RSA key")?;
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        signer.map(Self).ok_or_else(|| anyhow!("the key cannot sign with SHA-256"))
    }

    pub(super) fn sign(&self, text: &str) -> anyhow::Result<String> {
        let signature = self.0.sign(text.as_bytes()).context("cannot sign")?;
        Ok(STANDARD.encode(signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{Algorithm, DecodingKey, crypto::verify};
    use rsa::pkcs1::EncodeRsaPrivateKey;
    use rsa::pkcs8::{EncodePrivateKey, LineEnding};
    use rsa::traits::PublicKeyParts;

    fn generate(bits: usize) -> rsa::RsaPrivateKey {
        rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, bits).unwrap()
    }

    #[test]
    fn signatures_verify_for_both_private_key_formats() {
        let private = generate(2048);
        let public = DecodingKey::from_rsa_raw_components(&private.n().to_bytes_be(), &private.e().to_bytes_be());
        let (pkcs8, pkcs1) = (private.to_pkcs8_pem(LineEnding::LF), private.to_pkcs1_pem(LineEnding::CRLF));
        for pem in [pkcs8.unwrap(), pkcs1.unwrap()] {
            let signature = Key::read(pem.as_bytes()).unwrap().sign("||a|b||").unwrap();
            assert_eq!((signature.len(), &signature[342..]), (344, "=="));
            let url_safe = signature.replace('+', "-").replace('/', "_").replace('=', "");
            assert!(verify(&url_safe, b"||a|b||", &public, Algorithm::RS256).unwrap());
            assert!(!verify(&url_safe, b"||a|c||", &public, Algorithm::RS256).unwrap());
        }
    }

    #[test]
    fn other_texts_and_short_keys_are_refused() {
        let short = generate(1024).to_pkcs8_pem(LineEnding::LF).unwrap();
        for pem in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", &short] {
            assert!(Key::read(pem.as_bytes()).is_err(), "{}", pem.len());
        }
    }
}
