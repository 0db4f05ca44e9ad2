//! `/api/profile/accessibility`

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::User;
use crate::clock::timestamp;
use crate::db::profiles;
use crate::domain::profile::{FONT_SCALE, NudgingLevel, Profile, Theme};
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::fields::Fields;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProfileJson {
    theme: &'static str,
    screen_reader_mode: bool,
    font_scale: f64,
    nudging_level: &'static str,
    voice_feedback: bool,
    updated_at: Option<String>,
}

impl ProfileJson {
    fn new(profile: Profile, updated_at: Option<OffsetDateTime>) -> Self {
        Self {
            theme: profile.theme.as_str(),
            screen_reader_mode: profile.screen_reader_mode,
            font_scale: profile.font_scale,
            nudging_level: profile.nudging_level.as_str(),
            voice_feedback: profile.voice_feedback,
            updated_at: updated_at.map(timestamp),
        }
    }
}

/// The user's profile, or the default one.
pub(crate) async fn get_profile(State(app): State<App>, User(owner): User) -> Result<Json<ProfileJson>, Error> {
    let mut db = app.db.acquire().await?;
    Ok(Json(match profiles::find_profile(&mut db, &owner).await? {
        Some((profile, updated_at)) => ProfileJson::new(profile, Some(updated_at)),
        None => ProfileJson::new(Profile::default(), None),
    }))
}

/// Replaces the whole profile.
pub(crate) async fn put_profile(
    State(app): State<App>,
    User(owner): User,
    LedgerBody(mut fields): LedgerBody,
) -> Result<Json<ProfileJson>, Error> {
    let screen_reader_mode = spelling(&mut fields, "screenReaderMode", "screen_reader_mode");
    let font_scale = spelling(&mut fields, "fontScale", "font_scale");
    let nudging_level = spelling(&mut fields, "nudgingLevel", "nudging_level");
    let voice_feedback = spelling(&mut fields, "voiceFeedback", "voice_feedback");
    let profile = Profile {
        theme: fields.one_of("theme", Theme::ALL, Theme::parse),
        screen_reader_mode: fields.boolean(screen_reader_mode),
        font_scale: fields.number(font_scale, *FONT_SCALE.start(), *FONT_SCALE.end()),
        nudging_level: fields.one_of(nudging_level, NudgingLevel::ALL, NudgingLevel::parse),
        voice_feedback: fields.boolean(voice_feedback),
    };
    fields.finish()?;

    let now = app.clock.now();
    let mut db = app.db.acquire().await?;
    profiles::upsert_profile(&mut db, &owner, &profile, now).await?;
    Ok(Json(ProfileJson::new(profile, Some(now))))
}

/// The name under which the field was sent. Recommendations use snake_case and may be sent back unchanged; both
/// spellings at once are refused, since they could differ.
fn spelling(fields: &mut Fields, camel: &'static str, snake: &'static str) -> &'static str {
    match (fields.has(camel), fields.has(snake)) {
        (true, true) => {
            fields.refuse(snake, "conflict", format!("is the same field as {camel}: send one of them"));
            camel
        }
        (false, true) => snake,
        (_, false) => camel,
    }
}
