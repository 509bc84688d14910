// Package pgranking stores the ranking: matches, standings, their history, the people, the chats,
// and the notices that follow from a command. Its Store implements ranking.Store and
// ranking.AuditStore.
//
// The changes of a command are written in one batch, which the server runs as one transaction,
// together with the key by which a redelivery is recognized. What must hold:
//   - All transactions take their locks in the same order: lease, new chat, group, key, people,
//     standings by id, match, notices, prompt and timer, chat.
//   - A statement that does not find what was read must raise an error in the server, because the
//     rest of the batch would commit otherwise. So it casts a false condition to the domain
//     unchanged, and Translate makes that a conflict.
package pgranking
