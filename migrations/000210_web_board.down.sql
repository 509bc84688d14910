ALTER TABLE groups DROP COLUMN web_generation;
