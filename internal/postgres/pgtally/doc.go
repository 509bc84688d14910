// Package pgtally keeps the tallies of ladders: what players did in each month and against each other, and their places some days
// ago. It implements stats.TallyStore.
//
// Each step is one transaction of the isolation level REPEATABLE READ: it reads the marks, the matches and the ratings of one
// snapshot, counts the matches, writes the tallies and deletes the marks that the snapshot has. So a mark that commits later is
// counted later, and a step that fails leaves nothing.
package pgtally
