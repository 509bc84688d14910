ALTER TABLE groups ADD COLUMN web_generation integer NOT NULL DEFAULT 0;
-- a random generation, so that links that were revoked before stay so
UPDATE groups SET web_generation = CASE WHEN web_on THEN 1 ELSE -1 END * (1000000 + floor(random() * 1000000000))::integer
WHERE web_salt IS NOT NULL;
ALTER TABLE groups DROP COLUMN web_on, DROP COLUMN web_salt;
