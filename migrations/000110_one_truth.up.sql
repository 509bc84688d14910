-- Questions are answered from standings, matches and history.
DROP TABLE tally_marks;
DROP TABLE ladder_tallies;
DROP TABLE week_places;
DROP TABLE pair_totals;
DROP TABLE pair_months;
DROP TABLE player_months;

-- By how much the average rating of the losers exceeded that of the winners, if that is 100 or more; null for an undone match.
ALTER TABLE matches ADD COLUMN upset integer, ADD CONSTRAINT matches_upset_check CHECK (upset >= 100);
-- for the largest upset of all time
CREATE INDEX matches_upset_idx ON matches (ladder_id, upset DESC, number) WHERE upset IS NOT NULL;
UPDATE matches m SET upset = u.upset
FROM (
    SELECT match_id, round(avg(elo_before) FILTER (WHERE NOT winner) - avg(elo_before) FILTER (WHERE winner)) AS upset
    FROM (
        SELECT h.match_id, h.elo_before, (mp.side = 1) = (m.score_a > m.score_b) AS winner
        FROM matches m JOIN match_players mp ON mp.match_id = m.id
        JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at IS NULL
        WHERE m.undone_at IS NULL AND m.score_a <> m.score_b) AS parts
    GROUP BY match_id) AS u
WHERE u.match_id = m.id AND u.upset >= 100;

-- The most wins in a row, and the same before a match: a replay that begins with the match needs it.
ALTER TABLE group_players ADD COLUMN longest_streak integer NOT NULL DEFAULT 0;
ALTER TABLE elo_history ADD COLUMN longest_before integer NOT NULL DEFAULT 0;
UPDATE elo_history h SET longest_before = l.longest
FROM (
    SELECT h.id, greatest(0, max(h.streak_before) OVER (PARTITION BY m.ladder_id, h.player_id ORDER BY m.number)) AS longest
    FROM elo_history h JOIN matches m ON m.id = h.match_id WHERE h.superseded_at IS NULL) AS l
WHERE l.id = h.id;
UPDATE elo_history SET longest_before = streak_before WHERE longest_before < streak_before; -- those that are superseded
ALTER TABLE elo_history ALTER COLUMN longest_before DROP DEFAULT,
    ADD CONSTRAINT elo_history_longest_before_check CHECK (longest_before >= greatest(streak_before, 0));
UPDATE group_players s SET longest_streak = greatest(s.streak, coalesce((
    SELECT max(h.streak_before) FROM match_players mp JOIN elo_history h
        ON h.match_id = mp.match_id AND h.player_id = mp.player_id AND h.superseded_at IS NULL
    WHERE mp.ladder_id = s.ladder_id AND mp.player_id = s.player_id), 0), 0);
ALTER TABLE group_players ADD CONSTRAINT group_players_longest_streak_check
    CHECK (longest_streak BETWEEN greatest(streak, 0) AND won);

-- A match has its group, ladder and time, and the ids of a group's matches are in the order of their numbers.
ALTER TABLE match_players DROP CONSTRAINT match_players_match_id_fkey;
ALTER TABLE match_players DROP COLUMN ladder_id, DROP COLUMN played_at;
ALTER TABLE match_players ADD CONSTRAINT match_players_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id);
CREATE INDEX match_players_player_id_idx ON match_players (player_id, match_id);
ALTER TABLE matches DROP CONSTRAINT matches_id_ladder_id_played_at_key;
-- the ladder has the group
ALTER TABLE matches DROP CONSTRAINT matches_group_id_fkey;

-- A result changes no index of standings, and of those of the outbox only what says that a notice waits or is finished: so each page
-- keeps room for the new version of a row.
DROP INDEX matches_ladder_id_number_idx;
DROP INDEX sightings_player_id_idx;
DROP INDEX group_players_played_idx;
DROP INDEX group_players_ranking_idx;
ALTER TABLE group_players SET (fillfactor = 80);
ALTER TABLE outbox SET (fillfactor = 60);
