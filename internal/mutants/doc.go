// Package mutants proves that the tests can fail. Each mutant changes one line so that elobot
// breaks a guarantee; the ordinary tests must fail with it.
//
//	go test -tags mutants ./internal/mutants                       # every mutant dies
//	go test -tags mutants ./internal/mutants -run TestMutantsApply # each applies and compiles
//
// The -overlay flag of the go command applies a mutant; the tree never changes. A mutant fails if
// its line has changed or occurs twice, so the table cannot become outdated unnoticed.
// docs/dev/guarantees.md lists which guarantee each mutant breaks, and which test proves it.
package mutants
