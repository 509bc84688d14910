// Package pgoutbox stores the notices that internal/outbox sends. Its [Store] takes the next
// messages of lanes, records the results, summarizes lanes with too many notices, and reports what
// waits. It also queues updates of boards.
package pgoutbox
