//go:build unix

package main_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// service holds the settings of deploy/elobot.service, with which systemd runs the bot.
type service map[string][]string

func readService(t *testing.T) service {
	t.Helper()
	file, err := os.ReadFile("../../deploy/elobot.service")
	must(t, err)
	s := make(service)
	for line := range strings.Lines(string(file)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
			s[name] = append(s[name], value)
		}
	}
	return s
}

// restarts waits for the end of p, and reports whether systemd would restart the bot.
func (s service) restarts(t *testing.T, p *process) bool {
	t.Helper()
	code := p.wait(t) // -1 after a signal
	return slices.Equal(s["Restart"], []string{"always"}) &&
		!slices.Contains(strings.Fields(s["RestartPreventExitStatus"][0]), strconv.Itoa(code))
}

// TestService checks that systemd restarts a bot after a crash, but not after an error that would
// recur at every start.
func TestService(t *testing.T) {
	t.Parallel()
	s := readService(t)
	sim := startTelegram(t)
	url, _ := database(t)
	env := append(environment(sim, url), s["Environment"]...)

	crashed := launch(t, env, "run")
	crashed.await(t, "msg=ready")
	// Go's runtime treats SIGQUIT as a crash.
	must(t, crashed.cmd.Process.Signal(syscall.SIGQUIT))
	if !s.restarts(t, crashed) {
		t.Errorf("a bot that has crashed with %v is not started again", crashed.cmd.ProcessState)
	}
	if unset := launch(t, append(env, "TELEGRAM_BOT_TOKEN="), "run"); s.restarts(t, unset) {
		t.Errorf("a bot with wrong settings that has ended with %v is started again", unset.cmd.ProcessState)
	}
	if revoked := launch(t, append(env, "TELEGRAM_BOT_TOKEN="+unknownToken), "run"); s.restarts(t, revoked) {
		t.Errorf("a bot with a revoked token that has ended with %v is started again", revoked.cmd.ProcessState)
	}
	if slices.Contains(strings.Fields(s["RestartPreventExitStatus"][0]), "1") {
		t.Error("a bot that could not reach its database is not started again")
	}
	page, err := os.ReadFile("../../docs/hosting.md")
	if err != nil || !strings.Contains(string(page), " elobot.service /etc/systemd/system/") {
		t.Errorf("docs/hosting.md does not install elobot.service: %v", err)
	}
}
