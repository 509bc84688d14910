//go:build unix

package pgtemp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// aptScripts simulate apt's programs on a machine that lacks the server and two libraries. Their server runs the machine's
// own, but only if it finds its libraries.
var aptScripts = map[string]string{
	"apt-cache": `printf 'postgresql\n  Depends: postgresql-15\n'`,
	"apt-get": `case "$*" in
		*install*) echo 'Inst libone (1 Debian [amd64])
Inst libtwo:amd64 [1] (2 Debian [amd64])
Inst libc6 [1] (2 Debian [amd64])
Inst libllvm14 (1 Debian [amd64])
Inst perl (1 Debian [amd64])
Inst postgresql-client-15 (15.1 Debian [amd64])
Inst postgresql-client-common (250 Debian [all])
Inst postgresql-15 (15.1 Debian [amd64])' ;;
		*download*) while [ "$1" != download ]; do shift; done; shift; for name; do : >"$name.deb"; done ;;
		*update*) exit 100 ;; # one of many lists cannot be had
	esac`,
	"dpkg-deb": `umask 022 # as tar does for root
	mkdir -p "$3/usr/lib/some-linux-gnu" "$3/usr/lib/postgresql/15/bin" "$3/usr/lib/postgresql/15/lib"
	: >"$3/usr/lib/some-linux-gnu/${2##*/}" >"$3/usr/lib/postgresql/15/lib/llvmjit.so"
	for name in postgres initdb; do
		cat >"$3/usr/lib/postgresql/15/bin/$name" <<END
#!/bin/sh
case \$LD_LIBRARY_PATH in */usr/lib/some-linux-gnu*) ;; *) echo no libraries >&2; exit 1 ;; esac
for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin; do
	[ -x "\$folder/$name" ] && exec "\$folder/$name" "\$@"
done
exec $name "\$@"
END
		chmod 755 "$3/usr/lib/postgresql/15/bin/$name"
	done`,
}

// putApt writes aptScripts into a folder.
func putApt(t *testing.T, folder string) {
	t.Helper()
	for name, script := range aptScripts {
		putScript(t, filepath.Join(folder, name), "#!/bin/sh -e\n"+script)
	}
}

// mustHavePackages checks the packages in the cache, and that they are found without apt.
func mustHavePackages(t *testing.T, cache string) {
	t.Helper()
	user, err := chooseIdentity("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := firstSuitable(t.Context(), cached(Options{cache: cache}, packagesName), user, ""); err != nil {
		t.Errorf("find programs in the cache: %v", err)
	}
	got, err := filepath.Glob(filepath.Join(cache, "packages-postgresql/usr/lib/*/*.*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"libone.deb", "libtwo:amd64.deb", "postgresql-15.deb", "postgresql-client-15.deb"}
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("unpacked %v, want %v", got, want)
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 1 {
		t.Errorf("the cache contains %v, %v", entries, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "packages-postgresql/*/*/*/15/lib/llvmjit.so"))
	if err != nil || len(left) != 0 {
		t.Errorf("the JIT module was not removed: %v, %v", left, err)
	}
}
