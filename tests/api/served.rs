//! Connections to a test's database as a host has them.

use std::sync::Arc;
use std::time::Duration;

use caudal::db::{roles, schema};
use sqlx::postgres::PgPoolOptions;
use sqlx::{Executor as _, PgPool};

/// Connections of the role that hosts have, with the rights that migrations grant it and no others. Closed when the
/// last clone is dropped, so that the test's database can be deleted.
#[derive(Clone)]
pub(crate) struct Served(Arc<Closing>);

struct Closing(PgPool);

impl Served {
    pub(crate) async fn new(db: &PgPool) -> Self {
        Self(Arc::new(Closing(as_role(db, roles::SERVE).await)))
    }

    pub(crate) fn pool(&self) -> PgPool {
        self.0.0.clone()
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let pool = self.0.clone();
        tokio::spawn(async move { pool.close().await });
    }
}

/// Connections of one of the roles.
pub(crate) async fn as_role(db: &PgPool, role: &str) -> PgPool {
    let mut owner = db.acquire().await.unwrap();
    let name: String = sqlx::query_scalar("select current_user::text").fetch_one(&mut *owner).await.unwrap();
    // Roles belong to the whole server, and tests to one program.
    static ROLES: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _turn = ROLES.lock().await;
    owner.execute(sqlx::AssertSqlSafe(roles::creation(&name))).await.unwrap();
    schema::migrate(&mut owner).await.unwrap();
    let options = db.connect_options().as_ref().clone().username(role);
    let pool = PgPoolOptions::new().max_connections(5).idle_timeout(Duration::from_secs(1));
    pool.connect_lazy_with(options)
}
