DROP TABLE tally_marks;
DROP TABLE ladder_tallies;
DROP TABLE week_places;
DROP TABLE pair_totals;
DROP TABLE pair_months;
DROP TABLE player_months;

ALTER TABLE chats DROP COLUMN celebrations;

DROP INDEX group_players_played_idx;
DROP INDEX group_players_ranking_idx;
ALTER TABLE group_players DROP COLUMN last_played_at;
CREATE INDEX group_players_ranking_idx ON group_players (ladder_id, elo DESC, id) WHERE played > 0 AND left_at IS NULL;

DROP INDEX match_players_player_id_idx;
CREATE INDEX match_players_player_id_idx ON match_players (player_id, match_id);
ALTER TABLE match_players DROP CONSTRAINT match_players_match_id_fkey;
ALTER TABLE match_players ADD CONSTRAINT match_players_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id);
ALTER TABLE matches DROP CONSTRAINT matches_id_ladder_id_played_at_key;
ALTER TABLE match_players DROP COLUMN ladder_id, DROP COLUMN played_at;
