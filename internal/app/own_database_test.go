package app

import "testing"

// TestChooseDir checks that, if there is a database, chooseDir chooses its folder or fails. It adds
// a note only to systemDataDir. If DATA_DIR names a folder, ownDir uses that folder.
func TestChooseDir(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fits, hasData, systemHasData bool
		want                         string // empty for an error
	}{
		{fits: true, want: dataDir},
		{fits: true, hasData: true, want: dataDir},
		{want: systemDataDir},
		{systemHasData: true, want: systemDataDir},
		{hasData: true},
		{fits: true, systemHasData: true},
		{fits: true, hasData: true, systemHasData: true},
		{hasData: true, systemHasData: true},
	} {
		dir, note, err := chooseDir(tc.fits, tc.hasData, tc.systemHasData)
		if dir != tc.want || (err != nil) != (tc.want == "") || (note != "") != (dir == systemDataDir) {
			t.Errorf("%+v: %q, %q, %v", tc, dir, note, err)
		}
	}
	if dir, _, err := (DatabaseConfig{DataDir: dataDir}).ownDir(); dir != dataDir || err != nil {
		t.Errorf("a folder that was named: %q, %v", dir, err)
	}
}
