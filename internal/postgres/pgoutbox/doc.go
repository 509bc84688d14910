// Package pgoutbox stores the notices that internal/outbox sends. Its Store takes what the lanes have to send, records what
// came of it, and tells what waits.
package pgoutbox
