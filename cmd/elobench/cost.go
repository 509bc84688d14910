package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// plainTables creates the tables of the plain transaction.
//
//go:embed plain.sql
var plainTables string

// measureCost measures the cost of recording and delivering a result. The bot knows the people who
// report the results. The results already wait when the bot starts, and are not rate-limited. For
// comparison, measureCost also measures a plain transaction that records a result and the message
// about it. Apart from the processor time, the costs depend little on the machine.
func measureCost(ctx context.Context, b *bench) error {
	return b.withoutNoise(ctx, func() error {
		if err := b.costPlain(ctx); err != nil {
			return fmt.Errorf("plain transactions: %w", err)
		}
		return b.onStage(ctx, b.sizes.groups, b.sizes.people, func(w *workload, db database) error {
			return b.costOf(ctx, "Cost/elobot", w, db)
		})
	})
}

// withoutNoise runs do while the server neither writes full-page images nor runs autovacuum. The
// images depend on when checkpoints happen, and autovacuum depends on the clock.
func (b *bench) withoutNoise(ctx context.Context, do func() error) error {
	if err := b.exec(ctx, "ALTER SYSTEM SET full_page_writes = off",
		"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"); err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	return errors.Join(do(), b.exec(context.WithoutCancel(ctx), "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()"))
}

// costOf measures the cost of handling a result. Before that, the bot handles enough results to
// know all people.
func (b *bench) costOf(ctx context.Context, name string, w *workload, db database) error {
	w.play(b.sizes.known)
	answer := func(n int, databaseURL string, known int) (used []metric, err error) {
		err = b.withBot(ctx, b.launchPolling, w, databaseURL, func(ctx context.Context, bot *process) error {
			used, err = b.processorsOf(bot, n, func() error {
				_, err := w.awaitAnswers(ctx, b, known+n)
				return err
			})
			return err
		})
		return used, err
	}
	if _, err := answer(b.sizes.known, db.url, 0); err != nil {
		return err
	}
	n := b.sizes.costed
	var used []metric
	var trips *tripCounter
	metrics, err := b.counted(ctx, db, n, func() (err error) {
		if trips, err = countTrips(ctx, db.url); err != nil {
			return err
		}
		w.play(n)
		used, err = answer(n, trips.url, b.sizes.known)
		return errors.Join(err, trips.listener.Close())
	})
	if err != nil {
		return err
	}
	metrics = append(metrics, metric{float64(trips.n.Load()) / float64(n), "roundtrips/result"})
	return b.report(name, n, append(metrics, used...)...)
}

// costPlain measures the cost of a plain result: a batch that reads, and a batch that writes
// everything in one transaction. The measured results share a connection.
func (b *bench) costPlain(ctx context.Context) error {
	db, drop, err := b.database(ctx)
	if err != nil {
		return err
	}
	defer drop()
	if _, err := db.Exec(ctx, plainTables); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	if err := recordPlain(ctx, db.url, 0, b.sizes.known); err != nil {
		return err
	}
	metrics, err := b.counted(ctx, db, b.sizes.costed,
		func() error { return recordPlain(ctx, db.url, b.sizes.known, b.sizes.costed) })
	if err != nil {
		return err
	}
	return b.report("Cost/plain", b.sizes.costed, append(metrics, metric{2, "roundtrips/result"})...)
}

// recordPlain records n plain results, numbered from first on.
func recordPlain(ctx context.Context, databaseURL string, first, n int) error {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for i := first; i < first+n; i++ {
		group := i % 100
		winner, loser := group*10+i/100%10+1, group*10+(i/100+1+i/1000%9)%10+1
		key := fmt.Sprintf("m:-100%d:%d", 1_000_000_000+group, i)
		var read, batch pgx.Batch
		read.Queue(`SELECT FROM matches WHERE idempotency_key = $1`, key)
		read.Queue(`SELECT elo, version FROM standings WHERE group_id = $1 AND player_id = ANY ($2)`,
			group+1, []int{winner, loser})
		if err := conn.SendBatch(ctx, &read).Close(); err != nil {
			return errors.Join(fmt.Errorf("read: %w", err), conn.Close(ctx))
		}
		batch.Queue(`UPDATE standings SET elo = elo + 1, version = version + 1 WHERE group_id = $1 AND player_id = $2`,
			group+1, winner)
		batch.Queue(`UPDATE standings SET elo = elo - 1, version = version + 1 WHERE group_id = $1 AND player_id = $2`,
			group+1, loser)
		batch.Queue(`
			INSERT INTO matches (group_id, winner_id, loser_id, score_a, score_b, idempotency_key, played_at)
			VALUES ($1, $2, $3, 3, 1, $4, now())`, group+1, winner, loser, key)
		for _, player := range []int{winner, loser} {
			batch.Queue(`
				INSERT INTO history (match_id, player_id, elo_before, elo_after)
					VALUES (currval('matches_id_seq'), $1, 1500, 1516)`, player)
		}
		batch.Queue(`INSERT INTO outbox (chat_id, text) VALUES ($1, $2)`, group+1,
			fmt.Sprintf("Player %d beat Player %d 3:1\nPlayer %d +16 → 1516\nPlayer %d −16 → 1484",
				winner, loser, winner, loser))
		if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
			return errors.Join(fmt.Errorf("record a result: %w", err), conn.Close(ctx))
		}
	}
	return conn.Close(ctx)
}

// counters holds what PostgreSQL has counted in a database so far.
type counters struct {
	blocks, inserted, updated, deleted float64
	statements                         float64 // since the previous reading of the counters
	size                               float64 // bytes on disk
	lsn                                string  // the end of the WAL on disk
}

// counted runs record, which records n results, and returns the cost per result. record must not
// leave sessions open in the database. As progress, counted prints the costs of the statements. It
// omits the WAL and the commits if readWAL fails with errNoExtension.
func (b *bench) counted(ctx context.Context, db database, n int, record func() error) (metrics []metric, err error) {
	if err := db.settle(ctx); err != nil {
		return nil, err
	}
	db.Reset()
	var before, after counters
	if err := b.asSuperuser(ctx, func(conn *pgx.Conn) (err error) {
		before, err = readCounters(ctx, conn, db.name)
		return err
	}); err != nil {
		return nil, err
	}
	if err := record(); err != nil {
		return nil, err
	}
	add := func(value float64, unit string) {
		metrics = append(metrics, metric{value / float64(n), unit + "/result"})
	}
	err = b.asSuperuser(ctx, func(conn *pgx.Conn) error {
		if err := b.printStatements(ctx, conn, db.name, n); err != nil {
			return err
		}
		if after, err = readCounters(ctx, conn, db.name); err != nil {
			return err
		}
		wal, commits, err := readWAL(ctx, conn, before.lsn, after.lsn)
		if errors.Is(err, errNoExtension) {
			b.progress.Printf("without WAL and commits: %v", err)
			return nil
		}
		add(wal, "WAL-B")
		add(commits, "commits")
		return err
	})
	add(after.blocks-before.blocks, "blocks")
	add(after.inserted-before.inserted, "rows-inserted")
	add(after.updated-before.updated, "rows-updated")
	add(after.deleted-before.deleted, "rows-deleted")
	add(after.statements, "statements")
	add(after.size-before.size, "disk-B")
	return metrics, err
}

// readCounters reads the counters, and resets the statement counters. First it waits until no
// session uses the database, because a session may report its last counts only when it ends.
func readCounters(ctx context.Context, conn *pgx.Conn, name string) (c counters, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for used := true; used && err == nil; {
		err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = $1)`, name).Scan(&used)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `CHECKPOINT`) // so that all WAL is on disk
	}
	if err == nil {
		err = conn.QueryRow(ctx, `
			SELECT blks_hit + blks_read, tup_inserted, tup_updated, tup_deleted, pg_database_size(datid),
			       (SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements WHERE dbid = datid),
			       pg_current_wal_flush_lsn()::text
			FROM pg_stat_database WHERE datname = $1`,
			name).Scan(&c.blocks, &c.inserted, &c.updated, &c.deleted, &c.size, &c.statements, &c.lsn)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT pg_stat_statements_reset()`)
	}
	if err != nil {
		return c, fmt.Errorf("read the counters: %w", err)
	}
	return c, nil
}

var errNoExtension = errors.New("this PostgreSQL comes without the extension pg_walinspect")

// readWAL returns how many bytes of WAL records, without full-page images, and how many commits are
// between the positions from and to. It returns errNoExtension if the server cannot read WAL.
func readWAL(ctx context.Context, conn *pgx.Conn, from, to string) (bytes, commits float64, err error) {
	var available bool
	err = conn.QueryRow(ctx,
		`SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_walinspect')`).Scan(&available)
	if err == nil && !available {
		return 0, 0, errNoExtension
	}
	if err == nil {
		_, err = conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_walinspect`)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read WAL: %w", err)
	}
	err = conn.QueryRow(ctx, `
		SELECT sum(record_size)::float8,
		       coalesce(sum(count) FILTER (WHERE "resource_manager/record_type" = 'Transaction/COMMIT'), 0)::float8
		FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn, true)`, from, to).Scan(&bytes, &commits)
	if err != nil {
		return 0, 0, fmt.Errorf("read WAL: %w", err)
	}
	return bytes, commits, nil
}

// statement holds the cost of an SQL statement per result. WAL is in bytes.
type statement struct {
	Calls, Rows, Blocks, WAL, Micros float64
	Query                            string
}

// printStatements prints what each statement cost per result, given that n results were recorded.
// It begins with the statements that write the most WAL, and leaves out rare statements that read
// few blocks.
func (b *bench) printStatements(ctx context.Context, conn *pgx.Conn, name string, n int) error {
	rows, _ := conn.Query(ctx, `
		SELECT calls::float8 / $2, rows::float8 / $2, (shared_blks_hit + shared_blks_read)::float8 / $2,
		       wal_bytes::float8 / $2, total_exec_time * 1000 / $2, left(regexp_replace(btrim(query), '\s+', ' ', 'g'), 90)
		FROM pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
		  AND (calls + shared_blks_hit + shared_blks_read) * 100 >= $2
		ORDER BY wal_bytes DESC, calls DESC`, name, float64(n)) // CollectRows returns the error
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[statement])
	if err != nil {
		return fmt.Errorf("read the statements: %w", err)
	}
	table := "what each statement costs:\n calls   rows  blocks  WAL B    µs   of each result, by statement"
	for _, s := range all {
		table += fmt.Sprintf("\n%6.2f %6.2f %7.1f %6.0f %5.0f   %s", s.Calls, s.Rows, s.Blocks, s.WAL, s.Micros, s.Query)
	}
	b.progress.Print(table)
	return nil
}

// tripCounter forwards connections to a server and counts the round trips: the Sync and Query
// messages, after each of which a client waits for the server.
type tripCounter struct {
	url      string // of the same database, through the counter and without TLS
	n        atomic.Int64
	listener net.Listener
}

// countTrips starts a tripCounter in front of the server of a database. The caller must close its
// listener, because the end of ctx does not.
func countTrips(ctx context.Context, databaseURL string) (*tripCounter, error) {
	address, err := url.Parse(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("parse the database's address: %w", err)
	}
	server := address.Host
	t := new(tripCounter)
	if t.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listen for the bot: %w", err)
	}
	address.Host = t.listener.Addr().String()
	t.url = address.String()
	go func() {
		for {
			client, err := t.listener.Accept()
			if err != nil {
				return // closed
			}
			go t.forward(client, server)
		}
	}()
	return t, nil
}

// forward forwards a connection until either side closes it, and then closes the other side.
func (t *tripCounter) forward(client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	_ = t.copyMessages(bufio.NewWriter(server), bufio.NewReader(client))
}

// copyMessages copies a client's messages and counts the round trips. Each message but the first
// begins with its type.
func (t *tripCounter) copyMessages(to *bufio.Writer, from *bufio.Reader) error {
	for typeLength := 0; ; typeLength = 1 {
		header, err := from.Peek(typeLength + 4)
		if err != nil {
			return err
		}
		if kind := header[0]; typeLength == 1 && (kind == 'S' || kind == 'Q') { // Sync, Query
			t.n.Add(1)
		}
		length := typeLength + int(binary.BigEndian.Uint32(header[typeLength:]))
		if _, err := io.CopyN(to, from, int64(length)); err != nil {
			return err
		}
		if from.Buffered() == 0 {
			if err := to.Flush(); err != nil {
				return err
			}
		}
	}
}
