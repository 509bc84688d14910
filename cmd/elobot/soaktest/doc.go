// Package soaktest runs campaigns against the built bot. People report results at a steady pace
// while faults drawn from a deck strike. At the end, package judge, which shares no code with the
// bot, compares the outcome with the bot's guarantees.
//
// The decks are:
//   - all: processes are killed and stopped, the database fails in many ways, and Telegram is slow,
//     is unreachable, or answers with nonsense;
//   - kills: a bot that polls is killed at random times, and at moments at which updates or
//     messages can get lost or arrive twice;
//   - fleet: three bots with a webhook are killed in the same way;
//   - stops: a bot is stopped while Telegram is slow and all groups get answers;
//   - outages: PostgreSQL crashes, and is unavailable for a while;
//   - refusals: Telegram refuses requests, or PostgreSQL refuses sessions, for a while;
//   - failover, frozen: the primary crashes or freezes, and its standby is promoted.
//
// A campaign prints its seed, each fault, and finally a table of the results:
//
//	go test -tags soak -timeout 90m ./cmd/elobot/soaktest -run TestCampaign/all -v
//	go test -tags soak ./cmd/elobot/soaktest -run TestCampaign/kills -v \
//	  -soak.duration=90s -soak.seed=7
//
// A seed repeats the random choices of a campaign, but not its timing. In a repetition, the faults
// strike at other points of the bot's work, and choices that depend on the timing may differ.
//
// A campaign needs the PostgreSQL programs on this machine, because it stops and suspends their
// processes.
package soaktest
