package botsim_test

import (
	"strings"
	"testing"
)

const webhookActive = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

// TestSameWebhookAgain: the delivery in progress goes on.
func TestSameWebhookAgain(t *testing.T) {
	t.Parallel()
	s, bot, group, alice, h := webhookScene(t)
	group.Say(alice, "x")
	first := receive(t, h.arrivals)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	first.answer <- 200
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x"}, nil)
	group.Say(alice, "y")
	if second := receive(t, h.arrivals); second.header.Get("X-Telegram-Bot-Api-Secret-Token") != "x" {
		t.Errorf("delivered with %v", second.header)
	}
	bot.want(t, "setWebhook", fields{"url": ""}, nil)
	bot.want(t, "deleteWebhook", nil, nil)
	if all := awaitAttempts(t, s, 2); all[0].Err != "" || all[1].Status != 0 {
		t.Errorf("deliveries %+v", all)
	}
}

func TestWebhookInfo(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	if r := bot.must(t, "getWebhookInfo", nil); string(r.Result) !=
		`{"has_custom_certificate":false,"pending_update_count":0,"url":""}` {
		t.Errorf("without a webhook: %s", r.Raw)
	}
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	if info := bot.webhookInfo(t); info.URL != h.url || info.Connections != 40 || info.Allowed != nil || info.Failed != "" {
		t.Errorf("with minimal settings: %+v", info)
	}
	for _, n := range []int{1, 100} {
		bot.want(t, "setWebhook", fields{"url": h.url, "max_connections": n}, nil)
		if got := bot.webhookInfo(t).Connections; got != n {
			t.Errorf("max_connections = %d, want %d", got, n)
		}
	}
	bot.want(t, "setWebhook", fields{"url": h.url, "allowed_updates": []string{"message"}}, nil)
	group.Say(alice, "x")
	if info := bot.webhookInfo(t); len(info.Allowed) != 1 || info.Pending != 1 {
		t.Errorf("with all settings: %+v", info)
	}
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
}

func TestWrongWebhooks(t *testing.T) {
	t.Parallel()
	_, bot, _, _ := scene(t)
	const good = "https://example.org/hook"
	for want, cases := range map[string][]fields{
		"Bad Request: bad webhook: An HTTPS URL must be provided for webhook": {
			{"url": "http://example.org/hook"}, {"url": "http://10.0.0.1:8080/hook"},
		},
		"Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443": {{"url": "https://example.org:9000"}},
		"Bad Request: invalid webhook URL specified": {
			{"url": "ftp://example.org"}, {"url": "https://"}, {"url": "not a url"}, {"url": "https://a b/"},
		},
		"Bad Request: invalid secret_token specified": {
			{"url": good, "secret_token": "a b"}, {"url": good, "secret_token": "é"}, {"url": good, "secret_token": "a+b="},
			{"url": good, "secret_token": "a\n"}, {"url": good, "secret_token": strings.Repeat("a", 257)},
		},
	} {
		for _, params := range cases {
			bot.refused(t, "setWebhook", params, 400, want)
		}
	}
	if info := bot.webhookInfo(t); info.URL != "" {
		t.Errorf("a refused webhook was set: %+v", info)
	}
	for _, address := range []string{
		good, "https://example.org:8443/", "http://127.0.0.1:9/x", "http://localhost:9/x", "http://[::1]:9/x", "https://127.0.0.1:9/x",
	} {
		bot.want(t, "setWebhook", fields{"url": address, "secret_token": strings.Repeat("a", 256)}, nil)
		if got := bot.webhookInfo(t).URL; got != address {
			t.Errorf("url = %q, want %q", got, address)
		}
	}
}

func TestGetUpdatesConflictsWithWebhook(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	arrived := polls(t, s)
	waiting := bot.later(testContext(t), "getUpdates", fields{"timeout": 50})
	receive(t, arrived)
	awaitLongPoll(t, s)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	if r := receive(t, waiting); r.Status != 409 || r.Description != "Conflict: terminated by setWebhook request" {
		t.Errorf("long poll ended with %s", r.Raw)
	}
	group.Say(alice, "x")
	a := receive(t, h.arrivals)
	bot.refused(t, "getUpdates", fields{"offset": a.update.ID + 1, "allowed_updates": []string{"poll"}}, 409, webhookActive)
	if s.Pending() != 1 {
		t.Error("a refused getUpdates confirmed an update")
	}
	group.Say(alice, "y")
	bot.want(t, "deleteWebhook", nil, nil)
	equal(t, "polled afterwards", texts(bot.updates(t, fields{})), []string{"x", "y"})
	a.answer <- 200
	if s.Pending() != 2 {
		t.Errorf("Pending() = %d: a removed webhook confirmed an update", s.Pending())
	}
}

func TestWebhookAllowedUpdates(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url, "allowed_updates": []string{"edited_message"}}, nil)
	m := group.Say(alice, "unseen")
	group.Edit(m, "seen")
	a := receive(t, h.arrivals)
	if a.update.Edited["text"] != "seen" {
		t.Errorf("delivered %s, want the edit", a.raw)
	}
	a.answer <- 200
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x"}, nil) // keeps allowed_updates
	group.Say(alice, "unseen")
	bot.want(t, "setWebhook", fields{"url": h.url, "secret_token": "x", "allowed_updates": []string{}}, nil)
	group.Say(alice, "again")
	a = receive(t, h.arrivals)
	if a.text() != "again" {
		t.Errorf("delivered %s", a.raw)
	}
	a.answer <- 200
	if err := s.WaitConfirmed(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestPendingUpdatesGoToTheNewWebhook(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	h := newHook(t)
	bot.want(t, "setWebhook", fields{"url": h.url}, nil)
	group.Say(alice, "1")
	group.Say(alice, "2")
	cut := receive(t, h.arrivals)
	second := newHook(t)
	bot.want(t, "setWebhook", fields{"url": second.url}, nil)
	again := receive(t, second.arrivals)
	if again.raw != cut.raw {
		t.Errorf("the new webhook first got %s, want the update of the interrupted delivery", again.raw)
	}
	awaitAttempts(t, s, 1) // the old webhook's delivery is interrupted
	bot.want(t, "deleteWebhook", nil, nil)
	equal(t, "polled afterwards", texts(bot.updates(t, fields{})), []string{"1", "2"})
	if len(h.arrivals)+len(second.arrivals) != 0 {
		t.Error("a removed webhook got a delivery")
	}
}
