//! `/api/profile/accessibility`

use axum::Json;
use axum::extract::State;
use time::OffsetDateTime;

use crate::app::App;
use crate::auth::User;
use crate::db::profiles;
use crate::domain::profile::{FONT_SCALE, NudgingLevel, Profile, Theme};
use crate::http::error::Error;
use crate::http::extract::LedgerBody;
use crate::http::ledger::accounts::INSTANT_EXAMPLE;
use crate::schema::{answer, request};

request! {
    /// A profile to store. A recommendation can be sent unchanged: other fields are ignored, and names may be
    /// in snake_case.
    pub(crate) struct ProfileRequest in camelCase {
        theme: Theme { example: "\"large-text-high-contrast\"" },
        screen_reader_mode: bool { spelling: "screen_reader_mode", example: "false" },
        /// Text size relative to the default.
        font_scale: f64 {
            at_least: *FONT_SCALE.start(), at_most: *FONT_SCALE.end(), spelling: "font_scale", example: "1.6"
        },
        /// How often the client offers help unprompted.
        nudging_level: NudgingLevel { spelling: "nudging_level", example: "\"high\"" },
        voice_feedback: bool { spelling: "voice_feedback", example: "false" },
    }
}

answer! {
    /// The user's profile.
    pub(crate) struct ProfileJson as "StoredProfile" in camelCase {
        theme: Theme { example: "\"large-text-high-contrast\"" },
        screen_reader_mode: bool { example: "false" },
        /// Text size relative to the default.
        font_scale: f64 { at_least: *FONT_SCALE.start(), at_most: *FONT_SCALE.end(), example: "1.6" },
        /// How often the client offers help unprompted.
        nudging_level: NudgingLevel { example: "\"high\"" },
        voice_feedback: bool { example: "false" },
        /// Null for the default profile.
        updated_at: Option<OffsetDateTime> { nullable: true, example: INSTANT_EXAMPLE },
    }
}

impl ProfileJson {
    fn new(profile: Profile, updated_at: Option<OffsetDateTime>) -> Self {
        Self {
            theme: profile.theme,
            screen_reader_mode: profile.screen_reader_mode,
            font_scale: profile.font_scale,
            nudging_level: profile.nudging_level,
            voice_feedback: profile.voice_feedback,
            updated_at,
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
    let ProfileRequest { theme, screen_reader_mode, font_scale, nudging_level, voice_feedback } = fields.read();
    fields.finish()?;
    let profile = Profile { theme, screen_reader_mode, font_scale, nudging_level, voice_feedback };

    let mut db = app.db.acquire().await?;
    let updated_at = profiles::upsert_profile(&mut db, &owner, &profile, app.clock.now()).await?;
    Ok(Json(ProfileJson::new(profile, Some(updated_at))))
}
