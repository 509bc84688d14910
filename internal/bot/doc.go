// Package bot is what people in a chat see of elobot: the commands and buttons that it knows, and everything that it says.
//
// On the way in, [Router.Handle] turns an update into one call of the ranking service; it answers nothing itself. On the way
// out, [Sender.Send] renders a notice as text and sends it; nothing else sends.
package bot
