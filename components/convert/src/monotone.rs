use caudal_ensemble::Ensemble;

use crate::Direction;
use crate::error::Result;

pub(crate) fn check(_ensemble: &Ensemble, _directions: &[Direction]) -> Result<()> {
    Ok(())
}
