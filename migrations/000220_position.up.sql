-- a match's place in the replay of its ladder, null for the place that follows from its number
ALTER TABLE matches ADD COLUMN position bigint;
DROP INDEX matches_ladder_id_number_idx;
CREATE UNIQUE INDEX matches_ladder_id_position_key
    ON matches (ladder_id, coalesce(position, number::bigint << 32));
DROP INDEX matches_upset_idx;
CREATE INDEX matches_upset_idx
    ON matches (ladder_id, upset DESC, coalesce(position, number::bigint << 32)) WHERE upset IS NOT NULL;
