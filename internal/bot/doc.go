// Package bot is the chat interface of elobot: its commands and buttons, and all texts that it sends.
//
// On the way in, [Router.Handle] turns an update into one call of the ranking service; it sends nothing itself. On the way out,
// [Sender.Send] renders a notice as text and sends it; nothing else sends.
package bot
