// Package migrations holds the database schema as golang-migrate files, embedded so that the binary
// brings them along.
//
// Each file is one transaction: it is sent to the server in one piece and must not contain BEGIN,
// COMMIT or anything that cannot run in a transaction. A file that has been released is never
// edited. The numbers begin with 200: databases with lower ones are from before the first release,
// and are refused.
package migrations

import "embed"

// FS has the migration files at its root, named as golang-migrate expects them.
//
//go:embed *.sql
var FS embed.FS
