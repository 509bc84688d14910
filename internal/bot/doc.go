// Package bot is the chat interface of elobot: its commands and buttons, and all texts that it
// sends.
//
// Inbound, [Router.Handle] turns an update into at most one call of the ranking service, and sends
// nothing itself. Outbound, [Sender.Send] renders notices and sends them. No other code sends
// messages.
package bot
