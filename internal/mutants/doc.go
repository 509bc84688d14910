// Package mutants proves that the tests can fail. Each mutant is a small change that makes elobot
// break a guarantee. The ordinary tests must fail with it.
//
//	go test -tags mutants ./internal/mutants                       # every mutant dies
//	go test -tags mutants ./internal/mutants -run TestMutantsApply # each applies and compiles
//
// The -overlay flag of the go command applies a mutant, so the source files stay unchanged. The
// tests also fail if the code that a mutant replaces does not occur exactly once in its file. This
// reveals an outdated mutant. For each mutant, docs/dev/guarantees.md lists the guarantee that it
// breaks and the test that detects it.
package mutants
