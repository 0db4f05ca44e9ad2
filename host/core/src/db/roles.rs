//! The roles of the database, and what each may do to which table.

use std::fmt::Write as _;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

/// Owns the tables and migrates them, if the operator has none yet that does.
pub const OWNER: &str = "caudal_owner";

/// What hosts connect as.
pub const SERVE: &str = "caudal_serve";

/// What `caudal verify` connects as.
pub const VERIFY: &str = "caudal_verify";

/// What [`VERIFY`] sees of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// All of it.
    Reads,
    /// Nothing: no verification needs it.
    Ignores,
}

use Proof::{Ignores, Reads};

/// Every table, what [`SERVE`] may do to it besides reading, in the words of `grant`, and whether [`VERIFY`] reads it.
///
/// What is history can only be added to. Locking a row requires the privilege to update at least one of its columns;
/// for rows that are only locked, that column is the key.
pub const GRANTS: &[(&str, &str, Proof)] = &[
    // Money: only what the ledger's statement changes of a row that is there.
    ("account", "insert", Reads),
    (
        "account_balance",
        "insert, update (posted, version, changed_at, sent_day, sent, sent_transfers, sent_total, held, frozen, moment)",
        Reads,
    ),
    ("account_event", "insert", Reads),
    ("approval", "insert, update (verdict, decided_by, decided_issuer, decided_at, executed_at, claimed_until)", Reads),
    ("app_user", "insert, update (per_transfer_limit, per_day_limit, limits_seal, version, holder_name)", Reads),
    ("entry", "insert", Reads),
    ("hold", "insert, update (status)", Reads),
    ("hold_end", "insert", Reads),
    ("idempotency", "insert", Reads),
    ("ledger_batch", "insert", Reads),
    ("transfer", "insert, update (status)", Reads),
    ("transfer_event", "insert", Reads),
    // Chains, and what keeps them in order. A key is replaced by the owner only.
    ("audit_head", "update (seq, hash)", Reads),
    ("audit_record", "insert", Reads),
    ("chain_origin", "insert", Reads),
    ("ledger_key", "insert", Reads),
    ("ledger_writer", "insert, update (holder, leased_until)", Reads),
    ("lost_tail", "insert", Reads),
    ("outcome", "insert", Reads),
    ("policy", "insert", Reads),
    ("retired_chain", "", Reads),
    ("retired_key", "", Reads),
    // The rail's queue, which is emptied.
    ("rail_order", "insert, update (sent_at, inquire_at, inquired_at, inquiries), delete", Reads),
    ("rail_payment", "insert, update (attempts, due_at, last_error, parked_at, seal), delete", Reads),
    ("review", "insert, update (claimed_by, claimed_at), delete", Reads),
    ("incoming_notice", "insert, update (attempts, due_at), delete", Ignores),
    (
        "reconciliation",
        "insert, update (attempt_at, made_at, matched, missing_here, missing_there, different, duplicated, differences)",
        Reads,
    ),
    ("payment_case", "insert, update (closed_at, closed_by, note, transfer_id)", Reads),
    // What the ledger's statement adds up.
    ("payee_total", "insert, update (transfers, amount, largest)", Reads),
    // Users' own things.
    ("beneficiary", "insert, update (name, alias, is_favorite, seal), delete", Reads),
    ("occurrence", "insert", Reads),
    ("schedule", "insert, update (status, ordinal, next_date, waiting_until, attempt_at, is_claimed)", Reads),
    ("consent", "insert, update (granted, notice_version, updated_at)", Ignores),
    ("consent_history", "insert", Ignores),
    ("event", "insert, delete", Ignores),
    ("event_queue", "insert, update (event_id), delete", Ignores),
    (
        "profile",
        "insert, update (theme, screen_reader_mode, font_scale, nudging_level, voice_feedback, updated_at)",
        Ignores,
    ),
    // Where events go, and how far they are.
    ("sink", "insert, update (is_paused), delete", Reads),
    ("sink_progress", "insert, update (cursor, due_at), delete", Ignores),
    ("sink_undelivered", "insert, update (attempts, last_error, due_at), delete", Ignores),
    // Models.
    ("comparison", "insert, update (count)", Ignores),
    ("component", "insert, update (card, signature, signature_added_by, signature_added_at)", Reads),
    ("decision", "insert, delete", Reads),
    (
        "deployment",
        "insert, update (epoch, champion, previous, reason, changed_by, changed_at, canary, canary_percent, \
         canary_max_flip_percent, shadows, has_fallback, minimum_release, medium_from, high_from)",
        Reads,
    ),
    ("traffic", "insert, update (count), delete", Ignores),
    ("rollout_evidence", "insert, update (counts, seal)", Reads),
    ("rollout", "insert, update (state, step, epoch, step_at, detail, approval_id, changed_by, changed_at)", Reads),
    ("deployment_history", "insert, update (served_at)", Reads),
    ("host_status", "insert, update (epoch, state, champion, detail, since, seen_at), delete", Ignores),
    // The schema's own.
    ("_sqlx_migrations", "", Reads),
    ("schema_compatibility", "", Reads),
];

/// Serialises those who grant at the same time. Any number that nothing else locks.
const GRANT_LOCK: i64 = 0x6361_7564_616c;

/// Whether this connection's role could change the tables themselves: it owns one or their schema, or is a superuser or
/// otherwise a member of such a role. With no tables yet, whether it may create them.
pub async fn is_owner(db: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let tables: Vec<_> = GRANTS.iter().map(|(table, ..)| (*table).to_owned()).collect();
    sqlx::query_scalar!(
        r#"
        select coalesce(
            (
                select bool_or(pg_has_role(relowner, 'member')) from pg_class
                where relnamespace = s.oid and relname = any($1::text[])
            ) or pg_has_role(nspowner, 'member'),
            has_schema_privilege(s.oid, 'create')
        ) as "is_owner!"
        from pg_namespace as s where nspname = 'public'
        "#,
        &tables,
    )
    .fetch_one(db)
    .await
}

/// This connection's role.
pub struct Role {
    pub name: String,
    /// Whether it may do everything only because it is a superuser: it owns no tables.
    pub is_only_superuser: bool,
}

pub async fn current(db: &mut PgConnection) -> Result<Role, sqlx::Error> {
    let role = sqlx::query_as!(
        Role,
        r#"
        select rolname::text as "name!", rolsuper and not exists (
            select from pg_class where relnamespace = 'public'::regnamespace and relowner = r.oid
        ) as "is_only_superuser!"
        from pg_roles as r where rolname = current_user
        "#
    );
    role.fetch_one(db).await
}

/// A table to which this connection's role lacks a right that hosts need.
pub(crate) async fn lacking(db: &mut PgConnection) -> Result<Option<String>, sqlx::Error> {
    let (tables, inserted): (Vec<_>, Vec<_>) =
        GRANTS.iter().map(|(table, rights, _)| ((*table).to_owned(), rights.starts_with("insert"))).unzip();
    sqlx::query_scalar!(
        r#"
        select name as "name!" from unnest($1::text[], $2::boolean[]) as t (name, inserted)
        where not has_table_privilege('public.' || name, 'select')
            or inserted and not has_table_privilege('public.' || name, 'insert')
        limit 1
        "#,
        &tables,
        &inserted,
    )
    .fetch_optional(db)
    .await
}

/// Grants what [`GRANTS`] says, and nothing else on these tables, to those of the roles that exist. Returns which do.
pub(crate) async fn grant(db: &mut PgConnection) -> Result<Vec<&'static str>, sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query!("select pg_advisory_xact_lock($1)", GRANT_LOCK).execute(&mut *transaction).await?;
    let wanted = [SERVE, VERIFY].map(str::to_owned);
    let found =
        sqlx::query_scalar!(r#"select rolname::text as "name!" from pg_roles where rolname = any($1)"#, &wanted);
    let found = found.fetch_all(&mut *transaction).await?;
    let found: Vec<_> = [SERVE, VERIFY].into_iter().filter(|role| found.iter().any(|name| name == role)).collect();
    if !found.is_empty() {
        transaction.execute(AssertSqlSafe(statements(&found))).await?;
    }
    transaction.commit().await?;
    Ok(found)
}

fn statements(roles: &[&str]) -> String {
    let mut sql = String::new();
    for (table, rights, proof) in GRANTS {
        for role in roles {
            let rights = match (*role == SERVE, proof) {
                (true, _) if rights.is_empty() => "select".to_owned(),
                (true, _) => format!("select, {rights}"),
                (false, Reads) => "select".to_owned(),
                (false, Ignores) => String::new(),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(sql, "revoke all on public.{table} from {role};");
            if !rights.is_empty() {
                let _ = writeln!(sql, "grant {rights} on public.{table} to {role};");
            }
        }
    }
    sql
}

/// SQL that creates the roles in the present database, for an administrator. It can be run again at any time.
pub fn creation(owner: &str) -> String {
    let (name, text) = (quoted(owner, '"'), quoted(owner, '\''));
    let mut sql = format!(
        "-- The roles of a Caudal ledger, for an administrator of Postgres, in the ledger's database:\n\
         --   {OWNER} or another owns the tables and migrates them; {SERVE} is what hosts and operators' commands\n\
         --   connect as, {VERIFY} what `caudal verify` does.\n\
         -- Give them passwords or certificates, then run `caudal migrate` as {owner}: it grants what is missing here.\n\
         do $$\nbegin\n"
    );
    for (text, name) in
        [(text, name.clone()), (quoted(SERVE, '\''), SERVE.to_owned()), (quoted(VERIFY, '\''), VERIFY.to_owned())]
    {
        let _ = writeln!(
            sql,
            "    if not exists (select from pg_roles where rolname = {text}) then\n        \
             create role {name} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls;\n    end if;"
        );
    }
    let _ = write!(
        sql,
        "    execute format('grant connect on database %I to {SERVE}, {VERIFY}', current_database());\n\
         end $$;\n\
         revoke create on schema public from public;\n\
         grant usage, create on schema public to {name};\n\
         grant usage on schema public to {SERVE}, {VERIFY};\n"
    );
    sql
}

fn quoted(text: &str, mark: char) -> String {
    format!("{mark}{}{mark}", text.replace(mark, &format!("{mark}{mark}")))
}
