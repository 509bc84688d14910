-- the groups that have seen a player, whether or not the player counts as another one there
DROP INDEX sightings_player_id_idx;
CREATE INDEX sightings_player_id_idx ON sightings (player_id);
