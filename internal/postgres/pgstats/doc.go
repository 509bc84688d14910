// Package pgstats reads the data for the questions of package stats. It never writes, so its
// sessions may be read-only.
package pgstats
