// Package pgintake stores what internal/intake must not lose: updates that failed for good, as dead
// letters, and attempts at updates that have begun and not returned. Operators use it to list,
// repeat and drop dead letters, including those of notices.
package pgintake
