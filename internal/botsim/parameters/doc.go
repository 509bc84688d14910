// Package parameters knows the parameters of the Bot API's methods. It reads those of a request, whichever way they are
// sent, and checks them against the table in parameters.json: which parameters and fields exist, which of them are
// required, and which values they may have.
//
// It checks only what needs no knowledge of chats and messages. A new method needs an entry in the table and no code:
//
//	"getChat": {
//	 "chat_id": {"types": ["Integer", "String"], "required": true, "if_missing": "chat_id is empty"}
//	}
package parameters
