// Package pgintake stores what internal/intake must not lose: the updates that failed for good, as dead letters, and the attempts at
// updates that have begun and not returned. The operator lists, repeats and drops dead letters with it, those of notices too.
package pgintake
