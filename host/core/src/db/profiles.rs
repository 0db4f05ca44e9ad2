//! Accessibility profiles.

use sqlx::PgConnection;
use time::OffsetDateTime;

use super::unknown_text;
use crate::domain::profile::{NudgingLevel, Profile, Theme};

/// The profile and the time it was stored.
pub async fn find_profile(
    db: &mut PgConnection,
    owner: &str,
) -> Result<Option<(Profile, OffsetDateTime)>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select theme, screen_reader_mode, font_scale, nudging_level, voice_feedback, updated_at
        from profile where owner = $1
        "#,
        owner,
    )
    .fetch_optional(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let profile = Profile {
        theme: Theme::parse(&row.theme).ok_or_else(|| unknown_text("profile.theme", &row.theme))?,
        screen_reader_mode: row.screen_reader_mode,
        font_scale: row.font_scale,
        nudging_level: NudgingLevel::parse(&row.nudging_level)
            .ok_or_else(|| unknown_text("profile.nudging_level", &row.nudging_level))?,
        voice_feedback: row.voice_feedback,
    };
    Ok(Some((profile, row.updated_at)))
}

/// Returns when: now, or one millisecond after the last change, so that times order the answers to concurrent changes.
pub async fn upsert_profile(
    db: &mut PgConnection,
    owner: &str,
    profile: &Profile,
    now: OffsetDateTime,
) -> Result<OffsetDateTime, sqlx::Error> {
    sqlx::query_scalar!(
        r#"
        insert into profile as p (owner, theme, screen_reader_mode, font_scale, nudging_level, voice_feedback, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (owner) do update
        set theme = excluded.theme, screen_reader_mode = excluded.screen_reader_mode,
            font_scale = excluded.font_scale, nudging_level = excluded.nudging_level,
            voice_feedback = excluded.voice_feedback,
            -- A request that waited for the row's lock read the clock before its predecessor was stored.
            updated_at = greatest(excluded.updated_at, p.updated_at + interval '1 millisecond')
        returning updated_at
        "#,
        owner,
        profile.theme.as_str(),
        profile.screen_reader_mode,
        profile.font_scale,
        profile.nudging_level.as_str(),
        profile.voice_feedback,
        now,
    )
    .fetch_one(db)
    .await
}
