-- `caudal verify --since` reads the idempotency keys of recent batches, which nothing else leads to. Keys are stored in the
-- order of their time, so that a summary of each range of pages suffices: a few kilobytes, and inserting costs as much as
-- without it.
create index idempotency_by_time on idempotency using brin (created_at);
