// Package release identifies this release of elobot. The linker sets its variables at build
// time (-ldflags -X).
package release

import "cmp"

var (
	// Version is the version of the release, such as 1.2.0, or empty.
	Version string
	// Source is the address of the source code, or empty.
	Source string
)

// Name returns the version, or "dev" if there is none.
func Name() string { return cmp.Or(Version, "dev") }
