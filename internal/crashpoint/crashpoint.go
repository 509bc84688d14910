// Package crashpoint names the points of the bot's work where a crash is most critical, so that
// tests can kill or stop the process there. It does nothing in a program that is built without the
// tag crashpoints.
package crashpoint

import "fmt"

// Point is a place in the code that the process passes again and again.
type Point string

const (
	// Applying: the changes of a command are decided, and none has been written.
	Applying Point = "applying"
	// Batching: a result is about to be written at once, or to wait to be written with others.
	// Nothing has been written.
	Batching Point = "batching"
	// ApplyingTogether: the transaction with the changes of several results is on its way to the
	// database, and may or may not commit.
	ApplyingTogether Point = "applying together"
	// Applied: the changes of a command have committed, but the caller does not know yet.
	Applied Point = "applied"
	// Handled: all effects of an update have committed, but Telegram has no confirmation yet.
	Handled Point = "handled"
	// Fired: all effects of a due timer have committed.
	Fired Point = "fired"
	// Requesting: a notice is marked as sending, but its request has not begun.
	Requesting Point = "requesting"
	// Requested: the answer to a request has arrived, but its result has not been written.
	Requested Point = "requested"
	// Making: a message that should exist once is about to be sent.
	Making Point = "making"
	// Pinning: such a message is about to be pinned. Its result has not been written.
	Pinning Point = "pinning"
	// Pinned: the request to pin such a message has ended. Its result has not been written.
	Pinned Point = "pinned"
	// Renewing: the lease is about to be renewed.
	Renewing Point = "renewing"
	// Renewed: the renewal of the lease has returned, and its result has not been used.
	Renewed Point = "renewed"
	// Migrating: a migration is marked as begun, and nothing of it has been sent.
	Migrating Point = "migrating"
	// Migrated: a migration has committed.
	Migrated Point = "migrated"
)

// Variable is the environment variable that names the file with the plan. A process appends a
// period and its process id to the file's name before it carries out the plan, so that only one of
// several processes does.
const Variable = "ELOBOT_CRASHPOINT"

// The actions of a plan.
const (
	// End kills the process.
	End = "end"
	// Stop stops the process until it gets SIGCONT.
	Stop = "stop"
	// Meet makes the goroutines that reach the point wait there, until the nth has arrived and
	// there is another plan.
	Meet = "meet"
)

// Plan returns the content of a plan file: the action to take at the nth visit to a point, counted
// from when the file appears.
func Plan(p Point, n int, what string) string { return fmt.Sprintf("%d %s %s", n, what, p) }

// Poison in an update kills the process that handles it, like an update that needs too much memory.
const Poison = "crashpoint"
