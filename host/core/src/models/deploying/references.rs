//! Tells the observer what the cards of the champions say of their training data. A card can be pushed at any time, so they
//! are read again and again.

use std::collections::HashMap;

use sqlx::{PgConnection, PgPool};

use crate::db::session::within;
use crate::models::deploying::loading::DATABASE_TIME_MAX;
use crate::models::observing::drift::Reference;
use crate::models::serving::active::Models;
use crate::models::serving::component::LoadedComponent;

pub(super) async fn follow(pool: &PgPool, models: &Models) -> Result<(), sqlx::Error> {
    let of = |it: LoadedComponent| (it.identity().kind, it.identity().digest);
    let champions: Vec<_> = models.snapshot().champions().map(of).collect();
    let read = async |db: &mut PgConnection| {
        let mut references = HashMap::new();
        for &(kind, digest) in &champions {
            references.insert(digest, Reference::of(db, kind, digest).await?);
        }
        Ok(references)
    };
    models.observer().watch(within(pool.acquire().await?, DATABASE_TIME_MAX, read).await?);
    Ok(())
}
