// Package ladder is what only concerns ratings: results, standings, and how matches fold into them.
//
// A [Table] has the standings of a season. [Table.Play] folds a match into it, whether the match is
// recorded, replayed, verified or only supposed. A [History] replays a season from a match on, and
// says what differs from what is stored as a [Rewrite]. [Celebrate] finds what is special about new
// matches. A [Summary] folds stored matches into what a player did in them. The package is pure: it
// knows neither stores nor chats, and has the ids of both.
package ladder
