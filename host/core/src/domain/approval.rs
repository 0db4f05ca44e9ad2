//! Two people for one change: one operator proposes it, another approves it, or it expires.

use time::OffsetDateTime;
use uuid::Uuid;

/// An operator, as a token names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub name: String,
    /// Who vouches for that name; `None` if the token does not say.
    pub issuer: Option<String>,
    /// A program with client credentials. It proposes and approves nothing, so this is not stored.
    pub is_machine: bool,
}

impl Person {
    /// Whether this may be the same person: two issuers may know different people by one name, but a missing issuer
    /// tells nothing.
    fn may_be(&self, other: &Self) -> bool {
        let differs = self.issuer.as_ref().zip(other.issuer.as_ref()).is_some_and(|(one, two)| one != two);
        self.name == other.name && !differs
    }
}

super::text_enum! {
    Resolved {
        Approved = "approved",
        Withdrawn = "withdrawn",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    pub verdict: Resolved,
    pub by: Person,
    pub at: OffsetDateTime,
}

/// An action that waits for a second person, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub approval_id: Uuid,
    /// JSON.
    pub action: String,
    pub reason: String,
    pub proposed_by: Person,
    pub proposed_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
    pub decision: Option<Resolution>,
    pub executed_at: Option<OffsetDateTime>,
    /// Until when only one request carries it out, by the database's clock. A hint: the audit records do not cover it.
    pub claimed_until: Option<OffsetDateTime>,
}

super::text_enum! {
    State {
        Pending = "pending",
        /// It is being carried out, or may have been: its outcome is unknown.
        Approved = "approved",
        Executed = "executed",
        Withdrawn = "withdrawn",
        Expired = "expired",
    }
}

/// Why an operator cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// They proposed it.
    SamePerson,
    /// It was executed or withdrawn, or has expired.
    Ended(State),
    /// Somebody approved it, so it may have been carried out.
    UnderWay,
}

impl Approval {
    pub fn state(&self, now: OffsetDateTime) -> State {
        match (self.executed_at, self.decision.as_ref().map(|it| it.verdict)) {
            (Some(_), _) => State::Executed,
            (None, Some(Resolved::Withdrawn)) => State::Withdrawn,
            (None, Some(Resolved::Approved)) => State::Approved,
            (None, None) if now >= self.expires_at => State::Expired,
            (None, None) => State::Pending,
        }
    }

    /// The approval by a second person. Approving again lets an action whose outcome is unknown be repeated.
    ///
    /// # Errors
    /// When it has ended, or `by` proposed it.
    pub fn approve(&self, by: Person, now: OffsetDateTime) -> Result<Self, Refusal> {
        match self.state(now) {
            State::Pending | State::Approved if by.may_be(&self.proposed_by) => Err(Refusal::SamePerson),
            State::Pending => Ok(self.decided(Resolved::Approved, by, now)),
            State::Approved => Ok(self.clone()),
            ended => Err(Refusal::Ended(ended)),
        }
    }

    /// Those who may propose it may withdraw it.
    ///
    /// # Errors
    /// When it has ended, or may have been carried out.
    pub fn withdraw(&self, by: Person, now: OffsetDateTime) -> Result<Self, Refusal> {
        match self.state(now) {
            State::Pending => Ok(self.decided(Resolved::Withdrawn, by, now)),
            State::Approved => Err(Refusal::UnderWay),
            ended => Err(Refusal::Ended(ended)),
        }
    }

    /// Carrying it out was refused and changed nothing, so it waits for a second person again.
    #[must_use]
    pub fn refused(&self) -> Self {
        Self { decision: None, ..self.clone() }
    }

    fn decided(&self, verdict: Resolved, by: Person, at: OffsetDateTime) -> Self {
        Self { decision: Some(Resolution { verdict, by, at }), ..self.clone() }
    }

    /// Whom to record for the action: both.
    pub fn people(&self) -> String {
        let proposer = &self.proposed_by.name;
        match &self.decision {
            Some(Resolution { verdict: Resolved::Approved, by, .. }) => format!("{proposer}, approved by {}", by.name),
            _ => proposer.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-11-22 12:00 UTC);

    fn person(name: &str, issuer: Option<&str>) -> Person {
        Person { name: name.to_owned(), issuer: issuer.map(str::to_owned), is_machine: false }
    }

    fn proposed() -> Approval {
        Approval {
            approval_id: Uuid::from_u128(1),
            action: "{}".to_owned(),
            reason: "a test".to_owned(),
            proposed_by: person("ana", Some("https://one")),
            proposed_at: NOW,
            expires_at: NOW + Duration::hours(1),
            decision: None,
            executed_at: None,
            claimed_until: None,
        }
    }

    #[test]
    fn nobody_approves_what_they_may_have_proposed() {
        for (name, issuer, may) in [
            ("ana", Some("https://one"), false),
            ("ana", None, false),
            ("ana", Some("https://two"), true),
            ("eva", Some("https://one"), true),
            ("eva", None, true),
        ] {
            assert_eq!(proposed().approve(person(name, issuer), NOW).is_ok(), may, "{name} {issuer:?}");
        }
        let without = Approval { proposed_by: person("ana", None), ..proposed() };
        assert_eq!(without.approve(person("ana", Some("https://two")), NOW), Err(Refusal::SamePerson));
    }

    #[test]
    fn an_approval_can_be_repeated_until_it_is_executed_and_not_withdrawn() {
        let (eva, late) = (|| person("eva", None), NOW + Duration::hours(1));
        let approved = proposed().approve(eva(), NOW).unwrap();
        assert_eq!(approved.people(), "ana, approved by eva");
        for at in [NOW, late] {
            assert_eq!(approved.state(at), State::Approved);
            assert_eq!(approved.approve(person("luis", None), at).unwrap(), approved);
            assert_eq!(approved.approve(person("ana", None), at), Err(Refusal::SamePerson));
            assert_eq!(approved.withdraw(eva(), at), Err(Refusal::UnderWay));
        }
        assert_eq!(approved.refused(), proposed());
        let executed = Approval { executed_at: Some(NOW), ..approved };
        let withdrawn = proposed().withdraw(eva(), NOW).unwrap();
        for (it, at, state) in [
            (&executed, NOW, State::Executed),
            (&executed, late, State::Executed),
            (&withdrawn, NOW, State::Withdrawn),
            (&proposed(), late, State::Expired),
        ] {
            assert_eq!(it.approve(eva(), at), Err(Refusal::Ended(state)));
            assert_eq!(it.withdraw(eva(), at), Err(Refusal::Ended(state)));
        }
    }
}
