// Package pgranking stores the ranking: matches, standings, their history, the people, the chats, and the notices that follow from a
// command. Its Store implements ranking.Store and ranking.AuditStore. What a command changes is written in one batch, which the server runs
// as one transaction, together with the key by which a redelivery is recognized.
package pgranking
