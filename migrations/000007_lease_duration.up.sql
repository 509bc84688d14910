-- For how long the lease is taken and renewed at a time: its end cannot be further ahead, unless the clock was set back. Null
-- where an instance of the release before has taken it.
ALTER TABLE leases
    ADD COLUMN duration interval,
    ADD CONSTRAINT leases_duration_check CHECK (duration > interval '0');
