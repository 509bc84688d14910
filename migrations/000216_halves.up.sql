-- A score may have half a point for each side, as drawn games of a series give it. 1000 stands for that in the
-- points of both sides: 2½:½ is 1002:1000, and a drawn game is the set {1000,1000}.
ALTER TABLE matches
    DROP CONSTRAINT matches_score_check,
    ADD CONSTRAINT matches_score_check CHECK (score_a BETWEEN 0 AND 1999 AND score_b BETWEEN 0 AND 1999
        AND score_a / 1000 = score_b / 1000),
    DROP CONSTRAINT matches_sets_check,
    ADD CONSTRAINT matches_sets_check CHECK (sets IS NULL OR
        array_length(sets, 1) BETWEEN 2 AND 25 IS TRUE
        AND sets::text ~ '^\{(,?\{([0-9]{1,3},[0-9]{1,3}|1[0-9]{3},1[0-9]{3})\})+\}$'),
    -- the games of a match that ended early, as they were typed; they do not count
    ADD COLUMN games text,
    ADD CONSTRAINT matches_games_check CHECK (games <> '');
ALTER TABLE match_fixes
    DROP CONSTRAINT match_fixes_score_check,
    ADD CONSTRAINT match_fixes_score_check CHECK (old_score_a BETWEEN 0 AND 1999 AND old_score_b BETWEEN 0 AND 1999
        AND new_score_a BETWEEN 0 AND 1999 AND new_score_b BETWEEN 0 AND 1999
        AND old_score_a / 1000 = old_score_b / 1000 AND new_score_a / 1000 = new_score_b / 1000);
