package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres/dbtest"
)

// newClub adds a group, whose players are @bob and the guest Ann, to the database.
func newClub(t *testing.T, pool *pgxpool.Pool, chat int64) {
	t.Helper()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO chats (telegram_chat_id, kind, title, time_zone) VALUES ($1, 'supergroup', 'Club', 'Europe/Berlin')`, []any{chat}},
		{`INSERT INTO groups (chat_id) VALUES (1)`, nil},
		{dbtest.DefaultLadders, nil},
		{`INSERT INTO players (telegram_user_id, username, display_name) VALUES (999, 'bob', 'Bob')`, nil},
		{`INSERT INTO sightings (group_id, player_id, username, seen_at) VALUES (1, 1, 'bob', now())`, nil},
		{`INSERT INTO players (group_id, display_name, folded) VALUES (1, 'Ann', 'ann')`, nil},
		{`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
			SELECT 1, id, display_name, 1500, 1500, 1500 FROM players`, nil},
	} {
		if _, err := pool.Exec(t.Context(), s.sql, s.args...); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
	}
}

// TestImportCommand runs `elobot import` as testdata/import.txt says.
func TestImportCommand(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	newClub(t, pool, -100)
	checkCommands(t, "testdata/import.txt", url, t.TempDir())
}

// TestImportChatCommand runs `elobot import` with exports of chats, as testdata/import_chat.txt
// says.
func TestImportChatCommand(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	newClub(t, pool, -1002000000077)
	execute(t, pool, dbtest.PadelLadders("true")+`
		INSERT INTO bot (telegram_user_id) VALUES (700);
		UPDATE ladders SET name = 'club' WHERE is_default;
		INSERT INTO topics (chat_id, thread_id, ladder_id) SELECT 1, 10, id FROM ladders WHERE name = 'padel'`)
	folder := t.TempDir()
	must(t, os.CopyFS(folder, os.DirFS("../../internal/transfer/testdata/telegram")))
	checkCommands(t, "testdata/import_chat.txt", url, folder)
}

// checkCommands runs `elobot import` as a golden file says: each section is a file to write, or a
// command and what it prints. With -update, it writes what the commands print. At the end, the
// stored ratings equal their replay.
func checkCommands(t *testing.T, golden, url, folder string) {
	t.Helper()
	text, err := os.ReadFile(golden)
	must(t, err)
	var got strings.Builder
	head, rest, _ := strings.Cut("\n"+string(text), "\n== ")
	got.WriteString(strings.TrimPrefix(head, "\n"))
	for section := range strings.SplitSeq(rest, "\n== ") {
		title, body, _ := strings.Cut(section, "\n")
		fmt.Fprintf(&got, "\n== %s\n", title)
		command, isCommand := strings.CutPrefix(title, "elobot import ")
		name, isShown := strings.CutPrefix(title, "cat ")
		switch {
		case isCommand:
			p := prepare([]string{"DATABASE_URL=" + url}, append([]string{"import"}, strings.Fields(command)...)...)
			p.cmd.Dir = folder
			var out bytes.Buffer
			p.cmd.Stdout, p.cmd.Stderr = &out, &out
			_ = p.cmd.Run() // the exit code tells
			fmt.Fprintf(&got, "%s(exit code %d)\n", out.String(), p.cmd.ProcessState.ExitCode())
		case isShown:
			data, err := os.ReadFile(filepath.Join(folder, name))
			must(t, err)
			got.WriteString(strings.TrimPrefix(string(data), "\ufeff"))
		default:
			must(t, os.WriteFile(filepath.Join(folder, title), []byte(body), 0o600))
			got.WriteString(strings.TrimSuffix(body, "\n") + "\n")
		}
	}
	if flag.Lookup("update").Value.String() == "true" {
		must(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	} else if diff := cmp.Diff(strings.TrimSpace(string(text)), strings.TrimSpace(got.String())); diff != "" {
		t.Errorf("the output differs (-want +got):\n%s", diff)
	}
	verifyClean(t, url)
}

// TestImportFromPipe checks that a file of results and an export can come through a pipe, as from
// outside a container.
func TestImportFromPipe(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	newClub(t, pool, -100)
	run := func(in []byte, args ...string) []byte {
		t.Helper()
		p := prepare([]string{"DATABASE_URL=" + url}, args...)
		p.cmd.Stdin = bytes.NewReader(in)
		out, err := p.cmd.Output()
		must(t, err)
		return out
	}
	out := run([]byte("winner,loser\nAnn,Bob\n"), "import", "/dev/stdin", "--group=-100")
	if want := "New: 1\n"; !strings.Contains(string(out), want) {
		t.Errorf("got %q, want %q", out, want)
	}
	exported := run(nil, "export", "-", "--group=-100")
	run(nil, "import", "--undo=1", "--group=-100")
	out = run(exported, "import", "/dev/stdin", "--group=-100", "--dry-run")
	if want := "It has 1 match of 2 players"; !strings.Contains(string(out), want) {
		t.Errorf("got %q, want %q", out, want)
	}
}

// imported returns the standings and the matches, without ids.
func imported(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return collect(t, pool, pgx.RowTo[string], `
		SELECT concat_ws(' ', name, elo, best_elo, played, won, drawn, lost, streak, last_played_at) AS line
		FROM group_players
		UNION ALL
		SELECT concat_ws(' ', m.played_at, m.score_a, m.score_b, upset, (
		    SELECT string_agg(concat_ws(' ', p.display_name, h.elo_before, h.elo_after), ', ' ORDER BY mp.place)
		    FROM match_players mp JOIN players p ON p.id = mp.player_id
		    JOIN elo_history h ON h.match_id = m.id AND h.player_id = p.id AND h.superseded_at = 'infinity'
		    WHERE mp.match_id = m.id)) FROM matches m
		ORDER BY line`)
}
