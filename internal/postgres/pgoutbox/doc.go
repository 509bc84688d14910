// Package pgoutbox stores the notices that internal/outbox sends. Its Store takes the next messages
// of lanes, records the results, summarizes lanes in which too much waits, and reports what waits.
// It also queues the updates of boards.
package pgoutbox
