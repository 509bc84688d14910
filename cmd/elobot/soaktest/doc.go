// Package soaktest is a long campaign against the built bot: people report results at a steady pace while processes are
// killed and stopped, the database fails in every way that it can, and Telegram is slow, cut off or talks nonsense. At the
// end everything is compared with what the bot promises, by package judge, which shares nothing with the bot.
//
// It runs by its tag alone, takes 20 minutes, and prints its seed, each fault, and at the end a table of what happened:
//
//	go test -tags soak -timeout 90m ./cmd/elobot/soaktest -run TestHostileCampaign -v
//	go test -tags soak -timeout 90m ./cmd/elobot/soaktest -run TestHostileCampaign -v -soak.duration=90s -soak.seed=7
//
// A seed repeats which faults come in which order and how long they last. At which moment of the bot's work one strikes is
// left to chance.
//
// It needs the PostgreSQL programs on the machine: it stops their processes.
package soaktest
