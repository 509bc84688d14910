//go:build container && unix

package pgtemp

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// containerGone returns an error while the container exists, in any state.
func containerGone(t *testing.T, name string) error {
	t.Helper()
	left, err := docker(t.Context(), "ps", "--all", "--quiet", "--filter", "name="+name)
	if err == nil && left != "" {
		err = errors.New("there is still the container " + name)
	}
	return err
}

// TestContainer checks that a server in a container has the given settings, and a server that
// cannot start reports the reason. Stop removes the container.
func TestContainer(t *testing.T) {
	t.Parallel()
	server := start(t, Options{Sources: []Source{Docker}, Settings: map[string]string{"work_mem": "5MB"}})
	if got := query(t, server.URL(), "SHOW work_mem"); got != "5MB" ||
		!strings.Contains(server.Kind(), "container of postgres:17") {
		t.Errorf("%s has work_mem %s", server.Kind(), got)
	}
	address, c := server.URL(), server.engine.(*container)
	must(t, server.Stop(t.Context()))
	must(t, containerGone(t, c.name))
	must(t, portFree(t, address))
	_, err := Start(t.Context(), Options{Sources: []Source{Docker}, Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("with an unknown setting, it starts with %v", err)
	}
}

// TestContainerEndsWithProcess checks that the container is removed if the process that starts it
// is killed, at whatever stage, or if its docker command is killed.
func TestContainerEndsWithProcess(t *testing.T) {
	t.Parallel()
	for moment, reach := range map[string]func(h *helper, name string){
		"before it exists": func(*helper, string) {},
		"when it exists": func(_ *helper, name string) {
			eventually(t, func() error {
				_, err := docker(t.Context(), "container", "inspect", name)
				return err
			})
		},
		"when it is ready": func(h *helper, _ string) { h.await("ready") },
		"after its command": func(h *helper, name string) {
			h.await("ready")
			must(t, exec.Command("pkill", "-KILL", "-f", "docker run .*--name "+name).Run())
			eventually(t, func() error { return containerGone(t, name) })
		},
	} {
		t.Run("killed "+moment, func(t *testing.T) {
			t.Parallel()
			h := startHelper(t, Docker, "", "", func(*exec.Cmd) {})
			name := strings.Fields(h.await("starting the container"))[0]
			reach(h, name)
			h.kill()
			eventually(t, func() error { return noProcessWith(t, name) })
			eventually(t, func() error { return containerGone(t, name) })
		})
	}
}
