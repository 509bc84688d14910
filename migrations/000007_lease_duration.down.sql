ALTER TABLE leases DROP COLUMN duration;
