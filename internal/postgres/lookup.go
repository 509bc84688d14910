package postgres

// Subqueries that find what an update names. ThisChat and ThisLadder use the parameter $1, ThisPlayer $2.

// ThisChat is the id of the chat with Telegram's id $1, which may also be an earlier id of the chat; null if there is
// none.
const ThisChat = `coalesce((SELECT id FROM chats WHERE telegram_chat_id = $1),
		         (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $1))`

// ThisLadder is the id of the default ladder of ThisChat.
const ThisLadder = `(
		    SELECT l.id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default
		    WHERE g.chat_id = ` + ThisChat + `)`

// ThisGroup is the group of ThisChat.
const ThisGroup = `(SELECT id FROM groups WHERE chat_id = ` + ThisChat + `)`

// ThisPlayer is the account of the person with the user id $2; null if there is none.
const ThisPlayer = `(SELECT p.id FROM players p WHERE p.telegram_user_id = $2)`
