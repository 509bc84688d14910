// Package pgoutbox stores the notices that internal/outbox sends. Its Store takes what the lanes have to send, records what came of it,
// summarizes lanes in which too much waits, and tells what waits. It also queues the updates of boards.
package pgoutbox
