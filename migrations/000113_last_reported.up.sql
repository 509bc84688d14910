-- the last match that somebody reported is among those of the time in which it can be undone
DROP INDEX matches_reported_by_idx;
