// Package mutants proves that the tests can fail. Each mutant is a change of one line that breaks a promise of elobot; the
// ordinary tests must turn red with it.
//
//	go test -tags mutants ./internal/mutants                       # every mutant dies
//	go test -tags mutants ./internal/mutants -run TestMutantsApply # each one still applies and compiles
//
// A mutant is applied by the overlay of the go command, never in the tree. One whose line has changed or stands twice
// fails, so the table cannot rot in silence. docs/guarantees.md says which promise each of them breaks, and which test holds it.
package mutants
