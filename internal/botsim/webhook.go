package botsim

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"elobot/internal/botsim/parameters"
	"elobot/internal/botsim/updates"
)

const (
	defaultConnections = 40
	maxConnections     = 100
)

var webhookPorts = []string{"", "443", "80", "88", "8443"}

// webhook is the receiver of updates. The server's lock guards the fields below slots.
type webhook struct {
	webhookSettings
	ctx   context.Context // done when the webhook or the server ends
	end   context.CancelFunc
	slots chan struct{} // one element for each delivery in progress

	lanes      map[updates.Lane][]*updates.Update // waiting updates by lane; each lane in the map has a goroutine
	failedAt   time.Time
	lastFailed string
}

type webhookSettings struct {
	url, secret, ipAddress string
	certificate            bool
	connections            int
}

func (s *Server) setWebhook(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	drop := r.params.Boolean("drop_pending_updates")
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
	case settings.url == "":
		return s.removeWebhook(drop), nil
	case s.webhook != nil && s.webhook.webhookSettings == settings && !settings.certificate && !drop:
		return described{true, "Webhook is already set"}, nil
	}
	s.removeWebhook(drop)
	s.queue.Terminate(conflict("terminated by setWebhook request"))
	ctx, cancel := context.WithCancel(context.Background())
	s.webhook = &webhook{
		webhookSettings: settings, ctx: ctx, end: cancel,
		slots: make(chan struct{}, settings.connections), lanes: map[updates.Lane][]*updates.Update{},
	}
	s.queue.Expire(s.now())
	for _, u := range s.queue.Waiting() {
		s.enqueueForWebhook(u)
	}
	return described{true, "Webhook was set"}, nil
}

func (s *Server) deleteWebhook(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeWebhook(r.params.Boolean("drop_pending_updates")), nil
}

// removeWebhook removes the webhook and interrupts its deliveries. Their updates stay unconfirmed unless drop is set.
func (s *Server) removeWebhook(drop bool) described {
	if drop {
		s.queue.Confirm(len(s.queue.Waiting()))
		s.confirmed.fire()
	}
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
	info["url"], info["has_custom_certificate"], info["max_connections"] = h.url, h.certificate, h.connections
	if h.ipAddress != "" {
		info["ip_address"] = h.ipAddress
	}
	if h.lastFailed != "" {
		info["last_error_date"], info["last_error_message"] = h.failedAt.Unix(), h.lastFailed
	}
	return info, nil
}

// readWebhook reads and checks the settings of a webhook. They are empty if there is no URL.
func readWebhook(p parameters.Values) (webhookSettings, error) {
	if p["url"] == "" {
		return webhookSettings{}, nil
	}
	w := webhookSettings{secret: p["secret_token"], ipAddress: p["ip_address"], certificate: p["certificate"] != ""}
	var err error
	if w.url, err = readWebhookURL(p["url"]); err != nil {
		return w, err
	}
	w.connections = cmp.Or(int(p.Integer("max_connections")), defaultConnections)
	if _, err := netip.ParseAddr(w.ipAddress); err != nil && w.ipAddress != "" {
		return w, badRequest("bad webhook: Invalid IP address specified")
	}
	return w, nil
}

// readWebhookURL checks an address and adds a missing scheme. Only a loopback address may use http or any port.
func readWebhookURL(address string) (string, error) {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", badRequest("invalid webhook URL specified")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost", err == nil && ip.IsLoopback():
	case u.Scheme == "http":
		return "", badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	case !slices.Contains(webhookPorts, u.Port()):
		return "", badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	}
	return address, nil
}
