-- After this moment there is no point in telling it any more; null means that there always is.
ALTER TABLE outbox ADD COLUMN expires_at timestamptz;
