//! What tokens may allow: the scopes of RFC 8693's claim `scope`.

/// Scope that allows reading in the ledger API, where scopes are required.
pub const API_READ: &str = "api:read";

/// Scope that allows everything else in the ledger API, where scopes are required.
pub const API_WRITE: &str = "api:write";

/// Scope that allows changes to scoring models.
pub const MODELS_ADMIN: &str = "models:admin";

/// Scope that allows changes to the transfer rules.
pub const RULES_ADMIN: &str = "rules:admin";

/// Scope that allows operating the ledger: freezing and crediting accounts, deciding on payments, reversals, and
/// users' limits and names.
pub const LEDGER_OPERATE: &str = "ledger:operate";

/// Scope that allows looking up customers: their accounts, transfers, payees, holds, limits and statements. Each look-up
/// is recorded.
pub const LEDGER_READ: &str = "ledger:read";

/// Scope that allows reading versions, deployments, history and reports of every kind, and replaying decisions, without
/// changing anything.
pub const AUDIT_READ: &str = "audit:read";

/// Scope that allows reading the events of all customers and operators.
pub const EVENTS_READ: &str = "events:read";

/// Scope that allows deciding where those events are delivered.
pub const EVENTS_ADMIN: &str = "events:admin";

/// Scope that allows recording what became of orders.
pub const OUTCOMES_WRITE: &str = "outcomes:write";

/// Every scope that a token may lack.
pub(crate) const ALL: [&str; 10] = [
    API_READ,
    API_WRITE,
    MODELS_ADMIN,
    RULES_ADMIN,
    LEDGER_OPERATE,
    LEDGER_READ,
    AUDIT_READ,
    EVENTS_READ,
    EVENTS_ADMIN,
    OUTCOMES_WRITE,
];
