-- Decisions that were kept so that they can be run again: only where a host is told to keep them, and for
-- ninety days. Request and answer are kept as the text that they were: a number in it is then the same
-- number for good.

create table decision (
    decision_id uuid primary key,
    kind text not null constraint decision_kind check (kind in ('risk', 'transfer-rules')),
    model_version text not null,
    request text not null,
    response text not null,
    decided_at timestamptz not null
);
-- By age they are looked for, and deleted.
create index decision_decided_at on decision (decided_at, decision_id);
