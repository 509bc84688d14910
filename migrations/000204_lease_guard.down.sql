ALTER TABLE leases ADD CONSTRAINT leases_name_epoch_key UNIQUE (name, epoch);
