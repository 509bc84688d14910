-- Only the last season of a ladder can be seen then. The matches of the others stay, without standings.
ALTER TABLE matches
    DROP CONSTRAINT matches_season_id_fkey,
    DROP COLUMN season_id,
    ADD CONSTRAINT matches_ladder_id_fkey FOREIGN KEY (group_id, ladder_id) REFERENCES ladders (group_id, id);

DELETE FROM group_players s WHERE NOT EXISTS (SELECT FROM ladders l WHERE l.season_id = s.season_id);
ALTER TABLE group_players DROP CONSTRAINT group_players_season_id_fkey, DROP CONSTRAINT group_players_season_id_player_id_key;
UPDATE group_players s SET season_id = l.id FROM ladders l WHERE l.season_id = s.season_id AND l.id <> s.season_id;
ALTER TABLE group_players RENAME season_id TO ladder_id;
ALTER TABLE group_players
    ADD CONSTRAINT group_players_ladder_id_player_id_key UNIQUE (ladder_id, player_id),
    ADD CONSTRAINT group_players_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id);

ALTER TABLE ladders DROP CONSTRAINT ladders_season_id_fkey, DROP COLUMN season_id, DROP COLUMN season_halfway;
DROP TABLE seasons;
