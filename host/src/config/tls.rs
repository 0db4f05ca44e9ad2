//! How clients connect to the listeners of `caudal serve`.

use std::path::PathBuf;

use clap::Args;

/// Certificates, or a proxy that has them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Certificates")]
pub struct Tls {
    /// Certificate of the ledger API followed by any intermediate certificates, as PEM; reloaded when it changes
    #[arg(long, env = "CAUDAL_LEDGER_TLS_CERT", requires = "ledger_tls_key")]
    pub ledger_tls_cert: Option<PathBuf>,
    /// Its private key, as unencrypted PEM
    #[arg(long, env = "CAUDAL_LEDGER_TLS_KEY", requires = "ledger_tls_cert")]
    pub ledger_tls_key: Option<PathBuf>,
    /// Certificate of the assistance API, likewise
    #[arg(long, env = "CAUDAL_ASSIST_TLS_CERT", requires = "assist_tls_key")]
    pub assist_tls_cert: Option<PathBuf>,
    /// Its private key
    #[arg(long, env = "CAUDAL_ASSIST_TLS_KEY", requires = "assist_tls_cert")]
    pub assist_tls_key: Option<PathBuf>,
    /// Certificate authorities for clients of the assistance API, as PEM: no client can connect without a certificate
    /// from one of them
    #[arg(long, env = "CAUDAL_ASSIST_CLIENT_CA", requires = "assist_tls_cert")]
    pub assist_client_ca: Option<PathBuf>,
    /// Serve plain HTTP on any address, for a reverse proxy that terminates TLS: the one in --trusted-proxies
    #[arg(long, env = "CAUDAL_BEHIND_PROXY")]
    pub behind_proxy: bool,
}
