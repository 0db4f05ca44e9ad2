-- Saved payees. The same account may be saved twice; risk history goes by account number.
create table beneficiary (
    beneficiary_id uuid primary key,
    owner text collate "C" not null,
    name text not null,
    alias text,
    account_number text not null,
    bank_name text not null,
    is_favorite boolean not null default false,
    created_at timestamptz not null
);
create index beneficiary_by_owner on beneficiary (owner, created_at, beneficiary_id);
