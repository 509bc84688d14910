-- A session that writes under a lease shares an advisory lock, and a session that takes the lease
-- over holds it exclusively (postgres.QueueEpoch). No session locks the row FOR KEY SHARE anymore,
-- so it needs no key with the epoch.
ALTER TABLE leases DROP CONSTRAINT leases_name_epoch_key;
