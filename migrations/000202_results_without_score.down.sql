-- A win without a score becomes 1:0 and a draw 0:0, which change ratings in the same way.
ALTER TABLE match_fixes DROP CONSTRAINT match_fixes_winner_check, DROP CONSTRAINT match_fixes_change_check;
UPDATE match_fixes SET old_score_a = (old_winner = 1)::integer, old_score_b = (old_winner = 2)::integer WHERE old_winner IS NOT NULL;
UPDATE match_fixes SET new_score_a = (new_winner = 1)::integer, new_score_b = (new_winner = 2)::integer WHERE new_winner IS NOT NULL;
DELETE FROM match_fixes WHERE (old_score_a, old_score_b, old_sets) IS NOT DISTINCT FROM (new_score_a, new_score_b, new_sets);
ALTER TABLE match_fixes
    DROP old_winner,
    DROP new_winner,
    ALTER old_score_a SET NOT NULL,
    ALTER old_score_b SET NOT NULL,
    ALTER new_score_a SET NOT NULL,
    ALTER new_score_b SET NOT NULL,
    ADD CONSTRAINT match_fixes_change_check CHECK ((old_score_a, old_score_b, old_sets)
        IS DISTINCT FROM (new_score_a, new_score_b, new_sets));

ALTER TABLE matches DROP CONSTRAINT matches_winner_check;
UPDATE matches SET score_a = (winner = 1)::integer, score_b = (winner = 2)::integer WHERE winner IS NOT NULL;
ALTER TABLE matches DROP winner, ALTER score_a SET NOT NULL, ALTER score_b SET NOT NULL;
