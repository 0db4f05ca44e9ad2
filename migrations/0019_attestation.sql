-- What vouches for a component: a signature of its bytes, and statements about its origin. Audit records cover every row.

create table attestation (
    sha256 bytea not null references component,
    form text collate "C" not null
        constraint attestation_form check (form in ('signature', 'bill-of-materials', 'provenance')),
    -- As it was sent, so that its signature can be verified again: base64, or JSON.
    body text not null,
    added_by text not null,
    added_at timestamptz not null,
    primary key (sha256, form)
);
