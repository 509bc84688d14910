-- What has to be known after a process has ended without stopping.

-- The attempts at updates that have begun and not returned. They are counted only after such an end.
CREATE TABLE update_attempts (
    update_id     bigint NOT NULL,
    attempts      integer NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_begun_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT update_attempts_pkey PRIMARY KEY (update_id),
    CONSTRAINT update_attempts_attempts_check CHECK (attempts >= 1)
);

CREATE INDEX update_attempts_last_begun_at_idx ON update_attempts (last_begun_at); -- for the purge

-- The instances that updates are delivered to. An instance that stops deletes its row, so a row that is not renewed any
-- more is that of an instance that has ended without stopping.
CREATE TABLE webhook_instances (
    name       text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    CONSTRAINT webhook_instances_pkey PRIMARY KEY (name)
);
