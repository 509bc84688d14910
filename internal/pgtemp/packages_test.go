//go:build unix

package pgtemp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// aptScripts stand for apt's programs on a machine that lacks the server and two libraries. The server that they bring
// runs the machine's own, but only if its libraries are found.
var aptScripts = map[string]string{
	"apt-cache": `printf 'postgresql\n  Depends: postgresql-15\n'`,
	"apt-get": `case "$*" in
		*install*) echo 'Inst libone (1 Debian [amd64])
Inst libtwo:amd64 [1] (2 Debian [amd64])
Inst libc6 [1] (2 Debian [amd64])
Inst libllvm14 (1 Debian [amd64])
Inst perl (1 Debian [amd64])
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

func TestPackagesAreFetchedOnce(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	folder := publicFolder(t)
	for name, script := range aptScripts {
		cmd := exec.Command("/bin/sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", filepath.Join(folder, name))
		cmd.Stdin = strings.NewReader("#!/bin/sh -e\n" + script)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	cache := filepath.Join(folder, "cache")
	run := func(ways []Way, adjust func(*exec.Cmd)) {
		h := startHelper(t, order{Ways: ways, Cache: cache, NoFolders: true, Umask: 0o077}, adjust)
		ready := h.await("ready", "")
		if !strings.Contains(ready.Kind, "cache/packages-postgresql/usr/lib/postgresql/15/bin") {
			t.Errorf("Kind is %q", ready.Kind)
		}
		h.stop()
		gone(t, ready.PID, ready.URL)
	}
	run([]Way{Packages}, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "PATH="+folder+":"+os.Getenv("PATH"))
	})
	run([]Way{Programs, Packages}, func(cmd *exec.Cmd) { // without the network there is no apt-get that would help
		cmd.Env = append(without(cmd.Env, "PATH"), "PATH=/nonexistent")
	})
	got, err := filepath.Glob(filepath.Join(cache, "packages-postgresql/usr/lib/*/*.*"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"libone.deb", "libtwo:amd64.deb", "postgresql-15.deb"}
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("unpacked are %v, want %v", got, want)
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 1 {
		t.Errorf("in the cache are %v, %v", entries, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "packages-postgresql/*/*/*/15/lib/llvmjit.so"))
	if err != nil || len(left) != 0 {
		t.Errorf("the part that needs LLVM is there: %v, %v", left, err)
	}
}
