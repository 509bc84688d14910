// Package release says which release of elobot this is. The values are set at build time.
package release

var (
	// Version is the version of the release, such as 1.2.0.
	Version = "dev"
	// Source is the address of the source code, empty if it is not known.
	Source string
)
