// Package ladder is the mathematics of a ladder: results, standings, and how matches fold into
// them.
//
// A [Table] has the standings of a season. [Table.Play] folds a match into it, whether the match is
// recorded, replayed, verified or hypothetical. A [History] replays a season from a match on, and
// returns the differences from the stored data as a [Rewrite]. [Celebrate] finds what is special
// about new matches. A [Summary] folds stored matches into the achievements of a player.
//
// The package is pure: it knows neither stores nor chats, although it has the ids of both.
package ladder
