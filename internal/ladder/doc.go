// Package ladder implements the calculations of a ladder: results, standings, and how matches
// change the standings.
//
// A [Table] has the standings of a season. [Table.Play] applies a match to it. A [History] replays
// a season from a match on, and returns the differences from the stored data as a [Rewrite].
// [Celebrate] finds what is special about new matches. A [Summary] sums up a player's achievements
// in stored matches.
//
// The package is pure: it knows neither stores nor chats. It only declares the ids of ladders,
// seasons, players, standings, matches and history entries, and the messenger's ids of people.
package ladder
