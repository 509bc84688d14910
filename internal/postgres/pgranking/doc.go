// Package pgranking stores the ranking: matches, standings, their history, the people, the chats,
// and the notices that follow from a command. Its Store implements ranking.Store and
// ranking.AuditStore.
//
// The changes of a command are written in one batch, which the server runs as one transaction,
// together with the key by which a redelivery is recognized. Two rules hold:
//   - A command takes its locks in this order: lease, new chat, group, key, people, standings by
//     id, notices, prompt and timer, chat. Only the start of a season writes standings last.
//     Matches are written only under the lock of their group.
//   - A statement that does not find what was read must raise an error in the server, because the
//     rest of the batch would commit otherwise. It casts its condition to the domain unchanged,
//     which rejects false, and Translate turns the error into a conflict.
package pgranking
