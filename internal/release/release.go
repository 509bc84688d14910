// Package release identifies the release of elobot that is running.
package release

import (
	"cmp"
	_ "embed"
	"runtime/debug"
	"strings"
)

// The linker sets these variables in the builds of releases and images (-ldflags -X).
var (
	// Version is the version of the release, such as 1.2.0. It is empty in any other build.
	Version string
	// Source is the URL of the source code, empty if the build does not set it.
	Source string
)

// archived is the content of archive.txt, a placeholder that git archive replaces with the output
// of git describe --tags. Forges use git archive to provide the source of a release.
//
//go:embed archive.txt
var archived string

// Name returns the version, such as 1.2.0. If the linker has set no version, Name returns the
// version of the Git clone or archive from which the program was built, or "dev" if that is
// unknown, too.
func Name() string {
	built, _ := debug.ReadBuildInfo()
	return name(Version, built, archived)
}

func name(set string, built *debug.BuildInfo, archived string) string {
	var stamped string
	if built != nil && built.Main.Version != "(devel)" {
		stamped = built.Main.Version
	}
	archived = strings.TrimSpace(archived)
	if strings.Contains(archived, "$Format") {
		archived = "" // not from an archive
	}
	return cmp.Or(strings.TrimPrefix(cmp.Or(set, stamped, archived), "v"), "dev")
}
