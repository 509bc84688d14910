DROP INDEX matches_upset_idx;
DROP INDEX matches_ladder_id_position_key;
ALTER TABLE matches DROP COLUMN position;
CREATE INDEX matches_ladder_id_number_idx ON matches (ladder_id, number);
CREATE INDEX matches_upset_idx ON matches (ladder_id, upset DESC, number) WHERE upset IS NOT NULL;
