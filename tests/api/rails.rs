//! The rails of the service under test.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use caudal::app::start::RailHandle;
use caudal::clock::Clock;
use caudal::domain::transfer::RailName;
use caudal::rail::Rail;
use caudal::rail::courier::{CLAIM, NOTIFICATIONS_MAX};
use caudal::rail::simulated::{Behaviour, Simulated};
use caudal::rail::stp::{Form, INSTITUTION, Settings, Stp};
use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use tokio::sync::mpsc;

use crate::harness::CLABE;
use crate::stand_in::StandIn;

pub(crate) struct StpAt {
    pub(crate) url: String,
    /// How long a courier's claim lasts.
    pub(crate) claim: Duration,
}

impl From<&StandIn> for StpAt {
    fn from(stp: &StandIn) -> Self {
        Self { url: stp.stub.url.clone(), claim: CLAIM }
    }
}

pub(crate) fn open(simulated: Option<Behaviour>, stp: Option<StpAt>, clock: &Clock) -> (RailName, Option<RailHandle>) {
    let (sender, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
    let (name, claim, rail): (_, _, Arc<dyn Rail>) = match (simulated, stp) {
        (_, Some(StpAt { url, claim })) => (RailName::Stp, claim, Arc::new(open_stp(url, clock))),
        (Some(behaviour), None) => (RailName::Simulated, CLAIM, Arc::new(Simulated::new(behaviour, sender))),
        (None, None) => return (RailName::Instant, None),
    };
    (name, Some(RailHandle { rail, notifications, claim }))
}

/// The key is generated for this run: one in a file would look like a leaked one.
fn open_stp(url: String, clock: &Clock) -> Stp {
    static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        key.to_pkcs8_pem(LineEnding::LF).unwrap().as_bytes().to_vec()
    });
    let settings = Settings {
        url,
        company: "CAUDAL".to_owned(),
        account: CLABE.to_owned(),
        institution: INSTITUTION,
        form: Form::Current,
        indirect: None,
        key_pem: KEY.clone(),
    };
    Stp::new(settings).unwrap().with_clock(clock.clone())
}
