-- The tables of a ranking that does nothing but record results exactly once, and 100 groups of 10 players.
CREATE TABLE players (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
CREATE TABLE standings (
    group_id bigint NOT NULL,
    player_id bigint NOT NULL REFERENCES players (id),
    elo integer NOT NULL,
    version integer NOT NULL,
    PRIMARY KEY (group_id, player_id)
);
CREATE TABLE matches (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_id bigint NOT NULL,
    winner_id bigint NOT NULL REFERENCES players (id),
    loser_id bigint NOT NULL REFERENCES players (id),
    score_a integer NOT NULL,
    score_b integer NOT NULL,
    idempotency_key text NOT NULL UNIQUE,
    played_at timestamptz NOT NULL
);
CREATE TABLE history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    match_id bigint NOT NULL REFERENCES matches (id),
    player_id bigint NOT NULL REFERENCES players (id),
    elo_before integer NOT NULL,
    elo_after integer NOT NULL
);
CREATE INDEX ON history (match_id);
CREATE INDEX ON history (player_id);
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chat_id bigint NOT NULL,
    text text NOT NULL,
    state text NOT NULL DEFAULT 'planned'
);
INSERT INTO players (name) SELECT 'Player ' || n FROM generate_series(1, 1000) AS n;
INSERT INTO standings SELECT (id - 1) / 10 + 1, id, 1500, 1 FROM players;
