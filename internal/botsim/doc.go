// Package botsim simulates Telegram: it is a Bot API server that speaks real HTTP. Test code
// creates users, groups, topics and messages; the bot under test talks to the server as it would to
// api.telegram.org.
//
// The server holds the state that Telegram would hold: chats and their members, messages and their
// ids, the queue of updates and which of them are confirmed. It accepts and refuses requests by
// Telegram's rules, injects the faults that a test requests, and records the calls.
//
// The package must not share code or models with a bot or with a Bot API library, because it is the
// reference to test them against. Where Telegram is strict, so is the server, usually with
// Telegram's own wording. It checks the parameters of each request against a table,
// parameters/parameters.json, and also refuses parameters that do not exist or are not simulated.
// [Server.Complaints] lists such requests, and the mistakes that Telegram would accept but a
// careful bot would not make.
//
// The server simulates:
//   - getUpdates, with its rules for confirming updates;
//   - a webhook, which gets the updates of a chat one at a time and in order, and button presses in
//     parallel with them; a delivery is retried until the response is 2xx or the update is a day
//     old;
//   - groups, forums, basic groups and private chats: members who join, leave, are promoted or
//     renamed; a bot that is added and removed; new titles, pinned messages, the upgrade to a
//     supergroup;
//   - uploaded photos and documents with captions; documents of users, which the bot downloads;
//   - privacy mode, if [WithPrivacyMode] turns it on;
//   - texts with their entities, replies, edits, inline keyboards, commands, limits.
//
// It does not simulate channels, other media, restricted members, inline mode, or
// method calls in the response of a webhook.
//
//	sim := botsim.Start(t)
//	group := sim.Group("Table tennis", sim.User("alice"), sim.User("bob"))
//	// run the bot with TELEGRAM_API_URL=sim.URL() and TELEGRAM_BOT_TOKEN=sim.Token()
//	group.Say(sim.User("alice"), "/match @bob 3:1")
//	answers, err := group.WaitBot(ctx, 1)
//
// All methods are safe for concurrent use, even after Close.
//
// Code that needs no chat is in packages that know neither the server nor one another: parameters,
// markup, updates and webhook. The rest is one package because one lock guards it: a call or a step
// of a test changes a chat, queues the update and wakes waiting tests while it holds the lock. This
// package contains:
//   - the server, in server.go; serve.go takes a request through its checks, faults and hooks to
//     its method;
//   - the methods of the Bot API, each in the file of its subject: send_message.go, pin.go,
//     updates.go and so on;
//   - the state of Telegram: users.go, message.go, and chat.go, which also decides which chats the
//     bot may use;
//   - the actions of people and Telegram in a test: say.go, press.go, group_life.go, fault.go;
//   - the observations of a test: calls.go, webhook.go, subscribe.go, complaints.go.
package botsim
