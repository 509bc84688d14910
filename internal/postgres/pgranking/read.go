package pgranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Read implements ranking.Store.
func (s *Store) Read(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	snap := new(ranking.Snapshot)
	var batch pgx.Batch
	queueRead(&batch, q, snap)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read: %w", Translate(err))
	}
	if snap.Handled {
		s.wakeHandled(snap.ChatID)
	}
	return snap, nil
}

// queueRead queues the reads of a query. A later statement may see commits that an earlier one has
// missed. Apply checks the versions of standings, so the standings of people are read no later than
// leaders and recent matches. If a match of these people is recorded in between, Apply conflicts
// instead of missing the match.
func queueRead(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	queueChat(batch, q, snap)
	if q.Season != 0 {
		queueOver(batch, q.Season, &snap.Over)
	}
	if q.Thread != 0 || q.Replied != (ranking.MatchRef{}) {
		queueApplies(batch, q, &snap.Applies)
	}
	if q.RateEntry != (ranking.RateEntry{}) {
		queueRecentUsage(batch, q.RateEntry, &snap.RecentUsage)
	}
	if q.Extra != (ranking.RateEntry{}) {
		queueRecentUsage(batch, q.Extra, &snap.ExtraUsage)
	}
	if q.Everybody {
		queueEverybody(batch, q, &snap.Everybody)
	}
	if len(q.People)+len(q.Shown) > 0 {
		queuePeople(batch, q, snap)
	}
	if !q.DuplicatesOf.IsZero() {
		queueEqualResults(batch, q, &snap.PossibleDuplicates)
	}
	if q.Match != nil {
		queueMatchesMeant(batch, q, *q.Match, false, func(all []ranking.StoredMatch) { snap.Matches = all })
	}
	if q.LastCounted {
		queueMatchesMeant(batch, q, ranking.MatchRef{}, true, func(all []ranking.StoredMatch) {
			if len(all) > 0 {
				snap.Counted = &all[0]
			}
		})
	}
	if q.Prompt != 0 {
		queueFoundPrompt(batch, q.Chat.ID, q.Prompt, &snap.Prompt)
	}
	if q.Played > 0 && q.Sender != nil {
		queueLastMatches(batch, q, &snap.LastMatches)
	}
	if q.Board {
		queueFoundBoard(batch, q, &snap.Board)
	}
	if q.Topics {
		queueTopics(batch, q.Chat.ID, &snap.Ladders)
	}
	if q.Needs.Season {
		queueSeason(batch, q, snap)
	}
	if q.Timer {
		queueDue(batch, q.Key, &snap.Due)
	}
}

// queueChat reads the chat and the ladders of its group, one row for each ladder. A chat, group,
// ladder or season that is to be added gets an id from its sequence.
func queueChat(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT EXISTS (SELECT FROM handled_commands WHERE key = $2)
		       OR EXISTS (SELECT FROM handled_commands WHERE key = $3 AND outcome NOT IN ('refused', 'asked')),
		       coalesce(c.id, CASE WHEN $4 THEN nextval('chats_id_seq') ELSE 0 END), $4 AND c.id IS NULL,
		       ` + chatColumns + `,
		       coalesce(g.id, CASE WHEN $5 THEN nextval('groups_id_seq') ELSE 0 END), $5 AND g.id IS NULL,
		       coalesce(g.web_on, false),
		       coalesce(l.id, CASE WHEN $5 THEN nextval('ladders_id_seq') ELSE 0 END),
		       coalesce(s.id, CASE WHEN $5 THEN nextval('seasons_id_seq') ELSE 0 END),
		       ` + ladderColumns + `
		FROM (VALUES (true)) AS one
		LEFT JOIN LATERAL (
		    SELECT * FROM chats WHERE telegram_chat_id = $1
		    UNION ALL SELECT c.* FROM chat_aliases a JOIN chats c ON c.id = a.chat_id WHERE a.telegram_chat_id = $1
		    LIMIT 1) AS c ON true
		LEFT JOIN groups g ON g.chat_id = c.id
		LEFT JOIN ladders l ON l.group_id = g.id
		LEFT JOIN seasons s ON s.id = l.season_id`
	adds := !q.KnownChat
	batch.Queue(sql,
		q.Chat.ID, q.Key, zeronull.Text(q.Message), adds, adds && q.Chat.IsGroup(),
	).Query(func(rows pgx.Rows) error {
		var l ranking.GroupLadder
		fields := slices.Concat([]any{&snap.Handled, (*int64)(&snap.ChatID), &snap.NewChat}, chatFields(snap),
			[]any{(*int64)(&snap.Group), &snap.NewGroup, &snap.Web, (*int64)(&l.ID), (*int64)(&l.Season.ID)}, ladderFields(&l))
		_, err := pgx.ForEachRow(rows, fields, func() error {
			if snap.NewGroup {
				l.Season.Number, l.Rules, l.Default = 1, ranking.DefaultRules(), true
			}
			if l.ID == 0 { // a private chat, or an unknown one
				return nil
			}
			snap.Ladders = append(snap.Ladders, l)
			if l.ID == q.Ladder || l.Default && q.Ladder == 0 {
				snap.Ladder, snap.Season = l.Ladder, cmp.Or(q.Season, l.Season.ID)
			}
			return nil
		})
		slices.SortFunc(snap.Ladders, func(a, b ranking.GroupLadder) int { return cmp.Compare(a.ID, b.ID) })
		if snap.NewChat {
			snap.Chat, snap.Display = q.Chat, ranking.DefaultDisplay()
			snap.Display.Language = cmp.Or(q.Chat.Language, snap.Display.Language)
			snap.Chat.Language = ""
		}
		return err
	})
}

// chatColumns lists the columns of a chat c. They are zero or NULL if there is no chat.
const chatColumns = `coalesce(c.telegram_chat_id, 0), coalesce(c.kind, ''), coalesce(c.title, ''),
		       coalesce(c.language, ''), coalesce(c.language_chosen, false), coalesce(c.tables, false),
		       coalesce(c.celebrations, false), coalesce(c.dark_charts, false),
		       coalesce(c.time_zone, ''), c.greeted_at, c.added_at`

// chatFields returns the scan targets for chatColumns.
func chatFields(snap *ranking.Snapshot) []any {
	d := &snap.Display
	return []any{
		(*int64)(&snap.Chat.ID), (*string)(&snap.Chat.Kind), &snap.Chat.Title, &d.Language,
		&d.LanguageChosen, &d.Tables, &d.Celebrations, &d.DarkCharts,
		&d.TimeZone, (*zeronull.Timestamptz)(&snap.Greeted), (*zeronull.Timestamptz)(&snap.Added),
	}
}

// ladderColumns lists the columns of a ladder l and its season s, except their ids. They are zero
// or NULL if there is no ladder.
const ladderColumns = `coalesce(l.name, ''), l.archived_at IS NOT NULL, coalesce(l.is_default, false),
		       coalesce(l.start_elo, 0),
		       coalesce(l.place_matches, 0), coalesce(l.draws_allowed, false), coalesce(l.uneven_teams_allowed, false),
		       coalesce(l.season_halfway, false), coalesce(l.season_months, 0), coalesce(l.hide_days, 0),
		       coalesce(l.reporters, 0), coalesce(l.only_joined, false), coalesce(l.k_factor, 0),
		       coalesce(l.provisional_k_factor, 0), coalesce(l.provisional_matches, 0), coalesce(l.margin_of_victory, false),
		       coalesce(s.number, 0), coalesce(s.name, ''), s.starts_at, s.ends_at`

// ladderFields returns the scan targets for ladderColumns.
func ladderFields(l *ranking.GroupLadder) []any {
	r, s := &l.Rules, &l.Season
	return []any{
		&l.Name, &l.Archived, &l.Default, &r.Start,
		&r.PlaceMatches, &r.DrawsAllowed, &r.UnevenTeamsAllowed,
		&r.Halfway, &r.SeasonMonths, &r.HideDays,
		(*int)(&r.Reporters), &r.OnlyJoined, &r.K,
		&r.Provisional.K, &r.Provisional.Matches, &r.Margin,
		&s.Number, &s.Name, (*zeronull.Timestamptz)(&s.Starts), (*zeronull.Timestamptz)(&s.Ends),
	}
}

// people is the query for people who are identified by their user ids ($2) or usernames ($3). A
// person who has neither is identified as the player $9, such as a guest or a player whom a button
// names, or as the guest with the folded name $10. %[1]s takes extra WITH queries, and %[2]s extra
// columns. The first $4 people get an id if they are not players yet. $7 is the ladder, 0 for the
// default one, and $8 its season, 0 for the current one.
//
// $6 marks the people whom the message, sent at $5, shows with their username. If the message shows
// an account with a new username, a mention of its stored username means the account only if that
// username was seen after $5, or if $5 is null.
//
// The last join must choose a player as ranking.Known.Identify does. LIMIT 1 makes the planner look
// up each row by its key even in a new database, where it would otherwise scan whole groups. So the
// plan stays the same when tables grow.
var people = `
		WITH here AS MATERIALIZED (
		    SELECT g.id AS group_id, l.id AS ladder_id, CASE $8::bigint WHEN 0 THEN l.season_id ELSE $8 END AS season_id,
		           l.place_matches, l.hide_days
		    FROM (SELECT ` + postgres.ThisGroup + ` AS id OFFSET 0) AS g
		    LEFT JOIN LATERAL (
		        SELECT * FROM ladders
		        WHERE group_id = g.id AND CASE $7::bigint WHEN 0 THEN is_default ELSE id = $7 END LIMIT 1) AS l ON true)%[1]s
		SELECT ` + playerColumns("by_id") + `,
		       ` + playerColumns("by_name") + `,
		       ` + playerColumns("unclaimed") + `,
		       ` + playerColumns("counts") + `,
		       seen.seen_at IS NOT NULL, coalesce(seen.username, ''), seen.seen_at, coalesce(seen.came, false),
		       coalesce(CASE WHEN counts.id IS NULL THEN coalesce(seen.nick, by_name.nick)
		           ELSE counts.nick END, ''),
		       CASE WHEN counts.id IS NULL THEN coalesce(seen.out_at, by_name.out_at)
		           ELSE counts.out_at END IS NOT NULL,
		       coalesce(counts.ignored_at, seen.ignored_at) IS NOT NULL, coalesce(seen.came, by_name.came, false),
		       ` + postgres.StandingColumns + `,
		       CASE WHEN person.place <= $4 AND coalesce(by_id.id, by_name.id, unclaimed.id) IS NULL
		           THEN nextval('players_id_seq') ELSE 0 END,
		       person.user_id = 0 AND by_name.id IS NULL AND unclaimed.username IS NOT NULL AND counts.id IS NULL
		           AND NOT EXISTS (SELECT FROM group_players WHERE player_id = unclaimed.id AND played > 0)%[2]s
		FROM unnest($2::bigint[], $3::text[], $9::bigint[], $10::text[])
		    WITH ORDINALITY AS person (user_id, username, guest, folded, place)
		CROSS JOIN here
		LEFT JOIN LATERAL (SELECT * FROM players WHERE telegram_user_id = nullif(person.user_id, 0) LIMIT 1) AS by_id ON true
		LEFT JOIN LATERAL (
		    SELECT player_id, seen_at, nick, out_at, counts_as, came FROM sightings
		    WHERE person.user_id = 0 AND group_id = here.group_id AND lower(username) = lower(person.username)
		    LIMIT 1) AS named ON true
		LEFT JOIN LATERAL (
		    SELECT *, named.nick, named.out_at, named.counts_as, named.came FROM players
		    WHERE id = named.player_id AND NOT EXISTS (
		        SELECT FROM unnest($2::bigint[], $3::text[], $6::boolean[]) AS shown (user_id, username, now)
		        WHERE shown.now AND named.seen_at <= $5
		          AND shown.user_id = telegram_user_id AND lower(shown.username) <> lower(person.username))
		    LIMIT 1) AS by_name ON true
		LEFT JOIN LATERAL (
		    (SELECT * FROM players
		     WHERE group_id = here.group_id AND lower(username) = lower(person.username) LIMIT 1)%[3]s) AS unclaimed ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM sightings WHERE group_id = here.group_id
		      AND player_id = coalesce(by_id.id, CASE WHEN by_name.id IS NULL THEN unclaimed.id END) LIMIT 1) AS seen ON true
		LEFT JOIN LATERAL (
		    SELECT p.*, o.nick, o.out_at, o.ignored_at FROM players p
		    LEFT JOIN sightings o ON o.group_id = here.group_id AND o.player_id = p.id
		    WHERE p.id = coalesce(seen.counts_as, by_name.counts_as)
		    LIMIT 1) AS counts ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM group_players
		    WHERE season_id = here.season_id
		      AND player_id = coalesce(counts.id, by_id.id, by_name.id, unclaimed.id)
		    LIMIT 1) AS s ON true
		ORDER BY person.place`

// orGuest extends the players among whom the query people looks for a person without an account.
// Messages without guests, which are most, do without it, because a larger plan takes longer to
// start.
const orGuest = `
		    UNION ALL
		    (SELECT * FROM players
		     WHERE person.guest <> 0 AND id = person.guest AND coalesce(group_id, here.group_id) = here.group_id LIMIT 1)
		    UNION ALL
		    (SELECT * FROM players
		     WHERE person.folded <> '' AND group_id = here.group_id AND folded = person.folded LIMIT 1)
		    LIMIT 1`

// The query people without and with guests.
var (
	onlyPeople = [2]string{fmt.Sprintf(people, "", "", ""), fmt.Sprintf(people, "", "", orGuest)}
	// peopleOfResult also reads the leaders, in the same statement, so that they are no older than
	// the standings.
	peopleOfResult = [2]string{
		fmt.Sprintf(people, leaders, leaderColumns, ""), fmt.Sprintf(people, leaders, leaderColumns, orGuest),
	}
)

func queuePeople(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	people := slices.Concat(q.People, q.Shown)
	n := len(people)
	ids, usernames, now := make([]int64, n), make([]string, n), make([]bool, n)
	guests, folded := make([]int64, n), make([]string, n)
	hasGuests := 0 // index of the query
	for i, p := range people {
		ids[i], usernames[i], now[i] = int64(p.ID), p.Username, p.IsShownNow()
		switch {
		case p.IsGuest():
			hasGuests, guests[i] = 1, int64(p.Player)
		case p.IsNewGuest():
			hasGuests, folded[i] = 1, command.FoldName(p.Name)
		}
	}
	sql, arguments := onlyPeople, []any{q.Chat.ID, ids, usernames, q.New,
		zeronull.Timestamptz(q.SentAt), now, q.Ladder, q.Season, guests, folded}
	var standings []int64 // of the leaders; pgx scans arrays of other types slowly
	var elos []int32
	var extra []any
	if r := q.Result; r != nil {
		sql, extra = peopleOfResult, []any{&standings, &elos}
		arguments = append(arguments, r.At, r.Limit)
	}
	batch.Queue(sql[hasGuests], arguments...).Query(func(rows pgx.Rows) error {
		place := 0
		known, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranking.Known, error) {
			k, err := scanKnown(row, people[place], extra...)
			place++
			return k, err
		})
		for i, id := range standings {
			snap.Leaders = append(snap.Leaders, ladder.Leader{Standing: ladder.StandingID(id), Elo: int(elos[i])})
		}
		slices.SortFunc(snap.Leaders, func(a, b ladder.Leader) int {
			return cmp.Or(cmp.Compare(b.Elo, a.Elo), cmp.Compare(a.Standing, b.Standing))
		})
		if err == nil {
			snap.People, snap.Shown = known[:len(q.People)], known[len(q.People):]
		}
		return err
	})
}

// scanKnown scans a row about a person from the query people. The extra columns are scanned into
// extra.
func scanKnown(row pgx.CollectableRow, person command.Person, extra ...any) (ranking.Known, error) {
	var players [4]ranking.Player
	var isSeen bool
	var seen ranking.Sighting
	var s ladder.Standing
	var added ladder.PlayerID
	var k ranking.Known
	sighting := []any{&isSeen, &seen.Username, (*zeronull.Timestamptz)(&seen.At), &seen.Came,
		&k.Nick, &k.Out, &k.Ignored, &k.Came}
	err := row.Scan(slices.Concat(playerFields(&players[0]), playerFields(&players[1]),
		playerFields(&players[2]), playerFields(&players[3]), sighting,
		postgres.StandingFields(&s), []any{(*int64)(&added), &k.Gone}, extra)...)
	for i, to := range []**ranking.Player{&k.ByID, &k.ByUsername, &k.Unclaimed, &k.CountsAs} {
		if players[i].ID != 0 {
			*to = &players[i]
		}
	}
	if isSeen {
		k.Sighting = &seen
	}
	if s.ID != 0 {
		k.Standing = &s
	}
	k.Identify(person, added)
	return k, err
}

// playerColumns lists the columns of the player with the table alias p. They are zero if there is
// no player.
func playerColumns(p string) string {
	return fmt.Sprintf(`coalesce(%[1]s.id, 0), coalesce(%[1]s.telegram_user_id, 0), coalesce(%[1]s.username, ''),
		       coalesce(%[1]s.display_name, '')`, p)
}

// playerFields returns the scan targets for playerColumns.
func playerFields(p *ranking.Player) []any {
	return []any{(*int64)(&p.ID), (*int64)(&p.UserID), &p.Username, &p.Name}
}

// everybodyIn returns a FROM clause with one row for each guest of the group, and for each player
// who has a standing in a current season of the group or in the given season, even if the player
// has left. It leaves out players without a counted match in the group if they are unclaimed, or
// were seen there but never sent a command, unless others count as them. It also leaves out players
// who count as others. Each row has three parts:
//   - account is the player, or for a merged player the player who remains;
//   - seen is what the group knows of the player, or null;
//   - s is the standing in the given season, or else another of these standings, or null for a
//     guest without any; s.here reports whether it is in that season.
func everybodyIn(group, season string) string {
	return `
		FROM (
		    SELECT DISTINCT ON (account) s.*, coalesce(p.merged_into, p.id) AS account,
		           coalesce(s.season_id = ` + season + `, false) AS here
		    FROM (SELECT season_id FROM ladders WHERE group_id = ` + group + ` UNION SELECT ` + season + `) AS l
		    CROSS JOIN LATERAL (SELECT * FROM group_players WHERE season_id = l.season_id OFFSET 0) AS s
		    CROSS JOIN LATERAL (SELECT * FROM players WHERE id = s.player_id LIMIT 1) AS p
		    ORDER BY account, here DESC, s.id) AS s
		FULL JOIN (SELECT id FROM players WHERE group_id = ` + group + ` AND folded IS NOT NULL) AS guest
		    ON guest.id = s.account
		JOIN players account ON account.id = coalesce(s.account, guest.id)
		LEFT JOIN LATERAL (
		    SELECT array_to_string(former, ' ') AS former, came, nick, out_at, counts_as FROM sightings
		    WHERE group_id = ` + group + ` AND player_id = account.id LIMIT 1) AS seen ON true
		WHERE seen.counts_as IS NULL
		  AND (account.telegram_user_id IS NULL AND account.username IS NULL
		    OR account.telegram_user_id IS NOT NULL AND coalesce(seen.came, true)
		    OR s.played > 0
		    OR EXISTS (SELECT FROM sightings WHERE group_id = ` + group + ` AND counts_as = account.id)
		    OR EXISTS (
		        SELECT FROM group_players p WHERE player_id = account.id AND played > 0
		          AND EXISTS (SELECT FROM seasons WHERE id = p.season_id AND group_id = ` + group + `)))`
}

// queueEverybody reads the players that everybodyIn lists for a chat's group, with their standings
// in the query's ladder and season, and then the players who count as one of them.
func queueEverybody(batch *pgx.Batch, q ranking.Query, all *[]ranking.Known) {
	sql := `
		SELECT ` + playerColumns("account") + `,
		       ` + postgres.StandingColumns + `, coalesce(seen.former, ''), s.left_at IS NOT NULL, coalesce(s.here, false),
		       coalesce(seen.nick, ''), seen.out_at IS NOT NULL,
		       CASE coalesce(nullif(s.name, seen.nick), account.display_name) WHEN '` + ranking.Nameless + `' THEN (
		           SELECT 1 + count(DISTINCT player_id) FROM group_players -- as in postgres.NamesOfPlayers
		           WHERE season_id IN (SELECT season_id FROM ladders WHERE group_id = ` + postgres.ThisGroup + `)
		             AND lower(name) = '` + ranking.Nameless + `' AND player_id < account.id) ELSE 0 END` +
		everybodyIn(postgres.ThisGroup,
			`coalesce(nullif($3::bigint, 0), `+postgres.LadderOf("season_id", postgres.ThisGroup, "$2")+`)`) + `
		ORDER BY s.id`
	batch.Queue(sql, q.Chat.ID, q.Ladder, q.Season).Query(func(rows pgx.Rows) (err error) {
		*all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranking.Known, error) {
			var p ranking.Player
			var s ladder.Standing
			var here bool
			k := ranking.Known{Player: &p, Came: true}
			err := row.Scan(slices.Concat(playerFields(&p), postgres.StandingFields(&s),
				[]any{&k.Former, &k.Left, &here, &k.Nick, &k.Out, &k.Nameless})...)
			if k.Nick != "" {
				k.Shown = p.Name
			}
			p.Name = cmp.Or(s.Name, k.Nick, p.Name)
			if here && s.Player == p.ID {
				k.Standing = &s
			}
			return k, err
		})
		return err
	})
	batch.Queue(`
		SELECT `+playerColumns("p")+`, m.counts_as, coalesce(m.nick, ''), coalesce(array_to_string(m.former, ' '), '')
		FROM sightings m JOIN players p ON p.id = m.player_id
		WHERE m.group_id = `+postgres.ThisGroup+` AND m.counts_as IS NOT NULL ORDER BY p.id`, q.Chat.ID).
		Query(func(rows pgx.Rows) error {
			var p ranking.Player
			var as ladder.PlayerID
			var nick, former string
			_, err := pgx.ForEachRow(rows, append(playerFields(&p), (*int64)(&as), &nick, &former), func() error {
				if i := slices.IndexFunc(*all, func(k ranking.Known) bool { return k.Player.ID == as }); i >= 0 {
					k, named := (*all)[i], p
					k.Named, k.Former, k.Shown, k.Nameless = &named, former, "", 0
					if nick != "" {
						named.Name, k.Shown = nick, p.Name
					}
					*all = append(*all, k)
				}
				return nil
			})
			return err
		})
}

// queueLastMatches reads the sender's last matches in the query's ladder, and the ladder's last
// matches by any players, up to q.Played of each kind. Undone matches are left out. The window
// functions also keep the planner from reading the players of all matches.
func queueLastMatches(batch *pgx.Batch, q ranking.Query, all *[]ranking.PlayedBefore) {
	this := postgres.LadderOf("id", postgres.ThisGroup, "$5")
	sql := `
		SELECT m.id, coalesce(m.score_a, $4), coalesce(m.score_b, $4),
		       coalesce(p.telegram_user_id, 0), coalesce(p.username, ''), coalesce(p.display_name, ''), coalesce(p.id, 0),
		       part.doubles
		FROM (
		    SELECT id, max(side) AS side FROM (
		        (SELECT m.id, mp.side FROM match_players mp
		         CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		         WHERE mp.player_id = ` + countingSender + ` AND m.ladder_id = ` + this + ` AND m.undone_at IS NULL
		         ORDER BY mp.match_id DESC LIMIT $3)
		        UNION ALL
		        (SELECT id, 0 FROM matches m WHERE ladder_id = ` + this + ` AND undone_at IS NULL
		         ORDER BY ` + postgres.Position + ` DESC LIMIT $3)) AS own_or_not
		    GROUP BY id) AS last
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = last.id LIMIT 1) AS m
		CROSS JOIN LATERAL (
		    SELECT *, count(*) OVER () = 4 AND sum(side) OVER () = 6 AS doubles
		    FROM match_players WHERE match_id = last.id) AS part
		LEFT JOIN LATERAL (
		    SELECT * FROM players WHERE id = part.player_id AND part.side = 3 - last.side
		        AND NOT starts_with(display_name, '` + ranking.Former + `') LIMIT 1) AS p ON true
		ORDER BY m.id DESC, part.place`
	batch.Queue(sql, q.Chat.ID, q.Sender.ID, q.Played, ladder.NoPoints, q.Ladder).Query(func(rows pgx.Rows) error {
		var match, before int64
		var score ladder.Score
		var p command.Person
		var doubles bool
		_, err := pgx.ForEachRow(rows, []any{
			&match, &score.A, &score.B, &p.ID, &p.Username, &p.Name, &p.Player, &doubles,
		}, func() error {
			if match != before {
				before, *all = match, append(*all, ranking.PlayedBefore{Score: score, Doubles: doubles})
			}
			if last := &(*all)[len(*all)-1]; p.Player != 0 {
				last.Opponents = append(last.Opponents, p)
			}
			return nil
		})
		return err
	})
}

// leaders is a WITH query that selects up to $12 players at the top of the ladder as of $11. The
// WITH query "here" names the ladder.
var leaders = `, leaders AS MATERIALIZED (
		    SELECT array_agg(id) AS ids, array_agg(elo) AS elos FROM (
		        SELECT id, elo FROM group_players
		        WHERE season_id = (SELECT season_id FROM here) AND played >= (SELECT place_matches FROM here)
		          AND left_at IS NULL AND last_played_at > (SELECT ` + postgres.ActiveSince("$11", "hide_days") + ` FROM here)
		        ORDER BY elo DESC, id LIMIT $12) AS leader)`

const leaderColumns = `,
		       (SELECT ids FROM leaders), (SELECT elos FROM leaders)`

// LargestUpset implements ranking.Store. Without OFFSET, the planner may search the upsets of all
// time, from the largest one down, for one of the month.
func (s *Store) LargestUpset(ctx context.Context, ladder ladder.ID, month time.Time) (upset int, err error) {
	const sql = `
		SELECT coalesce(max(upset), 0) FROM (
		    SELECT upset FROM matches
		    WHERE ladder_id = $1 AND upset IS NOT NULL AND undone_at IS NULL AND played_at >= $2 AND played_at < $3
		    OFFSET 0) AS of_month`
	if err := s.db.QueryRow(ctx, sql, ladder, month, ranking.LaterMonth(month, 1)).Scan(&upset); err != nil {
		return 0, fmt.Errorf("read the largest upset of a month: %w", Translate(err))
	}
	return upset, nil
}

// maxRecent limits the matches that queueEqualResults reads.
const maxRecent = 200

// queueEqualResults reads the PossibleDuplicates that q.DuplicatesOf and q.DuplicateScores request,
// at most maxRecent, the newest first.
func queueEqualResults(batch *pgx.Batch, q ranking.Query, recent *[]ranking.RecentMatch) {
	sql := `
		SELECT m.number, m.idempotency_key AS key, m.changes, ` + postgres.Score + `, m.sets,
		       coalesce(m.games, '') AS games, m.played_at, ` + postgres.ReportedAt + ` AS reported_at,
		       coalesce(m.reported_by, 0) AS reported_by,
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 1) AS side_a,
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 2) AS side_b,
		       EXISTS (SELECT FROM prompts p
		           WHERE p.chat_id = ` + postgres.ThisChat + ` AND p.kind = 'report'
		             AND p.asked_at >= m.played_at - $3::interval
		             AND p.request -> 'repeats' @> to_jsonb(m.number) AND (
		               p.closed_as = 'cancelled'
		               OR p.closed_as = 'answered' AND p.request ? 'completes' AND m.winner IS NULL)) AS twice
		FROM matches m
		WHERE m.ladder_id = ` + postgres.LadderOf("id", postgres.ThisGroup, "$7") + `
		  AND m.played_at BETWEEN $9::timestamptz AND $2::timestamptz + $3::interval AND m.undone_at IS NULL
		  AND ($4::integer[] IS NULL OR m.winner IS NOT NULL
		       OR m.played_at BETWEEN $2::timestamptz - $8::interval AND $2::timestamptz + $8::interval
		       OR (least(m.score_a, m.score_b), greatest(m.score_a, m.score_b)) IN (
		      SELECT least(a, b), greatest(a, b) FROM unnest($4::integer[], $5::integer[]) AS score (a, b)))
		ORDER BY m.played_at DESC, m.number DESC LIMIT $6`
	since := q.DuplicatesOf.Add(-ranking.SameGameWindow)
	if !q.DuplicatesSince.IsZero() {
		since = q.DuplicatesSince
	}
	var a, b []int // nil for any score
	for _, s := range q.DuplicateScores {
		a, b = append(a, s.A), append(b, s.B)
	}
	batch.Queue(sql,
		q.Chat.ID, q.DuplicatesOf, ranking.SameGameWindow, a, b, maxRecent, q.Ladder, ranking.RepeatWindow, since,
	).Query(func(rows pgx.Rows) (err error) {
		*recent, err = pgx.CollectRows(rows, postgres.RowTo(recentMatch.match))
		return err
	})
}

type recentMatch struct {
	Number  int
	Key     string
	Changes int
	resultRow
	PlayedAt     time.Time
	ReportedAt   time.Time
	ReportedBy   ladder.PlayerID
	SideA, SideB []ladder.PlayerID
	Twice        bool
}

func (m recentMatch) match() ranking.RecentMatch {
	return ranking.RecentMatch{
		Number: m.Number, Key: m.Key, Changes: m.Changes, Result: m.result(), PlayedAt: m.PlayedAt, ReportedAt: m.ReportedAt,
		ReportedBy: m.ReportedBy, Players: [2][]ladder.PlayerID{m.SideA, m.SideB}, Twice: m.Twice,
	}
}

// queueRecentUsage counts the sender's commands in each rate-limit bucket except
// ranking.RateRefused during the ranking.RateWindow up to c.At. Commands in the bucket
// ranking.RateSlowed also count if they were sent up to a RateWindow later.
func queueRecentUsage(batch *pgx.Batch, c ranking.RateEntry, usage *ranking.RecentUsage) {
	batch.Queue(`
		SELECT count(*) FILTER (WHERE rate_class = $4 AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = $5 AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = $6 AND sent_at <= $2),
		       count(*) FILTER (WHERE rate_class = $7)
		FROM handled_commands
		WHERE sender = $1 AND sent_at > $2::timestamptz - $3::interval AND sent_at < $2::timestamptz + $3::interval`,
		c.Sender, c.At, ranking.RateWindow, ranking.RateQuestion, ranking.RateResult, ranking.RatePress, ranking.RateSlowed,
	).QueryRow(func(row pgx.Row) error {
		return row.Scan(&usage.Questions, &usage.Results, &usage.Presses, &usage.Slowed)
	})
}
