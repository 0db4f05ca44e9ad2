-- Which share of the customers sees which variant of the bank page's warnings. One row for each change; the last one holds.
-- Audit records cover every row.

create table warning_experiment (
    -- Counted from 1, so that of two changes at one time only one is made.
    change bigint primary key constraint warning_experiment_change check (change > 0),
    -- Another name reassigns every customer and is counted separately.
    name text not null,
    variants text[] not null,
    percentages smallint[] not null
        constraint warning_experiment_percentages check (cardinality(percentages) = cardinality(variants)),
    reason text not null,
    changed_by text not null,
    changed_at timestamptz not null
);

-- What became of warnings is a small part of a month's events, and the console asks for it again and again.
create index event_of_warnings on event (received_at) where event_type in
    ('warning_shown', 'warning_stopped', 'warning_continued', 'fraud_help_opened');
