ALTER TABLE ladders
    -- how many calendar months an automatic season lasts; 0 if admins start each one
    ADD COLUMN season_months smallint NOT NULL DEFAULT 0
        CONSTRAINT ladders_season_months_check CHECK (season_months IN (0, 1, 3));
