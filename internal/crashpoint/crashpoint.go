// Package crashpoint names the moments of the bot's work at which a crash matters most, so that tests can have the process
// end or stand still there. It leaves nothing of itself in a program that is not built with the tag crashpoints.
package crashpoint

import "fmt"

// Point is a moment that the process comes by again and again.
type Point string

// The points.
const (
	// Applying: what a command changes is decided, and nothing of it has been written.
	Applying Point = "applying"
	// Gathering: it is decided whether a result is written at once, or waits to be written together with others, and nothing
	// of it has been written.
	Gathering Point = "gathering"
	// ApplyingTogether: what several results change in one transaction is on its way to the database, and nobody knows whether
	// it commits.
	ApplyingTogether Point = "applying together"
	// Applied: what a command changes has been written, and nobody knows it yet. A result has committed; what takes a match
	// back has not, because the group is held until it does.
	Applied Point = "applied"
	// Handled: everything that comes of an update has committed, and Telegram does not know.
	Handled Point = "handled"
	// Requesting: a message is marked as being sent, and its request has not begun.
	Requesting Point = "requesting"
	// Requested: the answer to a request has come, and nothing of it has been written.
	Requested Point = "requested"
	// Renewing and Renewed are before and after a renewal of the lease.
	Renewing Point = "renewing"
	Renewed  Point = "renewed"
	// Migrating and Migrated are before and after a step of the schema. It is marked as begun before.
	Migrating Point = "migrating"
	Migrated  Point = "migrated"
)

// Variable is the one of the environment that names the file with the plan. Whoever carries it out adds a full stop and its
// process id to the file's name first, so that of several processes only one does.
const Variable = "ELOBOT_CRASHPOINT"

// What a process can do.
const (
	End  = "end"
	Stop = "stop"
	// Meet has those who come to the point wait there until the nth has come and there is another plan.
	Meet = "meet"
)

// Plan is what a file says that has a process do this at the nth visit to a point since the file is there.
func Plan(p Point, n int, what string) string { return fmt.Sprintf("%d %s %s", n, what, p) }

// Poison in an update ends the process that handles it, as an update does that needs too much memory.
const Poison = "crashpoint"
