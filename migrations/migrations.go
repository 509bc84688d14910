// Package migrations embeds the database schema, as golang-migrate files, in the binary.
//
// Each file is one transaction. It is sent to the server as a single query and must not contain
// BEGIN, COMMIT or anything that cannot run in a transaction. A file that has been released must
// not be edited. The numbers start at 200. A database with a lower version is from before the first
// release, and the bot refuses it.
package migrations

import "embed"

// FS has the migration files at its root, named as golang-migrate expects them.
//
//go:embed *.sql
var FS embed.FS
