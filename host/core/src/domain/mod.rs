//! The bank's domain types and their invariants.
//!
//! Pure: std, and the value types of `time` and `uuid`. No HTTP, SQL, WebAssembly, clock or randomness; the code for
//! those converts to these types. Types sent unchanged over the wire are declared with [`schema`](crate::schema).

pub mod accessibility;
pub mod account_number;
pub mod approval;
pub mod bank_account;
pub mod banks;
pub mod card;
pub mod clabe;
pub mod fact;
pub mod hold;
pub mod incoming;
pub mod model;
pub mod money;
pub mod nudge;
pub mod order;
pub mod outcome;
pub mod profile;
pub mod reason;
pub mod remittance;
pub mod review;
pub mod risk;
pub mod rollout;
pub mod rules;
pub mod schedule;
pub mod sink;
pub mod transfer;

/// Not declared here, because texts are read with it.
pub use crate::schema::text;

/// An enum whose variants have fixed names in JSON and SQL.
#[macro_export]
macro_rules! text_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$case_meta:meta])* $case:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$case_meta])* $case),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// The names of all variants, in the order of [`ALL`](Self::ALL).
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            /// The name in JSON and SQL.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$case => $text),+ }
            }

            /// The variant with exactly this name.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$case),)+ _ => None }
            }
        }

        impl $crate::schema::Value for $name {
            const SHAPE: $crate::schema::Shape =
                $crate::schema::Shape::OneOf { texts: Self::TEXTS, names: &[$(stringify!($case)),+] };
        }

        impl $crate::schema::Read for $name {
            fn read(
                literal: $crate::schema::Literal<'_>,
                _: &$crate::schema::Shape,
            ) -> Result<Self, $crate::schema::Fault> {
                let text = literal.string().ok_or($crate::schema::Fault::new("wrong-type", "must be a string"))?;
                Self::parse(&text).ok_or_else(|| {
                    let detail = format!("must be one of {}", Self::TEXTS.join(", "));
                    $crate::schema::Fault::new("unknown-value", detail)
                })
            }

            fn placeholder() -> Self {
                Self::ALL[0]
            }
        }

        impl $crate::schema::Write for $name {
            fn write<S: $crate::schema::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub use crate::text_enum;

/// Why a component's answer was discarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAnswer(pub &'static str);

impl std::fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadAnswer {}

/// Rejects NaN too.
fn check_unit_interval(value: f64, complaint: &'static str) -> Result<(), BadAnswer> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(BadAnswer(complaint)) }
}
