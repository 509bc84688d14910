-- A score loses the half points of both sides, which changes no rating. Drawn games are no sets.
ALTER TABLE match_fixes DROP CONSTRAINT match_fixes_change_check, DROP CONSTRAINT match_fixes_score_check;
UPDATE match_fixes SET old_score_a = old_score_a % 1000, old_score_b = old_score_b % 1000, new_score_a = new_score_a % 1000,
    new_score_b = new_score_b % 1000, old_sets = CASE WHEN 1000 > ALL (old_sets) THEN old_sets END,
    new_sets = CASE WHEN 1000 > ALL (new_sets) THEN new_sets END
WHERE greatest(old_score_a, new_score_a) >= 1000 OR 1000 <= ANY (old_sets || new_sets);
DELETE FROM match_fixes
WHERE (old_score_a, old_score_b, old_sets, old_winner) IS NOT DISTINCT FROM (new_score_a, new_score_b, new_sets, new_winner);
ALTER TABLE match_fixes
    ADD CONSTRAINT match_fixes_change_check CHECK ((old_score_a, old_score_b, old_sets, old_winner)
        IS DISTINCT FROM (new_score_a, new_score_b, new_sets, new_winner)),
    ADD CONSTRAINT match_fixes_score_check CHECK (old_score_a BETWEEN 0 AND 999 AND old_score_b BETWEEN 0 AND 999
        AND new_score_a BETWEEN 0 AND 999 AND new_score_b BETWEEN 0 AND 999);

UPDATE matches SET score_a = score_a % 1000, score_b = score_b % 1000, sets = CASE WHEN 1000 > ALL (sets) THEN sets END
WHERE score_a >= 1000 OR 1000 <= ANY (sets);
ALTER TABLE matches
    DROP COLUMN games,
    DROP CONSTRAINT matches_score_check,
    ADD CONSTRAINT matches_score_check CHECK (score_a BETWEEN 0 AND 999 AND score_b BETWEEN 0 AND 999),
    DROP CONSTRAINT matches_sets_check,
    ADD CONSTRAINT matches_sets_check CHECK (sets IS NULL OR
        (array_ndims(sets) = 2 AND array_length(sets, 1) BETWEEN 2 AND 25 AND array_length(sets, 2) = 2
         AND 0 <= ALL (sets) AND 999 >= ALL (sets)) IS TRUE);
