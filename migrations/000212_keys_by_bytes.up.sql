-- What keeps something from counting twice compares by bytes: a rule of a language, which differs
-- between versions of the C library and of ICU, makes an index that another version wrote useless,
-- and then a key that is there is not found. Tables are locked in the order in which commands lock
-- them. No table is rewritten, but the indexes of these columns are.
ALTER TABLE leases ALTER COLUMN name TYPE text COLLATE "C";
ALTER TABLE handled_commands ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE matches ALTER COLUMN idempotency_key TYPE text COLLATE "C";
ALTER TABLE timers ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE outbox ALTER COLUMN supersede_key TYPE text COLLATE "C";
ALTER TABLE ensured_messages ALTER COLUMN object TYPE text COLLATE "C";
