-- Preferences, never diagnoses: what the client should look like, not why.
create table profile (
    owner text collate "C" primary key,
    theme text not null constraint profile_theme
        check (theme in ('standard-accessible', 'large-text-high-contrast', 'voice-assisted')),
    screen_reader_mode boolean not null,
    font_scale double precision not null constraint profile_font_scale check (font_scale between 0.8 and 2.0),
    nudging_level text not null constraint profile_nudging_level check (nudging_level in ('low', 'medium', 'high')),
    voice_feedback boolean not null,
    updated_at timestamptz not null
);
