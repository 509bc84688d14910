package app

import (
	"strings"
	"testing"
)

// TestWrongAddresses checks that each wrong setting is reported as the only fault, and secrets are
// not quoted.
func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	const database = "--database-url=postgres://elobot:hush@127.0.0.1:1/elobot"
	const badToken = "TELEGRAM_BOT_TOKEN does not look like a token"
	const badPlace, badService, badTLS = "DATABASE_URL is not the address", "the service in", "sslrootcert"
	const badPassword = "DATABASE_URL has an @ where none can be: " +
		"in user and password, write / as %2F, ? as %3F, # as %23, @ as %40"
	const noAddress = "TELEGRAM_API_URL must be a web address without a query"
	const hook, secret = "--webhook-url=https://elo.example.org/telegram", "--webhook-secret=0123456789abcdef"
	const badSecret = "WEBHOOK_SECRET must be"
	for flags, want := range map[string]string{
		"--token=": "TELEGRAM_BOT_TOKEN is not set", "--token=hush": badToken, "--token=7000000001:hush": badToken,
		"--token=7000000001:AA$imulated_bot_hush_opens_nothing": badToken, "--token=bot7000000001:AAsimulated_bot_hush_opens_nothing": badToken,
		"--token=7000000001:AAsimulated_bot_hush_opens_nothing\n": badToken, "--token='7000000001:AAsimulated_bot_hush_opens_nothing'": badToken,
		"--database-url= --data=off": "DATABASE_URL is not set", "--database-url=postgres://elobot:hush@host:port/x": badPlace,
		database + "?sslrootcert=/hush.pem": badTLS, database + "?sslcert=/hush.pem&sslkey=/hush.key": badTLS,
		database + "?sslmode=hush": badTLS,
		database + "?service=hush": badService, database + "?service=hush&servicefile=/hush": badService,
		"--database-url=service=hush password='hush'":                             badService,
		"--database-url=postgres://elobot:hush@h:failed to read service (hush)/x": badPlace,
		"--database-url=postgres://elobot:p@hush/w:rd@host/db":                    badPassword, "--database-url=postgres://elobot:12/hush@host/db": badPassword,
		"--database-url=postgres://elobot:12?hush@host/db": badPassword, "--database-url=postgres://elobot:12#hush@host/db": badPassword,
		"--database-url=postgres://elobot:1@hush@host/db": badPassword, "--database-url=postgres://host/db?user=elobot&password=1@hush": badPassword,
		"--database-url=postgres://elobot:hush%@host/db": badPlace, "--database-url=postgres://elobot:hu sh@host/hush": badPlace,
		"--database-url=postgres//elobot:hush@host/db?sslmode=require": badPlace,
		"--telegram-api-url=https://user:12/hush@example.org":          noAddress,
		"--webhook-url=https://user:12/hush@example.org " + secret:     "WEBHOOK_URL must be a web address",
		"--telegram-api-url=telegram":                                  noAddress, "--telegram-api-url=http://:8081": noAddress,
		"--telegram-api-url=https://example.org/?hush=1": noAddress, "--telegram-api-url=https://example.org?": noAddress,
		"--telegram-api-url=https://example.org/#hush": noAddress, "--telegram-api-url=https://example.org/#": noAddress,
		"--telegram-api-url=https://hush:hush@example.org": noAddress,
		"--log-level=hush": "LOG_LEVEL must be", "--log-format=hush": "LOG_FORMAT must be",
		"--port=hush": "PORT must be", "--result-limit=hush": "RESULT_LIMIT must be", "--ask-unusual=hush": "ASK_UNUSUAL must be",
		"--undo-window=24": "UNDO_WINDOW must be", "--undo-window=1d": "UNDO_WINDOW must be", "--undo-window=-1h": "UNDO_WINDOW must be",
		"--undo-window=59s": "UNDO_WINDOW must be", "--undo-window=0": "UNDO_WINDOW must be", "--undo-window=1h30": "UNDO_WINDOW must be",
		hook: badSecret, hook + " --webhook-secret=hush%": badSecret,
		hook + " --webhook-secret=" + strings.Repeat("hush", 65):     badSecret,
		"--webhook-url=elo.example.org " + secret:                    "WEBHOOK_URL must be a web address",
		hook + "?key=hush " + secret:                                 "WEBHOOK_URL must be a web address without a query",
		"--webhook-url=https://hush:hush@elo.example.org/ " + secret: "WEBHOOK_URL must be a web address",
		"--webhook-url=http://elo.example.org/ " + secret:            "WEBHOOK_URL must begin with https://",
		"--webhook-url=https://elo.example.org/readyz " + secret:     "WEBHOOK_URL must have another path",
		"--webhook-url=https://elo.example.org/g/hush " + secret:     "WEBHOOK_URL must have another path",
		"--port=8080 --public-url=elo.example.org/hush":              "PUBLIC_URL must have only a scheme",
		"--port=8080 --public-url=https://hush:hush@elo.example.org": "PUBLIC_URL must have only a scheme",
		"--port=8080 --public-url=https://elo.example.org/hush":      "PUBLIC_URL must have only a scheme",
		"--public-url=https://elo.example.org":                       "PUBLIC_URL needs LISTEN_ADDR or PORT",
		"--trusted-proxies=127.0.0.1,hush":                           "TRUSTED_PROXIES must be addresses",
	} {
		_, err := configured(t, strings.Split(strings.ReplaceAll(flags, " --", "\x00--"), "\x00")...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant: %s", flags, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hush") || strings.Count(err.Error(), "\n  - ") != 1 {
			t.Errorf("%s: the error leaks a secret or has more than one fault: %v", flags, err)
		}
	}
}
