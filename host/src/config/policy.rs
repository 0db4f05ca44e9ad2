//! What all hosts keep to, as `caudal policy set` takes it.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, FromArgMatches as _, ValueEnum as _};

use super::ledger::amount;
use crate::db::durability::Durability;
use crate::domain::clabe::ClabeRange;
use crate::domain::money::{AmountError, Money};
use crate::domain::risk::Enforcement;
use crate::domain::transfer::RailName;

/// Highest limit that one operator can set for a user unless the policy says otherwise.
const APPROVAL_LIMIT: Money = Money::from_minor(5_000_000);

fn rail() -> impl TypedValueParser<Value = RailName> {
    let rails = [
        (RailName::Instant, "Settles at once, in the bank's own books"),
        (RailName::Simulated, "A stand-in for SPEI with its delays, rejections and returns"),
        (RailName::Stp, "SPEI, through the participant STP"),
    ];
    let rails = rails.map(|(rail, help)| PossibleValue::new(rail.as_str()).help(help));
    PossibleValuesParser::new(rails).try_map(|text| RailName::parse(&text).ok_or("no rail"))
}

fn enforcement() -> impl TypedValueParser<Value = Enforcement> {
    let values = Enforcement::ALL.iter().map(|&it| {
        let help = match it {
            Enforcement::Off => "No consequence; the bank's app asks for the score and acts on it",
            Enforcement::Shadow => "The score is logged",
            Enforcement::Enforce => "A high risk requires the `acknowledgmentToken` of this transfer's risk context",
        };
        PossibleValue::new(it.as_str()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|text| Enforcement::parse(&text).ok_or("no consequence"))
}

/// What is left out is as before, or as the help says if it was never set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Policy {
    /// Rail that carries transfers out of the bank [default: none; in the sandbox `instant`]
    #[arg(long, value_parser = rail())]
    pub rail: Option<RailName>,
    /// CLABEs that the bank issues to new accounts, FIRST-LAST, without their check digits, for example
    /// 64618011040000000-64618011049999999 [default: none; in the sandbox numbers of a bank that does not exist]
    #[arg(long)]
    pub clabe_range: Option<ClabeRange>,
    /// Largest amount of one transfer in MXN, for example 12800.00, or `none`; `caudal limits` overrides it for a user
    /// [default: none]
    #[arg(long)]
    pub transfer_limit: Option<Ceiling>,
    /// Largest total of a user's transfers in MXN in one day, by Mexico City time, or `none` [default: none]
    #[arg(long)]
    pub day_limit: Option<Ceiling>,
    /// Consequence of a transfer's risk [default: off]
    #[arg(long, value_parser = enforcement())]
    pub risk_enforcement: Option<Enforcement>,
    /// Require a second operator for: new transfer rules, another risk champion, reversals, credits from the bank's
    /// funds, payments decided by hand, and high limits [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub approvals: Option<bool>,
    /// Highest limit that one operator can set for a user, in MXN [default: 50000.00]
    #[arg(long, value_parser = amount)]
    pub approval_limit: Option<Money>,
    /// How far a commit must get before it is acknowledged [default: replicated if Postgres has
    /// synchronous_standby_names, or a host has ever seen it have them; else local]
    #[arg(long, value_enum)]
    pub durability: Option<Durability>,
}

impl Policy {
    pub fn approval_limit(&self) -> Money {
        self.approval_limit.unwrap_or(APPROVAL_LIMIT)
    }

    fn settings(&self) -> [(&'static str, Option<String>); 8] {
        fn text(value: Option<impl ToString>) -> Option<String> {
            value.map(|it| it.to_string())
        }
        [
            ("rail", text(self.rail)),
            ("clabe-range", text(self.clabe_range)),
            ("transfer-limit", text(self.transfer_limit)),
            ("day-limit", text(self.day_limit)),
            ("risk-enforcement", text(self.risk_enforcement)),
            ("approvals", text(self.approvals)),
            ("approval-limit", text(self.approval_limit)),
            ("durability", self.durability.and_then(|it| Some(it.to_possible_value()?.get_name().to_owned()))),
        ]
    }

    /// The first setting that is given.
    pub fn given(&self) -> Option<(&'static str, String)> {
        self.settings().into_iter().find_map(|(name, value)| Some((name, value?)))
    }

    /// One setting on each line, as on the command line.
    pub fn lines(&self) -> String {
        let given = self.settings().into_iter().filter_map(|(name, value)| Some(format!("--{name}={}\n", value?)));
        given.collect()
    }

    /// The policy with these changes.
    pub fn with(&self, changes: &Self) -> Result<Self, clap::Error> {
        format!("{}{}", self.lines(), changes.lines()).parse()
    }
}

impl FromStr for Policy {
    type Err = clap::Error;

    /// Reads [lines](Policy::lines), the last of a setting.
    fn from_str(lines: &str) -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("policy").no_binary_name(true).args_override_self(true));
        Self::from_arg_matches(&command.try_get_matches_from(lines.lines())?)
    }
}

/// A limit, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling(pub Option<Money>);

impl FromStr for Ceiling {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        if text == "none" { Ok(Self(None)) } else { amount(text).map(|it| Self(Some(it))) }
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(limit) => limit.fmt(f),
            None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_survives_its_lines() {
        let policy: Policy =
            "--rail=stp\n--clabe-range=64618011040000000-64618011049999999\n--day-limit=20000\n--approvals=true\n\
             --durability=local\n--risk-enforcement=shadow"
                .parse()
                .unwrap();
        assert_eq!(policy.lines().parse::<Policy>().unwrap(), policy);
        let changed = policy.with(&"--approvals=false\n--day-limit=none\n--approval-limit=1".parse().unwrap()).unwrap();
        let lines = "--rail=stp\n--clabe-range=64618011040000000-64618011049999999\n--day-limit=none\n\
                     --risk-enforcement=shadow\n--approvals=false\n--approval-limit=1.00\n--durability=local\n";
        assert_eq!(changed.lines(), lines);
        assert!("--rail=stp\n--weaker=true".parse::<Policy>().is_err());
    }
}
