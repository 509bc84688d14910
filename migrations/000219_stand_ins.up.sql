-- how many guests without a name filled a place on each side, null for none; they are nobody and do not count
ALTER TABLE matches
    ADD COLUMN stand_ins_a smallint,
    ADD COLUMN stand_ins_b smallint,
    ADD CONSTRAINT matches_stand_ins_check CHECK (stand_ins_a > 0 AND stand_ins_b > 0
        AND coalesce(stand_ins_a, 0) + coalesce(stand_ins_b, 0) <= 2);
