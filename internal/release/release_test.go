package release

import (
	"runtime/debug"
	"testing"
)

// TestName checks that the linker's version takes precedence over the clone's version, and the
// clone's version over the archive's.
func TestName(t *testing.T) {
	t.Parallel()
	const unchanged = "$Format:%(describe:tags)$\n"
	clone := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}}
	}
	for _, tc := range []struct {
		set      string
		built    *debug.BuildInfo
		archived string
		want     string
	}{
		{"1.2.0", clone("v1.1.0"), "v1.0.0\n", "1.2.0"},
		{"v1.2.0", nil, unchanged, "1.2.0"},
		{"", clone("v1.1.0"), unchanged, "1.1.0"},
		{"", clone("v0.0.0-20261129182200-22f24d850000+dirty"), unchanged, "0.0.0-20261129182200-22f24d850000+dirty"},
		{"", clone("(devel)"), "v1.0.0\n", "1.0.0"},
		{"", clone("(devel)"), "v1.0.0-7-g22f24d85\n", "1.0.0-7-g22f24d85"},
		{"", clone("(devel)"), unchanged, "dev"},
		{"", clone("(devel)"), "\n", "dev"}, // the archive of a repository without tags
		{"", nil, unchanged, "dev"},
	} {
		if got := name(tc.set, tc.built, tc.archived); got != tc.want {
			t.Errorf("name(%q, %+v, %q) = %q, want %q", tc.set, tc.built, tc.archived, got, tc.want)
		}
	}
}
