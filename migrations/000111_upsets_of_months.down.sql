DROP INDEX matches_month_upset_idx;
