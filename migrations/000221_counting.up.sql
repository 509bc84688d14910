-- In which groups an account counts as another player, for /me in the private chat. With IS NOT NULL, the planner might
-- scan this index for those who count as a player, as long as there are few.
CREATE INDEX sightings_player_id_idx ON sightings (player_id) WHERE (counts_as > 0) IS TRUE;
