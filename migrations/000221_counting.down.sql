DROP INDEX sightings_player_id_idx;
