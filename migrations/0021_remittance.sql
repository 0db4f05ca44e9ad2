-- What a sender tells the payee with a transfer: the payment concept and the numeric reference. The constraints skip rows
-- that are already there, which have neither, so that no table is read while it is locked.
alter table transfer
    add column concept text,
    add column numeric_reference int,
    add constraint transfer_concept check (char_length(concept) between 1 and 40) not valid,
    add constraint transfer_numeric_reference check (numeric_reference between 1 and 9999999) not valid,
    add constraint transfer_remittance check (kind = 'spei' or num_nonnulls(concept, numeric_reference) = 0) not valid;

-- Payees are listed with the favourites first.
create index beneficiary_by_favorite on beneficiary (owner, (not is_favorite), created_at, beneficiary_id);
drop index beneficiary_by_owner;
