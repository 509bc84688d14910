CREATE TABLE webhook_instances (
    name       text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    CONSTRAINT webhook_instances_pkey PRIMARY KEY (name)
);
