// Package pgoutbox stores the notices that internal/outbox sends. Its Store takes what the lanes have to send, records what
// came of it, and tells what waits. It also marks a notice that is sent directly as taken, in the batch that inserts it.
package pgoutbox
