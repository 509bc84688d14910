// Package pgstats reads what the questions of internal/stats ask for. It never writes, so that it can use sessions that cannot.
package pgstats
