package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConfigurationAddresses: what is wrong with an address is said without the address.
func TestConfigurationAddresses(t *testing.T) {
	t.Parallel()
	const token = "TELEGRAM_BOT_TOKEN=123456:abc-DEF_0123"
	const database = "DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot"
	const badPlace, badService, badTLS = "DATABASE_URL is no address", "service", "sslrootcert"
	const onlyHost = "TELEGRAM_API_URL must be only scheme and host"
	for name, tc := range map[string]struct {
		env  []string
		says string
	}{
		"root certificate":          {[]string{database + "?sslrootcert=/hush.pem"}, badTLS},
		"root certificate outside":  {[]string{database, "PGSSLROOTCERT=/hush.pem"}, badTLS},
		"client key":                {[]string{database + "?sslcert=/hush.pem&sslkey=/hush.key"}, badTLS},
		"mode of encryption":        {[]string{database + "?sslmode=hush"}, badTLS},
		"service":                   {[]string{database + "?service=hush"}, badService},
		"service file":              {[]string{database + "?service=hush&servicefile=/hush"}, badService},
		"service as keyword":        {[]string{"DATABASE_URL=service=hush password='hush hush'"}, badService},
		"port that names a service": {[]string{"DATABASE_URL=postgres://elobot:hush@h:failed to read service (hush)/x"}, badPlace},
		"query":                     {[]string{database, "TELEGRAM_API_URL=https://example.org/?hush=1"}, onlyHost},
		"empty query":               {[]string{database, "TELEGRAM_API_URL=https://example.org?"}, onlyHost},
		"fragment":                  {[]string{database, "TELEGRAM_API_URL=https://example.org/#hush"}, onlyHost},
		"empty fragment":            {[]string{database, "TELEGRAM_API_URL=https://example.org/#"}, onlyHost},
		"user":                      {[]string{database, "TELEGRAM_API_URL=https://hush:hush@example.org"}, onlyHost},
		"port alone":                {[]string{database, "TELEGRAM_API_URL=http://:8081"}, "TELEGRAM_API_URL is no web address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := launch(t, append(tc.env, token), "run")
			code := bot.wait(t)
			output := bot.output.String()
			if code != 2 || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, and the output does not say %q:\n%s", code, tc.says, output)
			}
			if tc.says != badPlace && strings.Contains(output, badPlace) {
				t.Errorf("the address is blamed:\n%s", output)
			}
			if strings.Contains(output, "hush") {
				t.Errorf("the output contains a secret:\n%s", output)
			}
		})
	}
}

// TestSendingConfiguration: all that is wrong with how to send is said together, wherever it was set, and what is right
// is not in the way.
func TestSendingConfiguration(t *testing.T) {
	t.Parallel()
	names := []string{"SEND_PARALLEL", "SEND_LIMIT_PRIVATE", "SEND_LIMIT_GROUP", "SEND_LIMIT_TOTAL", "SEND_MERGE", "SEND_MAX_PER_CHAT",
		"SEND_MAX_TOTAL", "SEND_ATTEMPTS", "SEND_FAVOURED_CHATS", "LEASE_DURATION", "LEASE_RENEWAL", "LISTEN_ADDR",
		"PORT", "RESULT_LIMIT"}
	right := map[string]string{"SEND_PARALLEL": "8", "SEND_LIMIT_PRIVATE": "off", "SEND_LIMIT_GROUP": "10/1m, 2/5s",
		"SEND_LIMIT_TOTAL": "20/1s", "SEND_MERGE": "off", "SEND_MAX_PER_CHAT": "100", "SEND_MAX_TOTAL": "5000", "SEND_ATTEMPTS": "3",
		"SEND_FAVOURED_CHATS": "-1001234567890,42", "LEASE_DURATION": "20s", "LEASE_RENEWAL": "8s", "LISTEN_ADDR": "127.0.0.1:0",
		"PORT": "8081", "RESULT_LIMIT": "off"}
	needed := []string{"TELEGRAM_BOT_TOKEN=1:a", "DATABASE_URL=postgres://elobot@127.0.0.1:1/elobot"}
	var allRight, allWrong, allEmpty, flags []string
	for _, name := range names {
		allRight = append(allRight, name+"="+right[name])
		allWrong = append(allWrong, name+"=hush")
		allEmpty = append(allEmpty, name+"=")
		flags = append(flags, "--"+strings.ReplaceAll(strings.ToLower(name), "_", "-")+"=hush")
	}
	for name, tc := range map[string]struct {
		env, file, flags []string
		wrong            bool
	}{
		"right in the environment": {env: allRight},
		"right in the file":        {file: allRight},
		"empty":                    {env: allEmpty},
		"wrong in the environment": {env: allWrong, wrong: true},
		"wrong in the file":        {file: allWrong, wrong: true},
		"wrong flags":              {flags: flags, env: allRight, wrong: true},
		"wrong in the file alone":  {file: allWrong, env: allRight},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, ".env"), []byte(strings.Join(tc.file, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			bot := launchIn(t, folder, slices.Concat(tc.env, needed), append([]string{"run"}, tc.flags...)...)
			code, output := bot.wait(t), bot.output.String()
			if !tc.wrong {
				if code != 1 || !strings.Contains(output, "connect to the database") {
					t.Errorf("exit code %d:\n%s", code, output)
				}
				return
			}
			if code != 2 || strings.Contains(output, "hush") || strings.Count(output, "\n  - ") != len(names) {
				t.Errorf("exit code %d, want 2 and %d faults:\n%s", code, len(names), output)
			}
			for _, name := range names {
				if !strings.Contains(output, "\n  - "+name+" must be ") {
					t.Errorf("nothing is said about %s:\n%s", name, output)
				}
			}
		})
	}
}

// TestConfigurationWithoutPassfile: a file with passwords may be missing, and an API server may lie below a path.
func TestConfigurationWithoutPassfile(t *testing.T) {
	t.Parallel()
	env := []string{"TELEGRAM_BOT_TOKEN=1:a", "TELEGRAM_API_URL=http://127.0.0.1:1/path/",
		"DATABASE_URL=postgres://elobot@127.0.0.1:1/elobot?passfile=/nonexistent"}
	bot := launch(t, env, "run")
	if code := bot.wait(t); code != 1 || !strings.Contains(bot.output.String(), "connect to the database") {
		t.Errorf("exit code %d", code)
	}
}

// TestDotenvFile: a file that cannot be opened, one that cannot be understood, and one that an editor has marked.
func TestDotenvFile(t *testing.T) {
	t.Parallel()
	write := func(content string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for name, tc := range map[string]struct {
		make func(path string) error
		says string
	}{
		"folder":       {func(path string) error { return os.Mkdir(path, 0o700) }, "the file .env is there and cannot be opened"},
		"wrong syntax": {write("TELEGRAM_BOT_TOKEN='hush\n"), "the file .env cannot be read as settings"},
		"UTF-16":       {write("\xff\xfeh\x00u\x00s\x00h\x00"), "the file .env cannot be read as settings"},
		"mark":         {write("\ufeffTELEGRAM_BOT_TOKEN=123:hush\nLOG_LEVEL=hush\n"), "DATABASE_URL is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := tc.make(filepath.Join(folder, ".env")); err != nil {
				t.Fatal(err)
			}
			bot := launchIn(t, folder, nil, "run")
			code := bot.wait(t)
			output := bot.output.String()
			if code != 2 || !strings.HasPrefix(output, "elobot: the configuration is not right yet") || !strings.Contains(output, tc.says) {
				t.Errorf("exit code %d, and the output does not say %q:\n%s", code, tc.says, output)
			}
			if strings.Contains(output, "TELEGRAM_BOT_TOKEN is not set") {
				t.Errorf("the first line of the file is not read:\n%s", output)
			}
			if strings.Contains(output, "hush") {
				t.Errorf("the output quotes the file:\n%s", output)
			}
		})
	}
}

// TestUsageKeepsSecrets: what was pasted in the wrong place is not printed again.
func TestUsageKeepsSecrets(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "123456:hush_HUSH-hush"}, {"123456:hush"}, {"run", "bot123456:hush"}, {"run", "--123456:hush"},
		{"run", "--once=123456:hush"}, {"run", "postgres://elobot:hush@localhost/elobot"}, {"run", "TELEGRAM_BOT_TOKEN=123456:hush"},
	} {
		bot := launch(t, nil, args...)
		code := bot.wait(t)
		output := strings.ToLower(bot.output.String())
		if code != 2 || !strings.Contains(output, "elobot --help") || strings.Contains(output, "hush") {
			t.Errorf("elobot %v ends with %d:\n%s", args, code, output)
		}
	}
}

// TestWebhookConfiguration: what is wrong with a webhook is said before Telegram is asked, and never the secret.
func TestWebhookConfiguration(t *testing.T) {
	t.Parallel()
	const token, database = "TELEGRAM_BOT_TOKEN=123456:abc-DEF_0123", "DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot"
	const address, secret = "WEBHOOK_URL=https://elo.example.org/telegram", "WEBHOOK_SECRET=0123456789abcdef"
	for name, tc := range map[string]struct {
		env  []string
		says string
	}{
		"no secret":               {[]string{address}, "WEBHOOK_SECRET must be"},
		"secret with a space":     {[]string{address, "WEBHOOK_SECRET=hush hush"}, "WEBHOOK_SECRET must be"},
		"secret that is too long": {[]string{address, "WEBHOOK_SECRET=" + strings.Repeat("hush", 65)}, "WEBHOOK_SECRET must be"},
		"no address":              {[]string{"WEBHOOK_URL=elo.example.org", secret}, "WEBHOOK_URL must be a web address"},
		"query":                   {[]string{address + "?key=hush", secret}, "WEBHOOK_URL must be a web address without a query"},
		"user":                    {[]string{"WEBHOOK_URL=https://hush:hush@elo.example.org/", secret}, "WEBHOOK_URL must be a web address"},
		"not encrypted":           {[]string{"WEBHOOK_URL=http://elo.example.org/", secret}, "WEBHOOK_URL must begin with https://"},
		"path of the metrics":     {[]string{"WEBHOOK_URL=https://elo.example.org/metrics", secret}, "WEBHOOK_URL must have another path"},
		"port":                    {[]string{address, secret, "PORT=hush"}, "PORT must be"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := launch(t, append(tc.env, token, database), "run")
			code := bot.wait(t)
			if output := bot.output.String(); code != 2 || !strings.Contains(output, tc.says) || strings.Contains(output, "hush") {
				t.Errorf("exit code %d, and the output does not say %q, or says a secret:\n%s", code, tc.says, output)
			}
			if strings.HasPrefix(name, "port") {
				return
			}
			set := launch(t, append(tc.env, token), "webhook", "set")
			if code := set.wait(t); code != 2 || !strings.Contains(set.output.String(), tc.says) {
				t.Errorf("webhook set ends with %d:\n%s", code, set.output)
			}
		})
	}
}
