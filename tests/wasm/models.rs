//! The models that the built components carry, for native code: the same weights files.

use caudal_model::{accessibility, nudge, risk};

pub(crate) const RISK_1: risk::Weights<'_> =
    risk_weights(include_bytes!("../../components/risk/models/risk-1/weights.bin"));
pub(crate) const RISK_2: risk::Weights<'_> =
    risk_weights(include_bytes!("../../components/risk/models/risk-2/weights.bin"));

pub(crate) const NUDGE_1: nudge::Weights<'_> =
    match nudge::Weights::parse(include_bytes!("../../components/nudge/models/nudge-1/weights.bin")) {
        Ok(weights) => weights,
        Err(_) => panic!("the weights of nudge-1 are malformed"),
    };

pub(crate) const ACCESSIBILITY_1: accessibility::Weights<'_> = match accessibility::Weights::parse(include_bytes!(
    "../../components/accessibility/models/accessibility-1/weights.bin"
)) {
    Ok(weights) => weights,
    Err(_) => panic!("the weights of accessibility-1 are malformed"),
};

const fn risk_weights(file: &[u8]) -> risk::Weights<'_> {
    match risk::Weights::parse(file) {
        Ok(weights) => weights,
        Err(_) => panic!("the weights are malformed"),
    }
}
