// Package pgintake stores what internal/intake must not lose: updates that failed for good, as dead
// letters, and for each update, the attempts that have begun and not returned. It also serves the
// commands with which operators list, repeat and drop dead letters, including dead letters of
// notices.
package pgintake
