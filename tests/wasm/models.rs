//! The weights of the built components, for native code.

use caudal_model::{accessibility, nudge, risk};

pub(crate) const RISK_1: risk::Weights<'_> =
    risk::Weights::built_in(include_bytes!("../../components/risk/models/risk-1/weights.bin"));

pub(crate) const RISK_2: risk::Weights<'_> =
    risk::Weights::built_in(include_bytes!("../../components/risk/models/risk-2/weights.bin"));

pub(crate) const NUDGE_1: nudge::Weights<'_> =
    nudge::Weights::built_in(include_bytes!("../../components/nudge/models/nudge-1/weights.bin"));

pub(crate) const ACCESSIBILITY_2: accessibility::Weights<'_> = accessibility::Weights::built_in(include_bytes!(
    "../../components/accessibility/models/accessibility-2/weights.bin"
));
