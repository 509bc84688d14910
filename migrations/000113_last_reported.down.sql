CREATE INDEX matches_reported_by_idx ON matches (reported_by, group_id, number);
