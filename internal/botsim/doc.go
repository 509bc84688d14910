// Package botsim is a Bot API server that plays Telegram over real HTTP: users, groups, topics and their
// messages come from test code, the bot under test talks to it as it would to api.telegram.org.
//
// It owns everything that Telegram would own: the chats and who is in them, the messages and their ids, the
// queue of updates and what of it is confirmed, the rules by which a request is accepted or refused, and the
// faults that a test asks for. It keeps an exact record of every call.
//
// It must not share code or models with a bot or with a Bot API library: it is what they are judged by. Where
// Telegram is strict it is strict, with Telegram's own wording; what Telegram would let pass but a careful bot
// would not do is listed by [Server.Complaints].
//
// Simulated are:
//   - updates, by getUpdates with its rules of confirmation, and by a webhook: a chat's updates are sent one at a time
//     in order, a user's button presses beside them, whatever is not answered with 2xx again and again;
//   - groups, forums, basic groups and private chats: who comes, goes, is promoted, restricted, kicked or renamed, how
//     the bot is added, also by its link, and removed, new titles, pinned messages, the upgrade to a supergroup;
//   - texts with their entities, replies, edits, inline keyboards, commands, privacy mode, limits.
//
// Channels, media, inline mode, and method calls in the answer of a webhook are not.
//
//	sim := botsim.Start(t)
//	group := sim.Group("Table tennis", sim.User("alice"), sim.User("bob"))
//	// run the bot with TELEGRAM_API_URL=sim.URL() and TELEGRAM_BOT_TOKEN=sim.Token()
//	group.Say(sim.User("alice"), "/match @bob 3:1")
//	answers, err := group.WaitBot(ctx, 1)
//
// All methods may be called from any goroutine, those of a closed server too.
package botsim
