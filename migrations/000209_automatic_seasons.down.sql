-- Seasons that go on do so until an admin ends them.
DELETE FROM timers WHERE starts_with(key, 't:season:');
UPDATE seasons s SET ends_at = NULL FROM ladders l WHERE l.season_id = s.id;
ALTER TABLE ladders DROP COLUMN season_months;
