package postgres

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/ladder"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ServerFacts describes a server and the rights of the bot's role.
type ServerFacts struct {
	Version   string // such as "17.2"
	Major     int
	ReadOnly  bool // the server is a standby, or sessions are read-only by default
	MayCreate bool // the role may create tables, which an upgrade of the bot needs
	// Owns means that the role has the rights of the owner of the bot's tables, so that an upgrade
	// can change them. It is also set if there are no tables yet.
	Owns bool
	Now  time.Time
	Encryption
	Database string
	// Collation is the version of the language rules by which the database's indexes were sorted,
	// and ActualCollation is the version that the server has. They are equal if there are no such
	// rules, or if no version was recorded.
	Collation, ActualCollation string
	// Asynchronous is how many standbys are streaming, or connected if the role may not see their
	// state. It is 0 if a synchronous standby is configured.
	Asynchronous int
}

// ExamineServer examines the server of a pool, whether or not the database has the bot's tables. It
// checks the owner of only one table, because all tables usually have the same owner. It changes
// nothing.
func ExamineServer(ctx context.Context, pool *pgxpool.Pool) (f ServerFacts, err error) {
	const sql = `
		SELECT split_part(current_setting('server_version'), ' ', 1), current_setting('server_version_num')::integer / 10000,
		       pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean,
		       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
		       coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('group_players')), true),
		       clock_timestamp(), current_database(),
		       (SELECT count(*) FROM pg_stat_replication -- whose columns only some roles see
		        WHERE coalesce(state = 'streaming', true) AND current_setting('synchronous_standby_names') = '')`
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		f.Encryption = encryptionOf(conn.Conn())
		err := conn.QueryRow(ctx, sql).
			Scan(&f.Version, &f.Major, &f.ReadOnly, &f.MayCreate, &f.Owns, &f.Now, &f.Database, &f.Asynchronous)
		if err == nil && f.Major >= 15 { // older servers record no version
			err = conn.QueryRow(ctx, `
				SELECT coalesce(datcollversion, actual, ''), coalesce(actual, '')
				FROM pg_database, pg_database_collation_actual_version(oid) AS actual WHERE datname = current_database()`).
				Scan(&f.Collation, &f.ActualCollation)
		}
		return err
	})
	if err != nil {
		return f, fmt.Errorf("examine the server: %w", err)
	}
	return f, nil
}

// WorkFacts describes the work that is waiting in a database, the bot that owns the database, and
// the current leader.
type WorkFacts struct {
	Owner  ladder.UserID // the bot that owns the database, 0 for none yet
	Leader string        // holder of the leader's lease, even if expired; empty if released or never held
	// LeaseEnds is the time until the leader's lease ends, by the database's clock. It is negative
	// if the lease has ended, and 0 if there has never been a leader.
	LeaseEnds time.Duration
	Waiting   int           // unfinished notices that HeldBack does not count
	Oldest    time.Duration // how long the oldest of these notices has been waiting; 0 if there are none
	// HeldBack counts unfinished notices that are not sent for now: those to frozen or parked
	// chats, and those that only a newer release can send.
	HeldBack    int
	DeadLetters int
}

// ExamineWork examines the work in a database, which must have the schema of this release. It
// changes nothing.
func ExamineWork(ctx context.Context, pool *pgxpool.Pool) (f WorkFacts, err error) {
	const sql = `
		WITH open AS (
		    SELECT o.created_at, o.deferred_at IS NULL AND NOT ` + Parked + `
		           AND coalesce(c.frozen_until <= now(), true) AS is_due
		    FROM outbox o JOIN chats c ON c.id = o.chat_id WHERE o.finished_at IS NULL
		)
		SELECT coalesce((SELECT telegram_user_id FROM bot), 0),
		       coalesce((SELECT holder FROM leases WHERE name = $1), ''),
		       coalesce((SELECT expires_at - clock_timestamp() FROM leases WHERE name = $1), '0'),
		       (SELECT count(*) FROM open WHERE is_due),
		       coalesce((SELECT now() - min(created_at) FROM open WHERE is_due), '0'),
		       (SELECT count(*) FROM open WHERE NOT is_due),
		       (SELECT count(*) FROM dead_letters)`
	err = pool.QueryRow(ctx, sql, LeaderLease).
		Scan(&f.Owner, &f.Leader, &f.LeaseEnds, &f.Waiting, &f.Oldest, &f.HeldBack, &f.DeadLetters)
	if err != nil {
		return f, fmt.Errorf("examine the work: %w", err)
	}
	return f, nil
}
