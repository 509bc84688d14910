ALTER TABLE outbox RESET (fillfactor);
ALTER TABLE group_players RESET (fillfactor);
CREATE INDEX group_players_ranking_idx ON group_players (ladder_id, (played < 5), elo DESC, id) INCLUDE (played, drawn, last_played_at)
    WHERE played > 0 AND left_at IS NULL;
CREATE INDEX sightings_player_id_idx ON sightings (player_id);
CREATE INDEX matches_ladder_id_number_idx ON matches (ladder_id, number);
CREATE INDEX group_players_played_idx ON group_players (ladder_id, played DESC, player_id);

ALTER TABLE matches ADD CONSTRAINT matches_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id);
ALTER TABLE matches ADD CONSTRAINT matches_id_ladder_id_played_at_key UNIQUE (id, ladder_id, played_at);
ALTER TABLE match_players DROP CONSTRAINT match_players_match_id_fkey;
ALTER TABLE match_players ADD COLUMN ladder_id bigint, ADD COLUMN played_at timestamptz;
UPDATE match_players mp SET ladder_id = m.ladder_id, played_at = m.played_at FROM matches m WHERE m.id = mp.match_id;
ALTER TABLE match_players ALTER COLUMN ladder_id SET NOT NULL, ALTER COLUMN played_at SET NOT NULL;
ALTER TABLE match_players ADD CONSTRAINT match_players_match_id_fkey FOREIGN KEY (match_id, ladder_id, played_at)
    REFERENCES matches (id, ladder_id, played_at) ON UPDATE CASCADE;
DROP INDEX match_players_player_id_idx;
CREATE INDEX match_players_player_id_idx ON match_players (player_id, ladder_id, played_at, match_id);

ALTER TABLE elo_history DROP COLUMN longest_before;
ALTER TABLE group_players DROP COLUMN longest_streak;
DROP INDEX matches_upset_idx;
ALTER TABLE matches DROP COLUMN upset;

-- What a player did in a month (of UTC): a row only if the player played a match that counts.
CREATE TABLE player_months (
    ladder_id    bigint NOT NULL,
    player_id    bigint NOT NULL,
    -- its first day
    month        date NOT NULL,
    played       integer NOT NULL,
    won          integer NOT NULL,
    drawn        integer NOT NULL,
    lost         integer NOT NULL,
    -- the highest rating after a match of the month, and the first match that led to it
    best_elo     integer NOT NULL,
    best_match   bigint NOT NULL,
    -- the most wins in a row that a match of the month completed, and the first match that did; null for none
    streak       integer,
    streak_match bigint,
    -- by how much the largest rating that the player's side beat exceeded that of the side, and the first such match; null for none
    upset        integer,
    upset_match  bigint,
    CONSTRAINT player_months_pkey PRIMARY KEY (ladder_id, player_id, month),
    CONSTRAINT player_months_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT player_months_played_check CHECK (played > 0 AND won >= 0 AND drawn >= 0 AND lost >= 0 AND played = won + drawn + lost),
    CONSTRAINT player_months_streak_check CHECK ((streak IS NULL) = (streak_match IS NULL) AND streak > 0),
    CONSTRAINT player_months_upset_check CHECK ((upset IS NULL) = (upset_match IS NULL) AND upset > 0)
);
-- for the records of a month: the first in the order of an index
CREATE INDEX player_months_played_idx ON player_months (ladder_id, month, played DESC, player_id);
CREATE INDEX player_months_best_idx ON player_months (ladder_id, month, best_elo DESC, best_match, player_id);
CREATE INDEX player_months_streak_idx ON player_months (ladder_id, month, streak DESC, streak_match, player_id) WHERE streak IS NOT NULL;
CREATE INDEX player_months_upset_idx ON player_months (ladder_id, month, upset DESC, upset_match, player_id) WHERE upset IS NOT NULL;

-- How a player did against another one, or together with another one on the same side, in a month. There is a row for each of
-- the two.
CREATE TABLE pair_months (
    ladder_id      bigint NOT NULL,
    player_id      bigint NOT NULL,
    other_id       bigint NOT NULL,
    together       boolean NOT NULL,
    month          date NOT NULL,
    played         integer NOT NULL,
    won            integer NOT NULL,
    drawn          integer NOT NULL,
    lost           integer NOT NULL,
    -- the scores of the player's side and of the other one
    points_for     integer NOT NULL,
    points_against integer NOT NULL,
    -- by how much the player's rating changed
    gained         integer NOT NULL,
    -- by how much the player's side scored more than expected, in ten-thousandths of a win
    surplus        integer NOT NULL,
    CONSTRAINT pair_months_pkey PRIMARY KEY (ladder_id, player_id, other_id, together, month),
    CONSTRAINT pair_months_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT pair_months_played_check CHECK (played > 0 AND won >= 0 AND drawn >= 0 AND lost >= 0 AND played = won + drawn + lost)
);
CREATE INDEX pair_months_player_idx ON pair_months (ladder_id, player_id, month);
CREATE INDEX pair_months_rivals_idx ON pair_months (ladder_id, month, played DESC, player_id, other_id)
    WHERE NOT together AND player_id < other_id AND 5 * least(won, lost) >= 2 * played;

-- The same of all months.
CREATE TABLE pair_totals (
    ladder_id      bigint NOT NULL,
    player_id      bigint NOT NULL,
    other_id       bigint NOT NULL,
    together       boolean NOT NULL,
    played         integer NOT NULL,
    won            integer NOT NULL,
    drawn          integer NOT NULL,
    lost           integer NOT NULL,
    points_for     integer NOT NULL,
    points_against integer NOT NULL,
    gained         integer NOT NULL,
    surplus        integer NOT NULL,
    CONSTRAINT pair_totals_pkey PRIMARY KEY (ladder_id, player_id, other_id, together),
    CONSTRAINT pair_totals_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT pair_totals_played_check CHECK (played > 0 AND won >= 0 AND drawn >= 0 AND lost >= 0 AND played = won + drawn + lost)
);
-- the opponent of most matches, and the best and worst opponents and partners, of a player with thousands of them
CREATE INDEX pair_totals_played_idx ON pair_totals (ladder_id, player_id, played DESC) WHERE NOT together;
CREATE INDEX pair_totals_surplus_idx ON pair_totals (ladder_id, player_id, together, (surplus::float8 / played)) WHERE played >= 5;
CREATE INDEX pair_totals_rivals_idx ON pair_totals (ladder_id, played DESC, player_id, other_id)
    WHERE NOT together AND player_id < other_id AND 5 * least(won, lost) >= 2 * played;

-- The place of each player some days ago, among all who are in the ranking and were not newcomers then.
CREATE TABLE week_places (
    ladder_id bigint NOT NULL,
    player_id bigint NOT NULL,
    place     integer NOT NULL,
    CONSTRAINT week_places_pkey PRIMARY KEY (ladder_id, player_id),
    CONSTRAINT week_places_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT week_places_place_check CHECK (place > 0)
);

-- The state of a ladder's tallies. Without a row they are complete, and nobody's place has changed.
CREATE TABLE ladder_tallies (
    ladder_id      bigint NOT NULL,
    -- the tallies are being counted again: of all players up to this one, and of this one up to this month, that is done
    recounting     boolean NOT NULL DEFAULT false,
    recount_player bigint NOT NULL DEFAULT 0,
    recount_month  date NOT NULL DEFAULT '-infinity',
    -- the places are those at the beginning of this day (of UTC), after the match with this number; null without places
    week_since     date,
    week_number    integer,
    -- when they are to be calculated again; null for not before the next match
    week_due_at    timestamptz,
    CONSTRAINT ladder_tallies_pkey PRIMARY KEY (ladder_id),
    CONSTRAINT ladder_tallies_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT ladder_tallies_week_check CHECK ((week_since IS NULL) = (week_number IS NULL))
);
CREATE INDEX ladder_tallies_recounting_idx ON ladder_tallies (ladder_id) WHERE recounting;
CREATE INDEX ladder_tallies_week_due_at_idx ON ladder_tallies (week_due_at) WHERE week_due_at IS NOT NULL;
INSERT INTO ladder_tallies (ladder_id, recounting) SELECT DISTINCT ladder_id, true FROM matches;

-- What the tallies lack. A mark with a match says that this new match is to be added to the player's month, one without that
-- the whole month is to be counted again.
CREATE TABLE tally_marks (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    ladder_id  bigint NOT NULL,
    player_id  bigint NOT NULL,
    month      date NOT NULL,
    match_id   bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tally_marks_pkey PRIMARY KEY (id),
    CONSTRAINT tally_marks_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE
);
CREATE INDEX tally_marks_month_idx ON tally_marks (ladder_id, player_id, month);
