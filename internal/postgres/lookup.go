package postgres

// thisChat is the id of the chat with Telegram's id $1, which may also be an earlier id of the chat; null if there is
// none.
const thisChat = `coalesce((SELECT id FROM chats WHERE telegram_chat_id = $1),
		         (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $1))`

// thisLadder is the id of the default ladder of thisChat.
const thisLadder = `(
		    SELECT l.id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default
		    WHERE g.chat_id = ` + thisChat + `)`

// thisPlayer is the player that ranking.Person.Identify chooses for the person with the user id $2 and the username
// $3; null if there is none.
const thisPlayer = `coalesce(
		        (SELECT p.id FROM players p WHERE p.telegram_user_id = $2),
		        (SELECT p.id FROM players p WHERE lower(p.username) = lower($3) AND p.telegram_user_id IS NULL))`
