package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"elobot/internal/intake"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// TestBlame checks that each error of the store is blamed on its cause. A timeout in the store is
// never the update's fault, and means that the database is unavailable only if a ping gets no
// answer either.
func TestBlame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice)
	nowhere := pgranking.NewStore(dbtest.Open(t, dbtest.ClosedPort(t)), dbtest.Ignore)
	fail := func(sql string) error {
		_, err := w.Pool.Exec(t.Context(), sql)
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, late := w.Store.Read(ctx, ranking.Query{Chat: club})
	_, away := nowhere.Read(t.Context(), ranking.Query{Chat: club})
	dbtest.Define(t, w.Pool, "fail", `
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
		    BEGIN RAISE EXCEPTION 'x' USING ERRCODE = split_part(NEW.key, ' ', 2); END $$;
		CREATE TRIGGER fail BEFORE INSERT ON handled_commands
		    FOR EACH ROW WHEN (NEW.key LIKE 'fail %') EXECUTE FUNCTION fail()`)
	code := func(code string) error {
		return w.Store.Apply(t.Context(), ranking.Changes{Key: "fail " + code, Chat: w.Read(t).ChatID})
	}
	for name, tc := range map[string]struct {
		store *pgranking.Store
		err   error
		want  intake.Blame
	}{
		"no answer in time":        {w.Store, late, intake.Locked},
		"no answer, nor to a ping": {nowhere, late, intake.Unavailable},
		"nobody there":             {w.Store, away, intake.Unavailable},
		"hangs elsewhere":          {w.Store, context.DeadlineExceeded, intake.Failed},
		"lock timeout":             {w.Store, code("55P03"), intake.Locked},
		"statement timeout":        {w.Store, code("57014"), intake.Locked},
		"transaction timeout":      {w.Store, code("25P04"), intake.Locked},
		"deadlock":                 {w.Store, code("40P01"), intake.Locked},
		"serialization":            {w.Store, code("40001"), intake.Locked},
		"out of memory":            {w.Store, code("53200"), intake.Unavailable},
		"check":                    {w.Store, fail(`INSERT INTO groups (chat_id, last_match_number) VALUES (1, -1)`), intake.Permanent},
		"foreign key":              {w.Store, code("23503"), intake.Permanent},
		"unique":                   {w.Store, code("23505"), intake.Permanent},
		"first seen by two":        {w.Store, w.see(t, asNew(t, w, alice)), intake.Locked},
		"no such table":            {w.Store, fail(`SELECT FROM nowhere`), intake.Failed},
		"division by zero":         {w.Store, fail(`SELECT 1/0`), intake.Failed},
		"anything":                 {w.Store, errors.New("anything"), intake.Failed},
	} {
		if tc.err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, err := range []error{tc.err, fmt.Errorf("wrapped: %w", tc.err)} {
			if got := tc.store.Blame(err); got != tc.want {
				t.Errorf("%s: blame %d, want %d, for %v", name, got, tc.want, err)
			}
			if got, want := tc.store.RetryLater(err), tc.want == intake.Locked || tc.want == intake.Unavailable; got != want {
				t.Errorf("%s: unavailable: %t", name, got)
			}
		}
	}
}
