ALTER TABLE players DROP COLUMN off_web_at;
