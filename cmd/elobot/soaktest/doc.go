// Package soaktest runs a long campaign against the built bot. People report results at a steady
// pace, while processes are killed and stopped, the database fails in many ways, and Telegram is
// slow, unreachable or answers nonsense. At the end package judge, which shares no code with the
// bot, compares the outcome with the bot's guarantees.
//
// It runs only with its build tag, takes 20 minutes, and prints its seed, each fault, and finally a
// table of the results:
//
//	go test -tags soak -timeout 90m ./cmd/elobot/soaktest -run TestHostileCampaign -v
//	go test -tags soak -timeout 90m ./cmd/elobot/soaktest -run TestHostileCampaign -v \
//	  -soak.duration=90s -soak.seed=7
//
// A seed repeats the order and the durations of the faults, but not the exact points of the bot's
// work at which they strike.
//
// It needs the PostgreSQL programs on this machine, because it stops and suspends their processes.
package soaktest
