package web_test

import (
	"context"
	"net/http"
	"testing"

	"elobot/internal/web"
)

// TestHealth checks that HealthPath answers 200 even if the instance is not ready. ReadyPath
// answers 200 only if the instance is ready, whether or not it is the leader.
func TestHealth(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state web.Readiness
		code  int
		body  string
	}{
		"ready":       {web.Readiness{Ready: true, Leader: true}, http.StatusOK, `{"ready":true,"leader":true}`},
		"standing by": {web.Readiness{Ready: true}, http.StatusOK, `{"ready":true,"leader":false}`},
		"not ready": {
			web.Readiness{Problem: "no database"}, http.StatusServiceUnavailable,
			`{"ready":false,"problem":"no database","leader":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := listen(t)
			server.Health(func(context.Context) web.Readiness { return tc.state })
			url, _, _ := run(t, server)
			if a := request(t, http.MethodGet, url+web.HealthPath); a.code != http.StatusOK || a.body != "ok\n" {
				t.Errorf("%s: %+v", web.HealthPath, a)
			}
			if a := request(t, http.MethodGet, url+web.ReadyPath); a.code != tc.code || a.body != tc.body+"\n" {
				t.Errorf("%s: %+v", web.ReadyPath, a)
			}
			if a := request(t, http.MethodPost, url+web.ReadyPath); a.code != http.StatusMethodNotAllowed {
				t.Errorf("POST: %+v", a)
			}
		})
	}
}
