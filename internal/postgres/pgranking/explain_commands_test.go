package pgranking_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

func TestNoCommandScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	club := ranking.Chat{ID: -150, Kind: ranking.Group, Title: "Club 150"}
	players := dbtest.Values[int64](t, plain, `
		SELECT player_id FROM group_players WHERE season_id = 150 ORDER BY id LIMIT 2`)
	var elsewhere [2]*ranking.Snapshot
	for i := range elsewhere {
		var two []command.Person
		for _, id := range dbtest.Values[int64](t, plain, `
			SELECT player_id FROM group_players WHERE season_id = $1 AND player_id % 7 <> 3 ORDER BY id LIMIT 2`, 151+i) {
			two = append(two, command.Person{ID: ladder.UserID(id)})
		}
		chat := ranking.Chat{ID: ranking.ExternalChatID(-151 - i), Kind: ranking.Group}
		var err error
		if elsewhere[i], err = store.Read(t.Context(), ranking.Query{
			Key: "k", Chat: chat, Needs: ranking.Needs{People: two},
		}); err != nil {
			t.Fatal(err)
		}
	}
	rec.Take()
	people := []command.Person{
		{Username: fmt.Sprintf("USER_%d", players[0])}, {ID: ladder.UserID(players[1]), Username: "new_name", Name: "New"},
		{ID: 99_999, Username: "user_7", Name: "Seven"},
	}
	var snap *ranking.Snapshot
	choose := func(name, value string) func(context.Context) error {
		return func(ctx context.Context) error {
			s, _ := ranking.FindSetting(name)
			before := ranking.GroupSettings{Rules: snap.Ladder.Rules, Display: snap.Display}
			changed := &ranking.ChangedSetting{
				Chat: snap.ChatID, Ladder: snap.Ladder.ID, Setting: s, Before: before, After: s.With(before, value),
			}
			return store.Apply(ctx, ranking.Changes{
				Key: "setting " + name, Chat: snap.ChatID,
				Decision: ranking.Decision{Notice: ranking.SettingChanged{Name: name}, Effect: changed},
			})
		}
	}
	dbtest.Exec(t, plain, `
		UPDATE ladders SET name = 'chess' WHERE id < 150;
		`+dbtest.PadelLadders("id < 150")+`
		INSERT INTO topics SELECT g.chat_id, thread, l.id
		    FROM ladders l JOIN groups g ON g.id = l.group_id, generate_series(2, 9) AS thread WHERE name = 'padel';
		ANALYZE ladders, topics`)
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		{Name: "read which ladder applies", Run: func(ctx context.Context) error {
			q := ranking.Query{
				Key: "k", Chat: ranking.Chat{ID: -140, Kind: ranking.Group},
				Thread: 7, Replied: ranking.MatchRef{Message: 1, Key: "m"},
			}
			q.Topics = true
			snap, err := store.Read(ctx, q)
			if snap.Applies == 0 || len(snap.Ladders) != 2 {
				t.Errorf("ladder %d of %d applies", snap.Applies, len(snap.Ladders))
			}
			return err
		}, Want: 3},
		{Name: "the season of a time", Run: func(ctx context.Context) error {
			_, err := store.SeasonAt(ctx, 140, time.Now())
			return err
		}, Want: 1},
		{Name: "the season that a button ends", Run: func(ctx context.Context) error {
			since := time.Now().Add(-ranking.PromptWindow)
			snap, err := store.Read(ctx, ranking.Query{
				Key: "k", Chat: club, Needs: ranking.Needs{Season: true, ReportedSince: since},
			})
			if snap.FirstMatch == "" {
				t.Error("the ladder has no first match")
			}
			return err
		}, Want: 2},
		{Name: "read a season that is over", Run: func(ctx context.Context) error {
			_, err := store.Read(ctx, ranking.Query{
				Key: "k", Chat: club, Season: 1, Needs: ranking.Needs{People: people, Everybody: true},
			})
			return err
		}, Want: 5},
		{Name: "start a season", Run: func(ctx context.Context) error {
			effect := &ranking.NewSeason{
				Ladder: 149, Ends: 149, Name: "Spring", At: time.Now(), Until: time.Now().Add(time.Hour), Tells: true,
			}
			return store.Apply(ctx, ranking.Changes{
				Key: "season", Chat: 149, Corrected: []ladder.SeasonID{1}, Decision: ranking.Decision{Effect: effect},
			})
		}, Want: 6},
		{Name: "a season goes on", Run: func(ctx context.Context) error {
			effect := &ranking.SeasonUntil{Ladder: 148, Season: 148, Until: time.Now().Add(time.Hour)}
			return store.Apply(ctx, ranking.Changes{Key: "goes on", Chat: 148, Decision: ranking.Decision{Effect: effect}})
		}, Want: 4},
		{Name: "read people", Run: func(ctx context.Context) (err error) {
			snap, err = store.Read(ctx, ranking.Query{Key: "k", Chat: club, Needs: ranking.Needs{People: people}})
			return err
		}, Want: 2},
		{Name: "read guests", Run: func(ctx context.Context) error {
			guests := []command.Person{{Player: ladder.PlayerID(players[0])}, command.NewGuest("Grandma")}
			read, err := store.Read(ctx, ranking.Query{Key: "k", Chat: club, Needs: ranking.Needs{People: guests}})
			if err == nil && (!read.People[0].IsPlayer() || read.People[1].IsPlayer()) {
				t.Errorf("the guests are %+v", read.People)
			}
			return err
		}, Want: 2},
		{Name: "read equal results", Run: func(ctx context.Context) error {
			equal := ranking.Needs{DuplicatesOf: time.Now(), DuplicateScores: []ladder.Score{{A: 3, B: 1}}}
			_, err := store.Read(ctx, ranking.Query{Key: "k", Chat: club, Needs: equal})
			return err
		}, Want: 2},
		{Name: "read for a result", Run: func(ctx context.Context) (err error) {
			leaders := ladder.LeaderQuery{At: time.Now(), Limit: 5}
			_, err = store.Read(ctx, ranking.Query{Key: "k", Chat: club, Needs: ranking.Needs{People: people, Result: &leaders}})
			return err
		}, Want: 2},
		{Name: "read the largest upset", Run: func(ctx context.Context) error {
			_, err := store.LargestUpset(ctx, snap.Ladder.ID, ranking.MonthOf(time.Now(), time.UTC))
			return err
		}, Want: 1},
		{Name: "count the people whom somebody has added", Run: func(ctx context.Context) error {
			_, err := store.AddedInADay(ctx, snap.Group, 1)
			return err
		}, Want: 1},
		{Name: "read what a player has reported", Run: func(ctx context.Context) error {
			_, err := store.ReportedSince(ctx, club.ID, ladder.PlayerID(players[0]), time.Now().Add(-24*time.Hour))
			return err
		}, Want: 1},
		{Name: "ignore a player", Run: func(ctx context.Context) error {
			effect := &ranking.Ignored{Group: snap.Group, Player: ladder.PlayerID(players[0]), At: time.Now()}
			return store.Apply(ctx, ranking.Changes{
				Key: "ignore", Chat: snap.ChatID, Seen: ranking.Seen{Group: snap.Group}, Decision: ranking.Decision{Effect: effect},
			})
		}, Want: 4},
		{Name: "find a private chat", Run: func(ctx context.Context) error {
			_, err := store.PrivateChat(ctx, 1)
			return err
		}, Want: 1},
		{Name: "read everybody", Run: func(ctx context.Context) error {
			snap, err := store.Read(ctx, ranking.Query{Chat: club, Needs: ranking.Needs{Everybody: true}})
			if len(snap.Everybody) != 60 {
				t.Errorf("%d people are in the group, want 60", len(snap.Everybody))
			}
			return err
		}, Want: 3},
		{Name: "read the rest", Run: func(ctx context.Context) error {
			_, err := store.Read(ctx, ranking.Query{
				Key: "t:prompt:7", Chat: club, Needs: ranking.Needs{Prompt: 7, Board: true, Timer: true},
			})
			return err
		}, Want: 4},
		{Name: "read the matches of a message", Run: func(ctx context.Context) error {
			snap, err := store.Read(ctx, ranking.Query{
				Chat: club, Needs: ranking.Needs{Match: &ranking.MatchRef{Message: 40, Key: "m:-150:45"}},
			})
			if len(snap.Matches) != 2 {
				t.Errorf("found %+v", snap.Matches)
			}
			return err
		}, Want: 2},
		{Name: "read last matches", Run: func(ctx context.Context) error {
			snap, err := store.Read(ctx, ranking.Query{
				Chat: club, Sender: &people[1], Needs: ranking.Needs{Played: ranking.SuggestedFrom},
			})
			if len(snap.LastMatches) == 0 {
				t.Error("there are no last matches")
			}
			return err
		}, Want: 2},
		{Name: "introduce", Run: func(ctx context.Context) error {
			k := snap.People[1]
			change := ranking.PlayerChange{Player: *k.Player, Standing: k.Standing.ID}
			return dbtest.Upsert(ctx, store, club,
				[]ranking.PlayerChange{change, dbtest.AsNew(command.Person{ID: 88_888, Name: "N"})})
		}, Want: 2 + 8},
		{Name: "match", Run: func(ctx context.Context) error {
			return store.Apply(ctx, dbtest.Match(snap, "k"))
		}, Want: 5},
		{Name: "matches together", Run: func(context.Context) error {
			return store.ApplyTogether(dbtest.Match(elsewhere[0], "one"), dbtest.Match(elsewhere[1], "two"))
		}, Want: 7},
		{Name: "answer", Run: func(ctx context.Context) error {
			return store.Apply(ctx, ranking.Changes{
				Key: "l", Chat: snap.ChatID, Decision: ranking.Decision{Notice: ranking.Refusal{}},
			})
		}, Want: 3},
		{Name: "read for an edit", Run: func(ctx context.Context) error {
			_, err := store.Read(ctx, ranking.Query{Key: "e", Message: "m", Chat: club})
			return err
		}, Want: 1},
		{Name: "answer to an edit", Run: func(ctx context.Context) error {
			return store.Apply(ctx, ranking.Changes{
				Key: "e", Message: "m", Trigger: ranking.ByEdit, Outcome: ranking.OutcomeAnswered,
				Chat: snap.ChatID, Decision: ranking.Decision{Notice: ranking.Joined{}},
			})
		}, Want: 4},
		{Name: "edit that takes effect", Run: func(ctx context.Context) error {
			effect := &ranking.Greeted{Before: snap.Greeted, At: time.Now()}
			return store.Apply(ctx, ranking.Changes{
				Key: "e2", Message: "m2", Trigger: ranking.ByEdit, Outcome: ranking.OutcomeAnswered,
				Chat: snap.ChatID, Decision: ranking.Decision{Effect: effect},
			})
		}, Want: 5},
		{Name: "setting of a ladder", Run: choose("k", "24"), Want: 4},
		{Name: "setting of a chat", Run: choose("tables", "on"), Want: 4},
		{Name: "exclusively", Run: func(ctx context.Context) error {
			locked, _, err := store.Lock(ctx, ranking.Query{Chat: club})
			if err == nil {
				locked.Release(ctx)
			}
			return err
		}, Want: 1 + 1 + 1 + 1},
	})
}
