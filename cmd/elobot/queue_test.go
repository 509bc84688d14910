package main_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// testMalformedNotices checks that malformed notices become dead letters with the reason. Notices
// of an unknown kind are set aside for a newer release. All others are sent.
func testMalformedNotices(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.ask(group, b.alice, "/match @bob 1:0")
	malformed := []string{`"text"`, `[1, 2]`, `{"number": "seven"}`}
	add := func(kind, payload string) {
		t.Helper()
		b.exec(`INSERT INTO outbox (chat_id, kind, payload) SELECT id, $1, $2 FROM chats WHERE telegram_chat_id = $3`,
			kind, payload, group.ID())
	}
	const rounds = 2
	for range rounds {
		for _, payload := range malformed {
			add("match_recorded", payload)
		}
		add("no_such_kind", `{}`)
		add("joined", `{"name": {"name": "Carol"}, "elo": 1500}`)
	}
	b.ask(group, b.alice, "/match @bob 1:0") // queued after the malformed ones
	b.settle()
	// A request that takes too long is repeated and counted as a possible duplicate.
	duplicates := count(t, b.pool, `SELECT sum(possible_duplicates) FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID())
	sent := 0
	for _, m := range group.BotMessages() {
		sent += strings.Count(visible(m), "Carol, welcome")
	}
	if sent < rounds || sent > rounds+duplicates {
		t.Errorf("%d of the notices in between were sent, want %d", sent, rounds)
	}
	type letter struct {
		Kind, Error string
		Attempts    int
	}
	letters := collect(t, b.pool, pgx.RowToStructByPos[letter], `
		SELECT o.kind, d.last_error, d.attempts FROM dead_letters d JOIN outbox o ON o.id = d.outbox_id ORDER BY o.id`)
	if want := rounds * len(malformed); len(letters) != want {
		t.Errorf("%d dead letters, want %d", len(letters), want)
	}
	for _, l := range letters {
		if l.Error == "" || l.Attempts != 1 || !strings.Contains(l.Error, l.Kind) {
			t.Errorf("a dead letter without a reason: %+v", l)
		}
	}
	if n := count(t, b.pool,
		`SELECT count(*) FROM outbox WHERE kind = 'no_such_kind' AND deferred_at IS NOT NULL`); n != rounds {
		t.Errorf("%d notices wait for a release that knows them, want %d", n, rounds)
	}
	b.exec(`DELETE FROM dead_letters`)
	b.exec(`DELETE FROM outbox WHERE kind = 'no_such_kind'`)
}
