// Package crashpoint names the points in the code where a crash is most critical, so that tests can
// kill, stop or delay the process there. The points have an effect only in a program built with the
// tag crashpoints for a Unix system.
package crashpoint

import "fmt"

// Point names a place in the code that calls [At].
type Point string

const (
	// Applying is visited when the changes of one command, or of several together, are decided, and
	// none has been written.
	Applying Point = "applying"
	// Batching is visited when a result is about to be written alone, or waits to be written with
	// others.
	Batching Point = "batching"
	// ApplyingTogether is visited when the transaction with the changes of several results is on
	// its way to the database, and may or may not commit.
	ApplyingTogether Point = "applying together"
	// Applied is visited when the changes of one command, or of several together, have committed,
	// but the caller does not know yet.
	Applied Point = "applied"
	// Importing is visited when some of the rows or statements of an import have been sent, and the
	// others have not. There are many visits in an import.
	Importing Point = "importing"
	// Handled is visited when all effects of an update have committed, but Telegram has no
	// confirmation yet.
	Handled Point = "handled"
	// Fired is visited when either a timer has fired and all its effects have committed, or the
	// timer has failed to fire.
	Fired Point = "fired"
	// Requesting is visited when the notices of a message are marked as sending, but no request has
	// begun.
	Requesting Point = "requesting"
	// Requested is visited when the requests for a message have ended, but their result has not
	// been written.
	Requested Point = "requested"
	// Making is visited when a message that must exist only once in its chat, such as a board, is
	// about to be sent.
	Making Point = "making"
	// Pinning is visited when a board is about to be pinned. The result of sending or editing it
	// has not been written.
	Pinning Point = "pinning"
	// Pinned is visited when the request to pin a board has ended. Its result has not been written.
	Pinned Point = "pinned"
	// Renewing is visited when the lease is about to be renewed.
	Renewing Point = "renewing"
	// Renewed is visited when the renewal of the lease has returned, and its result has not been
	// used.
	Renewed Point = "renewed"
	// Migrating is visited when a migration is marked as begun, and none of its statements has been
	// sent.
	Migrating Point = "migrating"
	// Migrated is visited when a migration has committed.
	Migrated Point = "migrated"
)

// Variable is the environment variable with the path of the plan file. A process renames the file
// before it carries out the plan, so that only one of several processes does. The new name ends
// with a period and the process id.
const Variable = "ELOBOT_CRASHPOINT"

// The actions of a plan.
const (
	// End kills the process.
	End = "end"
	// Stop stops the process until it gets SIGCONT.
	Stop = "stop"
	// Meet makes the goroutines that reach the point wait there until the nth of them has arrived
	// and the next plan file exists.
	Meet = "meet"
)

// Plan returns the content of a plan file. The plan is to carry out the action what at the nth
// visit to the point p after the file was written. n counts from 1.
func Plan(p Point, n int, what string) string { return fmt.Sprintf("%d %s %s", n, what, p) }

// Poison kills the process that handles an update containing this text. Such an update behaves like
// one that needs too much memory.
const Poison = "crashpoint"
