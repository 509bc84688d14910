-- for the largest upset of a month, which every result needs to know
CREATE INDEX matches_month_upset_idx ON matches (ladder_id, played_at) WHERE upset IS NOT NULL;
