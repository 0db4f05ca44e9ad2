//! How a row is sealed, and how it travels: as a value of a composite type.

use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::domain::rules::Violation;
use crate::sealing::digest::{Digest, Hash};

/// A row of a table.
pub(crate) trait Row {
    /// The view of its table, which has the columns of this release in their order: to write through its type leaves out
    /// a column that a later release has added.
    const VIEW: &'static str;

    /// Every field but those that are [`Unsealed`].
    fn add_to(&self, digest: &mut Digest);

    /// Its leaf in the tree of its batch.
    fn leaf(&self) -> Hash {
        let mut digest = Digest::new(Self::table().as_bytes());
        self.add_to(&mut digest);
        digest.finish()
    }

    fn table() -> &'static str {
        Self::VIEW.trim_end_matches("_row")
    }
}

/// A field of a row.
pub(super) trait Field {
    fn add_to(&self, digest: &mut Digest);
}

/// What changes after the row was written, so that a row of another table covers it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub(crate) struct Unsealed<T>(pub(crate) T);

impl<T> Field for Unsealed<T> {
    fn add_to(&self, _: &mut Digest) {}
}

impl<T: Field> Field for Option<T> {
    fn add_to(&self, digest: &mut Digest) {
        digest.int(i64::from(self.is_some()));
        if let Some(field) = self {
            field.add_to(digest);
        }
    }
}

macro_rules! fields {
    ($($type:ty: |$field:ident, $digest:ident| $add:expr,)+) => { $(
        impl Field for $type {
            fn add_to(&self, $digest: &mut Digest) {
                let $field = self;
                $add;
            }
        }
    )+ };
}

fields! {
    bool: |field, digest| digest.int(i64::from(*field)),
    i16: |field, digest| digest.int(i64::from(*field)),
    i32: |field, digest| digest.int(i64::from(*field)),
    i64: |field, digest| digest.int(*field),
    Date: |field, digest| digest.int(i64::from(field.to_julian_day())),
    OffsetDateTime: |field, digest| digest.time(*field),
    String: |field, digest| digest.text(field),
    Uuid: |field, digest| digest.uuid(*field),
    Vec<u8>: |field, digest| digest.bytes(field),
    // Its objects are ordered by name.
    serde_json::Value: |field, digest| digest.text(&field.to_string()),
}

/// Implements a row's conversion from and to Postgres.
macro_rules! composite {
    ($name:ident as $view:literal { $($field:ident),+ }) => {
        impl sqlx::Type<sqlx::Postgres> for $name {
            fn type_info() -> sqlx::postgres::PgTypeInfo {
                sqlx::postgres::PgTypeInfo::with_name($view)
            }

            /// Also the table's own type, which may have more columns than this release knows.
            fn compatible(info: &sqlx::postgres::PgTypeInfo) -> bool {
                matches!(info.kind(), sqlx::postgres::PgTypeKind::Composite(_))
            }
        }

        impl sqlx::postgres::PgHasArrayType for $name {
            fn array_type_info() -> sqlx::postgres::PgTypeInfo {
                sqlx::postgres::PgTypeInfo::array_of($view)
            }
        }

        impl sqlx::Encode<'_, sqlx::Postgres> for $name {
            fn encode_by_ref(
                &self,
                buffer: &mut sqlx::postgres::PgArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                let mut record = sqlx::postgres::types::PgRecordEncoder::new(buffer);
                $(record.encode(&self.$field)?;)+
                record.finish();
                Ok(sqlx::encode::IsNull::No)
            }
        }

        impl<'r> sqlx::Decode<'r, sqlx::Postgres> for $name {
            fn decode(value: sqlx::postgres::PgValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                let mut record = sqlx::postgres::types::PgRecordDecoder::new(value)?;
                Ok(Self { $($field: record.try_decode()?),+ })
            }
        }
    };
}

pub(super) use composite;

pub(crate) fn rejection_to_json(violations: &[Violation]) -> serde_json::Value {
    let violation = |violation: &Violation| serde_json::json!({"code": violation.code, "detail": violation.detail});
    violations.iter().map(violation).collect()
}

pub(crate) fn rejection_from_json(rejection: &serde_json::Value) -> Result<Vec<Violation>, sqlx::Error> {
    let text = |violation: &serde_json::Value, field: &str| Some(violation.get(field)?.as_str()?.to_owned());
    let violation = |violation| Some(Violation { code: text(violation, "code")?, detail: text(violation, "detail")? });
    let violations: Option<Vec<_>> = rejection.as_array().and_then(|list| list.iter().map(violation).collect());
    let violations = violations.filter(|list| !list.is_empty());
    violations.ok_or_else(|| sqlx::Error::Decode("a stored rejection is malformed".into()))
}
