DROP INDEX sightings_player_id_idx;
CREATE INDEX sightings_player_id_idx ON sightings (player_id) WHERE (counts_as > 0) IS TRUE;
