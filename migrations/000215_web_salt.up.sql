-- what the link of a group's web board is made of. It stays while the board is off.
ALTER TABLE groups ADD COLUMN web_on boolean NOT NULL DEFAULT false, ADD COLUMN web_salt uuid;
-- links were made of ids, which come again after a restore: they end, and boards that are on have
-- others
UPDATE groups SET web_on = true, web_salt = gen_random_uuid() WHERE web_generation > 0;
ALTER TABLE groups DROP COLUMN web_generation,
    ADD CONSTRAINT groups_web_salt_check CHECK (NOT web_on OR web_salt IS NOT NULL);
