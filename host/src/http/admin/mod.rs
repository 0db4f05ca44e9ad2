//! Administration of models, accounts, users and payments by operators.

pub(crate) mod accounts;
pub(crate) mod action;
pub(crate) mod approvals;
pub(crate) mod confirmation;
pub(crate) mod customers;
pub(crate) mod deployment;
mod if_match;
mod names;
pub(crate) mod payments;
pub(crate) mod pushes;
pub(crate) mod rails;
pub(crate) mod reconciliations;
pub(crate) mod replay;
pub(crate) mod reversals;
pub(crate) mod rollout;
pub(crate) mod signatures;
pub(crate) mod start;
pub(crate) mod traffic;
pub(crate) mod users;
pub(crate) mod versions;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::reader::Reader;
use crate::http::auth::authenticate_operator;
use crate::http::error::Error;

impl FromRequestParts<App> for Reader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Ok((&*authenticate_operator(parts, app).await?).try_into()?)
    }
}
