// Package pgstats reads the data for the questions of internal/stats. It never writes, so that it
// can use sessions that cannot.
package pgstats
