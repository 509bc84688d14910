// Package bot is the chat interface of elobot: its commands and buttons, and all texts that it
// sends.
//
// Inbound, [Router.Handle] turns an update into at most one call of the ranking service, and sends
// nothing itself. Outbound, [Sender.Send] renders a notice as text and sends it; nothing else
// sends.
package bot
