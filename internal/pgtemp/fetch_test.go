//go:build unix

package pgtemp

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// archiveSum is the SHA-256 checksum of testdata/postgres.jar. The programs in that archive are
// scripts that run the machine's own programs.
const archiveSum = "18ea7a7cb148ee8c488d61b0f48b335a45d3cb3639b95578a4e080d490434f2a"

// internet starts an HTTP server with the files in testdata. The download of "stalled" never
// completes.
func internet(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("testdata")))
	mux.HandleFunc("/stalled", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush() // an error means that the client has disconnected
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestArchiveIsFetchedOnce checks that an archive is fetched only once, and its programs run like
// installed programs, even if the test runs as root. The server has the settings and access rules
// that it should have. If the server is killed before Stop, nothing remains of it.
func TestArchiveIsFetchedOnce(t *testing.T) {
	t.Parallel()
	if machinePrograms(t) == "" {
		return
	}
	maven := internet(t)
	o := Options{
		Sources: []Source{Archive}, cache: filepath.Join(publicFolder(t), "a b", "cache"), programFolders: []string{},
		archive:  &archive{maven.URL + "/postgres.jar", archiveSum, testTimeout},
		Settings: map[string]string{"work_mem": "5MB", "shared_buffers": "1MB", "port": "1", "application_name": "it's a=b"},
	}
	server := start(t, o)
	mustHaveSettings(t, server)
	mustStopAfterKill(t, server)

	maven.Close()
	user, err := chooseIdentity("")
	must(t, err)
	for _, way := range []Source{Programs, Archive} {
		found, err := findPrograms(t.Context(), o, way, user, "")
		if err != nil || way == Archive && !strings.HasPrefix(found.bin, o.cache) {
			t.Errorf("without the repository, %s: found %s, %v", way, found.bin, err)
		}
	}
	if link, err := os.Readlink(filepath.Join(o.cache, archiveName, "lib/library.so")); link != "library.so.1" {
		t.Errorf("a link points to %q, %v", link, err)
	}
}

func TestBadArchiveLeavesNothing(t *testing.T) {
	t.Parallel()
	maven := internet(t)
	for want, bad := range map[string]archive{
		"want 0000":         {maven.URL + "/postgres.jar", "0000", testTimeout},
		"404 Not Found":     {maven.URL + "/missing", archiveSum, testTimeout},
		"deadline exceeded": {maven.URL + "/stalled", archiveSum, 50 * time.Millisecond},
	} {
		cache := publicFolder(t)
		_, err := Start(t.Context(), Options{Sources: []Source{Archive}, cache: cache, archive: &bad})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start does not say %q: %v", want, err)
		}
		must(t, empty(cache))
	}
	if a, err := archiveFor("linux-amd64-alpine"); err == nil {
		t.Errorf("there is an archive for Alpine: %+v", a)
	}
}

// mustHavePackages checks that the cache contains the unpacked libraries but no temporary files,
// and that its programs are found without apt.
func mustHavePackages(t *testing.T, cache string) {
	t.Helper()
	user, err := chooseIdentity("")
	must(t, err)
	if _, err := firstSuitable(t.Context(), cached(Options{cache: cache}, packagesName), user, ""); err != nil {
		t.Errorf("find programs in the cache: %v", err)
	}
	var got []string
	for _, pattern := range []string{"*/*", "*/usr/lib/some-linux-gnu/*"} {
		found, err := filepath.Glob(filepath.Join(cache, pattern))
		must(t, err)
		got = append(got, found...)
	}
	usr := filepath.Join(cache, packagesName, "usr")
	libraries := filepath.Join(usr, "lib/some-linux-gnu")
	want := []string{usr, libraries + "/libone.deb", libraries + "/postgresql-15.deb"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the cache differs (-want +got):\n%s", diff)
	}
}
