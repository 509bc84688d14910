package app

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
)

// configured returns the configuration of elobot run with a token, a DATABASE_URL and other flags,
// and the error of Resolve.
func configured(t *testing.T, flags ...string) (*Config, error) {
	t.Helper()
	c := new(Config)
	parser, err := kong.New(c)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--token=123:abcdefghijklmnopqrstuvwxyz", "--database-url=postgres://elobot@localhost/elobot"},
		flags...)
	if _, err := parser.Parse(args); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return c, c.Resolve()
}

// sending holds the effective values of the settings in SendingConfig, except BOARD_INTERVAL.
type sending struct {
	Outbox        outbox.Settings
	Lease, Renews time.Duration
}

func sendingOf(c *Config) sending {
	return sending{c.outbox, c.leaseDuration, c.leaseRenewal}
}

func defaultSending() sending {
	return sending{
		Outbox: outbox.Settings{
			Parallel: 32, SendTimeout: 5 * time.Second, Limits: outbox.Limits{
				Private: []outbox.Window{{N: 1, Per: time.Second}},
				Group:   []outbox.Window{{N: 20, Per: time.Minute}, {N: 5, Per: 5 * time.Second}},
				Total:   []outbox.Window{{N: 30, Per: time.Second}},
			},
			Bounds: outbox.Bounds{Merge: 64, MaxWaiting: 1000}, WaitingTotal: 100_000, MaxFailures: 8,
		},
		Lease: 10 * time.Second, Renews: 3 * time.Second,
	}
}

// TestSendingSettings checks that each valid value, including the lowest and the highest, takes
// effect and leaves the other settings at their defaults.
func TestSendingSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		flags string
		want  func(s *sending) // changes the defaults to the expected settings
	}{
		{"", func(*sending) {}},
		{"--send-parallel=1", func(s *sending) { s.Outbox.Parallel = 1 }},
		{"--send-parallel=1000", func(s *sending) { s.Outbox.Parallel = 1000 }},
		{"--send-limit-private=off", func(s *sending) { s.Outbox.Limits.Private = nil }},
		{"--send-limit-private=2/1.5s", func(s *sending) { s.Outbox.Limits.Private = []outbox.Window{{N: 2, Per: 1500 * time.Millisecond}} }},
		{"--send-limit-group=off", func(s *sending) { s.Outbox.Limits.Group = nil }},
		{"--send-limit-group=10/1m,1/1ns,300/1h", func(s *sending) {
			s.Outbox.Limits.Group = []outbox.Window{{N: 10, Per: time.Minute}, {N: 1, Per: 1}, {N: 300, Per: time.Hour}}
		}},
		{"--send-limit-total=off", func(s *sending) { s.Outbox.Limits.Total = nil }},
		{"--send-limit-total=20/1s, 1000/1m", func(s *sending) {
			s.Outbox.Limits.Total = []outbox.Window{{N: 20, Per: time.Second}, {N: 1000, Per: time.Minute}}
		}},
		{"--send-merge=off", func(s *sending) { s.Outbox.Bounds.Merge = 1 }},
		{"--send-merge=on", func(*sending) {}},
		{"--send-max-per-chat=10", func(s *sending) { s.Outbox.Bounds.MaxWaiting = 10 }},
		{"--send-max-per-chat=100000", func(s *sending) { s.Outbox.Bounds.MaxWaiting = 100_000 }},
		{"--send-max-per-chat=1000000 --send-max-total=1000000000", func(s *sending) {
			s.Outbox.Bounds.MaxWaiting, s.Outbox.WaitingTotal = 1_000_000, 1_000_000_000
		}},
		{"--send-max-total=1000", func(s *sending) { s.Outbox.WaitingTotal = 1000 }},
		{"--send-max-per-chat=10 --send-max-total=10", func(s *sending) {
			s.Outbox.Bounds.MaxWaiting, s.Outbox.WaitingTotal = 10, 10
		}},
		{"--send-attempts=1", func(s *sending) { s.Outbox.MaxFailures = 1 }},
		{"--send-attempts=100", func(s *sending) { s.Outbox.MaxFailures = 100 }},
		{"--send-favored-chats=42", func(s *sending) { s.Outbox.Favored = []int64{42} }},
		{"--send-favored-chats=-1001234567890, 42", func(s *sending) { s.Outbox.Favored = []int64{-1_001_234_567_890, 42} }},
		{"--lease-duration=7500ms", func(s *sending) { s.Lease, s.Outbox.SendTimeout = 7500*time.Millisecond, 3750*time.Millisecond }},
		{"--lease-duration=500ms --lease-renewal=200ms", func(s *sending) {
			s.Lease, s.Renews, s.Outbox.SendTimeout = 500*time.Millisecond, 200*time.Millisecond, 250*time.Millisecond
		}},
		{"--lease-duration=5m --lease-renewal=2m", func(s *sending) { s.Lease, s.Renews = 5*time.Minute, 2*time.Minute }},
		{"--lease-renewal=100ms", func(s *sending) { s.Renews = 100 * time.Millisecond }},
	} {
		var flags []string
		if tc.flags != "" {
			flags = strings.Split(strings.ReplaceAll(tc.flags, " --", "\x00--"), "\x00")
		}
		c, err := configured(t, flags...)
		if err != nil {
			t.Errorf("%s: %v", tc.flags, err)
			continue
		}
		want := defaultSending()
		tc.want(&want)
		if diff := cmp.Diff(want, sendingOf(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.flags, diff)
		}
	}
}

// TestWrongSendingSettings checks that each fault is reported in one sentence, which shows the
// right form and does not quote the value.
func TestWrongSendingSettings(t *testing.T) {
	t.Parallel()
	const limits = " must be limits such as 20/1m, separated by commas, or off for no limit: " +
		"each a number of at least 1, and a duration of at most 1h"
	notLimits := []string{"hush", "on", "OFF", "20", "/1m", "20/", "0/1m", "-1/1m", "1.5/1m",
		"20/60", "20/0s", "20/-1m", "20/61m",
		"20/1m,", ",20/1m", "20/1m,off", "20/1m;5/5s", "20/1m/1m", "99999999999999999999/1s"}
	const number = " must be a whole number "
	notNumbers := []string{"hush", "-1", "0", "1.5", "1e3", "0x10", "1 000", "99999999999999999999"}
	const chats = "SEND_FAVORED_CHATS must be Telegram ids of chats, separated by commas, " +
		"such as 123456789,-1001234567890"
	const duration = "LEASE_DURATION must be a duration of at least 500ms, such as 10s"
	const renewal = "LEASE_RENEWAL must be a duration from 100ms to two fifths of LEASE_DURATION, such as 3s for 10s"
	const address = " must be a colon and a port, optionally after an address, such as "
	notAddresses := []string{"hush", "8080", "127.0.0.1", "127.0.0.1:", ":hush", ":-1", ":65536",
		"http://127.0.0.1:8080", "::1:8080"}
	for _, tc := range []struct {
		flag   string
		values []string
		want   string
	}{
		{"--send-parallel", append(notNumbers, "1001"), "SEND_PARALLEL" + number + "from 1 to 1000"},
		{"--send-attempts", append(notNumbers, "101"), "SEND_ATTEMPTS" + number + "from 1 to 100"},
		{"--send-max-per-chat", append(notNumbers, "9", "1000001"), "SEND_MAX_PER_CHAT" + number + "from 10 to 1000000"},
		{"--send-max-per-chat", []string{"100001"}, "SEND_MAX_TOTAL must be at least SEND_MAX_PER_CHAT"},
		{"--send-max-total", append(notNumbers, "9", "1000000001"), "SEND_MAX_TOTAL" + number + "from 10 to 1000000000"},
		{"--send-max-total", []string{"10", "999"}, "SEND_MAX_TOTAL must be at least SEND_MAX_PER_CHAT"},
		{"--send-limit-private", notLimits, "SEND_LIMIT_PRIVATE" + limits},
		{"--send-limit-group", notLimits, "SEND_LIMIT_GROUP" + limits},
		{"--send-limit-total", notLimits, "SEND_LIMIT_TOTAL" + limits},
		{"--send-merge", []string{"hush", "true", "1", "ON", "yes"}, "SEND_MERGE must be on or off"},
		{"--send-favored-chats", []string{"hush", "@hush", "0", "1,", ",1", "1;2", "1 2", "1.5", "9223372036854775808"}, chats},
		{"--lease-duration", []string{"hush", "10", "0s"}, duration},
		{"--lease-renewal", []string{"hush", "3", "0s", "-3s", "99ms", "4.001s", "10s", "1h"}, renewal},
		{"--listen-addr", notAddresses, "LISTEN_ADDR" + address + ":8080 or 127.0.0.1:8080, or not be set"},
		{"--admin-addr", notAddresses, "ADMIN_ADDR" + address + "127.0.0.1:8081 or :8081, or not be set"},
	} {
		for _, value := range tc.values {
			_, err := configured(t, tc.flag+"="+value)
			want := (&ConfigError{[]string{tc.want}}).Error()
			if err == nil || err.Error() != want {
				t.Errorf("%s=%s: %v\nwant: %s", tc.flag, value, err, want)
			}
		}
	}
	// The default renewal is too long for this lease.
	_, err := configured(t, "--lease-duration=499ms")
	if want := (&ConfigError{[]string{duration, renewal}}).Error(); err == nil || err.Error() != want {
		t.Errorf("a short lease: %v\nwant: %s", err, want)
	}
}

// TestAddresses checks which address the public server uses, and which address a health check on
// the same machine requests.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"", ":8080", ":0", ":65535", "127.0.0.1:8080", "[::1]:8080", "localhost:9090"} {
		c, err := configured(t, "--listen-addr="+addr, "--admin-addr="+addr)
		if err != nil || c.publicAddr("") != addr || c.AdminAddr != addr {
			t.Errorf("%q: %q, %q, %v", addr, c.publicAddr(""), c.AdminAddr, err)
		}
	}
	const hook, secret = "--webhook-url=https://elo.example.org/telegram", "--webhook-secret=0123456789abcdef"
	for _, tc := range []struct {
		flags        []string
		public, asks string // asks is the address that a health check requests
	}{
		{[]string{"--port=99"}, ":99", "127.0.0.1:99"},
		{[]string{"--port=99", "--listen-addr=:98"}, ":98", "127.0.0.1:98"},
		{[]string{hook, secret}, ":8080", "127.0.0.1:8080"},
		{[]string{hook, secret, "--listen-addr=0.0.0.0:98"}, "0.0.0.0:98", "127.0.0.1:98"},
		{[]string{"--listen-addr=[::]:98"}, "[::]:98", "127.0.0.1:98"},
		{[]string{"--listen-addr=10.0.0.1:98"}, "10.0.0.1:98", "10.0.0.1:98"},
		{[]string{"--admin-addr=localhost:97", "--port=99"}, ":99", "localhost:97"},
	} {
		c, err := configured(t, tc.flags...)
		if err != nil {
			t.Fatal(err)
		}
		asks, err := c.HealthURL(c.WebhookURL, "/healthz")
		if public := c.publicAddr(c.WebhookURL); err != nil || public != tc.public || asks != "http://"+tc.asks+"/healthz" {
			t.Errorf("%v: public %q, health checks ask %q, %v", tc.flags, public, asks, err)
		}
	}
	var none ServingConfig
	if url, err := none.HealthURL("", "/healthz"); err == nil || !strings.Contains(err.Error(), "set ADMIN_ADDR") {
		t.Errorf("without an address: %q, %v", url, err)
	}
}
