//! The macros that declare a struct and its wire form in one place.
//!
//! ```ignore
//! record! {
//!     /// Facts about a transfer and its sender.
//!     pub struct Request as "RiskRequest" {
//!         /// Amount of the transfer.
//!         pub amount: f64 { at_least: 0.0, unit: "MXN", example: "1500.5" },
//!         /// Minutes since the beneficiary was saved.
//!         pub beneficiary_saved_minutes: Option<u32>,
//!     }
//! }
//! ```
//!
//! Doc comments become descriptions; the entries in braces are methods of [`Field`](super::Field). `in camelCase` after
//! the name changes the fields' spelling, `= value` after a type keeps the field off the wire.

use serde::Serializer;
use serde::ser::SerializeStruct;

use super::field::Record;

/// A record that is written to answers.
pub trait ToFields: Record {
    fn to_fields<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error>;

    fn to_json<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct(Self::DECLARATION.name, Self::DECLARATION.fields.len())?;
        self.to_fields(&mut object)?;
        object.end()
    }
}

/// Declares a struct that is read.
#[macro_export]
macro_rules! request {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident $(as $known_as:literal)? $(in $case:ident)? { $($fields:tt)* }
    ) => {
        $crate::record_declare! { [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } }
        $crate::record_read! { [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } }
    };
}

/// Declares a struct that is written, and by the programs of this crate read again if it derives `Deserialize`.
#[macro_export]
macro_rules! answer {
    (
        $(#[doc = $about:literal])*
        $(#[derive($also:path)])?
        $vis:vis struct $name:ident $(as $known_as:literal)? $(in $case:ident)? { $($fields:tt)* }
    ) => {
        $crate::record_declare! {
            [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } $($also)?
        }
        $crate::record_write! { [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } }
    };
}

/// Declares a struct that is read and written, and by the programs of this crate read again if it derives `Deserialize`.
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $about:literal])*
        $(#[derive($also:path)])?
        $vis:vis struct $name:ident $(as $known_as:literal)? $(in $case:ident)? { $($fields:tt)* }
    ) => {
        $crate::record_declare! {
            [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } $($also)?
        }
        $crate::record_read! { [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } }
        $crate::record_write! { [$($case)?] [$($known_as)?] [$($about)*] $vis $name { $($fields)* } }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! record_declare {
    (
        $case:tt $known_as:tt [$($about:literal)*] $vis:vis $name:ident {
            $(
                $(#[doc = $field_about:literal])*
                $field_vis:vis $field:ident: $type:ty $({ $($key:ident: $value:expr),* $(,)? })? $(= $hidden:expr)?
            ),* $(,)?
        } $($also:path)?
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq)]
        $(#[derive($also)])?
        $vis struct $name {
            $( $(#[doc = $field_about])* $field_vis $field: $type, )*
        }

        impl $crate::schema::Record for $name {
            const DECLARATION: $crate::schema::Declaration = $crate::schema::Declaration {
                name: $crate::declared_name!($name $known_as),
                about: concat!($($about, "\n",)* ""),
                fields: &[
                    $( $crate::declared_value!(
                        $case $field [$($field_about)*] [$($hidden)?] $type; $($($key: $value,)*)?
                    ), )*
                ],
            };
        }

        impl $crate::schema::Value for $name {
            const SHAPE: $crate::schema::Shape =
                $crate::schema::Shape::Object(&<Self as $crate::schema::Record>::DECLARATION);
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! record_read {
    (
        $case:tt $known_as:tt [$($about:literal)*] $vis:vis $name:ident {
            $(
                $(#[doc = $field_about:literal])*
                $field_vis:vis $field:ident: $type:ty $({ $($key:ident: $value:expr),* $(,)? })? $(= $hidden:expr)?
            ),* $(,)?
        }
    ) => {
        impl $crate::schema::FromFields for $name {
            fn from_fields(fields: &mut $crate::schema::Fields) -> Self {
                Self {
                    $( $field: $crate::hidden_or!([$($hidden)?] {
                        const FIELD: $crate::schema::Field = $crate::declared_value!(
                            $case $field [] [] $type; $($($key: $value,)*)?
                        );
                        <$type as $crate::schema::Read>::take(fields, &FIELD)
                    }), )*
                }
            }
        }

        impl $crate::schema::Read for $name {
            fn read(
                _: $crate::schema::Literal<'_>,
                _: &$crate::schema::Shape,
            ) -> Result<Self, $crate::schema::Fault> {
                Ok(Self::placeholder())
            }

            fn placeholder() -> Self {
                $crate::schema::FromFields::from_fields(&mut $crate::schema::Fields::from_query([("", ""); 0]))
            }

            fn take(fields: &mut $crate::schema::Fields, field: &$crate::schema::Field) -> Self {
                fields.object(field).unwrap_or_else(Self::placeholder)
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! record_write {
    (
        $case:tt $known_as:tt [$($about:literal)*] $vis:vis $name:ident {
            $(
                $(#[doc = $field_about:literal])*
                $field_vis:vis $field:ident: $type:ty $({ $($key:ident: $value:expr),* $(,)? })? $(= $hidden:expr)?
            ),* $(,)?
        }
    ) => {
        impl $crate::schema::ToFields for $name {
            fn to_fields<S: serde::ser::SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error> {
                $( $crate::hidden_or!([$($hidden)?] write {
                    const FIELD: $crate::schema::Field = $crate::declared_value!(
                        $case $field [] [] $type; $($($key: $value,)*)?
                    );
                    <$type as $crate::schema::Write>::put(&self.$field, to, &FIELD)?;
                }); )*
                Ok(())
            }
        }

        impl $crate::schema::Write for $name {
            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::schema::ToFields::to_json(self, serializer)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::schema::ToFields::to_json(self, serializer)
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! declared_name {
    ($name:ident []) => {
        stringify!($name)
    };
    ($name:ident [$known_as:literal]) => {
        $known_as
    };
}

/// One [`Field`](super::Field).
#[doc(hidden)]
#[macro_export]
macro_rules! declared_value {
    ([$($case:ident)?] $field:ident [$($about:literal)*] [$hidden:expr] $type:ty; $($key:ident: $value:expr,)*) => {
        $crate::schema::Field::new(stringify!($field), "", $crate::schema::Shape::Hidden, false)
    };
    ([] $field:ident [$($about:literal)*] [] $type:ty; $($key:ident: $value:expr,)*) => {
        $crate::schema::Field::new(
            stringify!($field),
            concat!($($about, "\n",)* ""),
            <$type as $crate::schema::Value>::SHAPE,
            <$type as $crate::schema::Value>::REQUIRED,
        )$(.$key($value))*
    };
    ([camelCase] $field:ident [$($about:literal)*] [] $type:ty; $($key:ident: $value:expr,)*) => {
        $crate::schema::Field::new(
            {
                const BYTES: [u8; $crate::schema::names::camel_length(stringify!($field))] =
                    $crate::schema::names::camel(stringify!($field));
                match std::str::from_utf8(&BYTES) {
                    Ok(name) => name,
                    Err(_) => panic!("a name is not UTF-8"),
                }
            },
            concat!($($about, "\n",)* ""),
            <$type as $crate::schema::Value>::SHAPE,
            <$type as $crate::schema::Value>::REQUIRED,
        )$(.$key($value))*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! hidden_or {
    ([$hidden:expr] write $put:block) => {};
    ([] write $put:block) => {
        $put
    };
    ([$hidden:expr] $read:block) => {
        $hidden
    };
    ([] $read:block) => {
        $read
    };
}
