-- A match of which nobody counted points has no score: only who won is known.
ALTER TABLE matches
    ALTER score_a DROP NOT NULL,
    ALTER score_b DROP NOT NULL,
    -- the side that won a match without a score, 0 for a draw; null if there is a score
    ADD winner smallint,
    ADD CONSTRAINT matches_winner_check CHECK (CASE
        WHEN winner IS NULL THEN num_nulls(score_a, score_b) = 0
        ELSE winner IN (0, 1, 2) AND num_nonnulls(score_a, score_b, sets) = 0 END);

-- A fix may add the score, or correct who won.
ALTER TABLE match_fixes
    ALTER old_score_a DROP NOT NULL,
    ALTER old_score_b DROP NOT NULL,
    ALTER new_score_a DROP NOT NULL,
    ALTER new_score_b DROP NOT NULL,
    -- as in matches
    ADD old_winner smallint,
    ADD new_winner smallint,
    ADD CONSTRAINT match_fixes_winner_check CHECK (CASE
        WHEN old_winner IS NULL THEN num_nulls(old_score_a, old_score_b) = 0
        ELSE old_winner IN (0, 1, 2) AND num_nonnulls(old_score_a, old_score_b, old_sets) = 0 END
        AND CASE
        WHEN new_winner IS NULL THEN num_nulls(new_score_a, new_score_b) = 0
        ELSE new_winner IN (0, 1, 2) AND num_nonnulls(new_score_a, new_score_b, new_sets) = 0 END),
    DROP CONSTRAINT match_fixes_change_check,
    ADD CONSTRAINT match_fixes_change_check CHECK ((old_score_a, old_score_b, old_sets, old_winner)
        IS DISTINCT FROM (new_score_a, new_score_b, new_sets, new_winner));
