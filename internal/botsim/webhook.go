package botsim

import (
	"cmp"
	"context"
	"time"

	"elobot/internal/botsim/parameters"
	"elobot/internal/botsim/updates"
	"elobot/internal/botsim/webhook"
)

const defaultConnections = 40

// activeWebhook is the webhook that is set. The server's lock guards the fields below slots.
type activeWebhook struct {
	webhook.Settings
	ctx   context.Context // done when the webhook or the server ends
	end   context.CancelFunc
	slots chan struct{} // one element for each delivery in progress

	lanes      map[updates.Lane][]*updates.Update // waiting updates by lane; each lane in the map has a goroutine
	failedAt   time.Time
	lastFailed string
}

func (s *Server) setWebhook(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings, err := readWebhook(r.params)
	if err != nil {
		return nil, err
	}
	var allowed []string
	given, err := r.params.Object("allowed_updates", &allowed)
	if err != nil {
		return nil, err
	}
	if given {
		s.queue.Allowed = allowed
	}
	switch {
	case settings.URL == "":
		return s.removeWebhook(), nil
	case s.webhook != nil && s.webhook.Settings == settings:
		return described{true, "Webhook is already set"}, nil
	}
	s.removeWebhook()
	s.queue.Terminate(conflict("terminated by setWebhook request"))
	ctx, cancel := context.WithCancel(context.Background())
	s.webhook = &activeWebhook{
		Settings: settings, ctx: ctx, end: cancel,
		slots: make(chan struct{}, settings.Connections), lanes: map[updates.Lane][]*updates.Update{},
	}
	s.queue.Expire(s.now())
	for _, u := range s.queue.Waiting() {
		s.enqueueForWebhook(u)
	}
	return described{true, "Webhook was set"}, nil
}

func (s *Server) deleteWebhook(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeWebhook(), nil
}

// removeWebhook removes the webhook and interrupts its deliveries. Their updates stay unconfirmed.
func (s *Server) removeWebhook() described {
	if s.webhook == nil {
		return described{true, "Webhook is already deleted"}
	}
	s.webhook.end()
	s.webhook = nil
	return described{true, "Webhook was deleted"}
}

func (s *Server) getWebhookInfo(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Expire(s.now())
	info := map[string]any{
		"url": "", "has_custom_certificate": false, "pending_update_count": len(s.queue.Waiting()),
	}
	if len(s.queue.Allowed) > 0 {
		info["allowed_updates"] = s.queue.Allowed
	}
	h := s.webhook
	if h == nil {
		return info, nil
	}
	info["url"], info["max_connections"] = h.URL, h.Connections
	if h.lastFailed != "" {
		info["last_error_date"], info["last_error_message"] = h.failedAt.Unix(), h.lastFailed
	}
	return info, nil
}

// readWebhook reads and checks the settings of a webhook. They are empty if there is no URL.
func readWebhook(p parameters.Values) (webhook.Settings, error) {
	if p["url"] == "" {
		return webhook.Settings{}, nil
	}
	w := webhook.Settings{
		URL: p["url"], Secret: p["secret_token"],
		Connections: cmp.Or(int(p.Integer("max_connections")), defaultConnections),
	}
	if err := w.Check(); err != nil {
		return w, badRequest(err.Error())
	}
	return w, nil
}
