package pgtest

import (
	"context"
	"fmt"
	"strings"
)

// fingerprint identifies the state of a database except for the rows of its tables. It differs if anything else has
// changed, or if an advisory lock is held.
type fingerprint struct{ schema, migrations string }

// firstUserOID is the lowest OID of objects that do not belong to the server itself.
const firstUserOID = 16384

// schemaAndSize returns a digest of the schema, whether the database is migrated, and the size of its tables in bytes. For
// most catalogues the digest contains the number of rows and the sum of their xmin: each change increases the sum unless
// it removes rows. Rows of pg_class are also rewritten by changes that leave nothing behind, such as a dropped trigger, so
// for them the digest contains the values.
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
		           (SELECT concat_ws(' ', count(*), sum(xmin::text::bigint)) FROM %s WHERE %s >= %d),`, c[0], c[1], firstUserOID)
	}
	return fmt.Sprintf(`
		SELECT concat_ws(' ', count(*), sum(hashtext(concat_ws(' ', relname, relacl, reloptions, relrowsecurity))),%s
		           (SELECT 'locked' FROM pg_locks WHERE locktype = 'advisory'
		                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1)),
		       to_regclass('schema_migrations') IS NOT NULL,
		       coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), 0)
		FROM pg_class WHERE oid >= %d`, &catalogues, firstUserOID)
}()

// fingerprintOf returns the fingerprint of a database and the size of its tables in bytes.
func fingerprintOf(ctx context.Context, on querier) (f fingerprint, size int, err error) {
	var migrated bool
	if err := on.QueryRow(ctx, schemaAndSize).Scan(&f.schema, &migrated, &size); err != nil {
		return f, 0, fmt.Errorf("inspect the schema of a database: %w", err)
	}
	if !migrated {
		return f, size, nil
	}
	err = on.QueryRow(ctx, `SELECT coalesce(string_agg(s::text, ' '), '') FROM schema_migrations s`).Scan(&f.migrations)
	if err != nil {
		return f, 0, fmt.Errorf("inspect the migrations of a database: %w", err)
	}
	return f, size, nil
}
