DROP TABLE imports;
ALTER TABLE groups DROP COLUMN import_secret;
