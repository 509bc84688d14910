package pgtest

import (
	"context"
	"fmt"
	"strings"
)

// fingerprint tells a database in which rows of the tables have come and gone, and nothing else, from one that has become
// another, or in which a lock is kept.
type fingerprint struct{ schema, steps string }

// firstOwn is the least number of what is not the server's own.
const firstOwn = 16384

// schemaAndSize returns what a database consists of, whether it has been migrated, and how many bytes there are in its tables.
// Of most catalogues it takes the sum of the transactions that have written their rows: each change makes it greater unless
// there are fewer rows. A row of pg_class is also written by what leaves nothing behind, as a trigger that was dropped, so
// what stands in it counts.
var schemaAndSize = func() string {
	var catalogues strings.Builder
	for _, c := range [][2]string{
		{"pg_attribute", "attrelid"},
		{"pg_constraint", "oid"},
		{"pg_policy", "oid"},
		{"pg_proc", "oid"},
		{"pg_rewrite", "oid"},
		{"pg_sequence", "seqrelid"},
		{"pg_trigger", "oid"},
		{"pg_type", "oid"},
	} {
		fmt.Fprintf(&catalogues, `
		           (SELECT concat_ws(' ', count(*), sum(xmin::text::bigint)) FROM %s WHERE %s >= %d),`, c[0], c[1], firstOwn)
	}
	return fmt.Sprintf(`
		SELECT concat_ws(' ', count(*), sum(hashtext(concat_ws(' ', relname, relacl, reloptions, relrowsecurity))),%s
		           (SELECT 'locked' FROM pg_locks WHERE locktype = 'advisory'
		                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1)),
		       to_regclass('schema_migrations') IS NOT NULL,
		       coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)
		FROM pg_class WHERE oid >= %d`, &catalogues, firstOwn)
}()

// fingerprintOf also returns how many bytes there are in tables.
func fingerprintOf(ctx context.Context, on querier) (f fingerprint, size int, err error) {
	var migrated bool
	if err := on.QueryRow(ctx, schemaAndSize).Scan(&f.schema, &migrated, &size); err != nil {
		return f, 0, fmt.Errorf("look at the schema of a database: %w", err)
	}
	if !migrated {
		return f, size, nil
	}
	err = on.QueryRow(ctx, `SELECT coalesce(string_agg(s::text, ' '), '') FROM schema_migrations s`).Scan(&f.steps)
	if err != nil {
		return f, 0, fmt.Errorf("look at the migrations of a database: %w", err)
	}
	return f, size, nil
}
