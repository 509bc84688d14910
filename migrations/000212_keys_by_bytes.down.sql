ALTER TABLE leases ALTER COLUMN name TYPE text;
ALTER TABLE handled_commands ALTER COLUMN key TYPE text;
ALTER TABLE matches ALTER COLUMN idempotency_key TYPE text;
ALTER TABLE timers ALTER COLUMN key TYPE text;
ALTER TABLE outbox ALTER COLUMN supersede_key TYPE text;
ALTER TABLE ensured_messages ALTER COLUMN object TYPE text;
