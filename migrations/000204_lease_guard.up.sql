-- Who writes under a lease shares an advisory lock, and who takes the lease over holds it exclusively (postgres.QueueEpoch). Nobody locks
-- the row FOR KEY SHARE, so it needs no key with the epoch.
ALTER TABLE leases DROP CONSTRAINT leases_name_epoch_key;
