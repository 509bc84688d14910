ALTER TABLE outbox DROP COLUMN expires_at;
