-- since when the web boards of all groups show this account without its name, null if they name it
ALTER TABLE players ADD COLUMN off_web_at timestamptz;
CREATE INDEX players_off_web_idx ON players (id) WHERE off_web_at IS NOT NULL;
