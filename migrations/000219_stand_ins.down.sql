ALTER TABLE matches
    DROP COLUMN stand_ins_a,
    DROP COLUMN stand_ins_b;
