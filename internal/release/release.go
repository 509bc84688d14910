// Package release identifies the release of elobot that is running. The linker sets its variables
// at build time (-ldflags -X).
package release

import "cmp"

var (
	// Version is the version of the release, such as 1.2.0. It is empty in a development build.
	Version string
	// Source is the URL of the source code, empty if the build does not set it.
	Source string
)

// Name returns the version, or "dev" if there is none.
func Name() string { return cmp.Or(Version, "dev") }
