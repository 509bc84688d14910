//go:build mutants

package mutants

var mutants = []mutant{
	{
		name: "no unique key", file: "internal/postgres/pgranking/keys.go",
		before:   "jsonb_populate_record(NULL::handled_commands, one) AS c`, keys)",
		after:    "jsonb_populate_record(NULL::handled_commands, one) AS c ON CONFLICT DO NOTHING`, keys)",
		packages: "./internal/ranking ./internal/postgres/pgranking", tests: "^(TestRedelivery|TestApplySameKeyAtOnce)$",
	},
	{
		name: "message not claimed", file: "internal/postgres/pgranking/keys.go",
		before: "WHERE c.outcome IN ('refused', 'asked') OR excluded.trigger <> 'edit'", after: "WHERE true",
		packages: "./internal/ranking", tests: "^TestEditsOvertaken$",
	},
	{
		name: "name of a forgotten person in a table", file: "internal/postgres/pgranking/forget.go",
		before: "UPDATE group_players g SET name = s.nick,", after: "UPDATE group_players g SET name = g.name,",
		packages: "./cmd/elobot", tests: "^TestForgetMe$",
	},
	{
		name: "key of a group deleted with a person", file: "internal/postgres/pgranking/forget.go",
		before:   "UPDATE handled_commands SET sender = NULL, sent_at = NULL, rate_class = NULL WHERE sender = $1",
		after:    "DELETE FROM handled_commands WHERE sender = $1",
		packages: "./cmd/elobot", tests: "^TestForgetMe$",
	},
	{
		name: "confirmed before the commit", file: "internal/intake/poller.go",
		before: "for len(p.queue) > 0 && p.queue[0].done {", after: "for len(p.queue) > 0 {",
		packages: "./internal/intake", tests: "^TestOffset$",
	},
	{
		name: "not marked as sending", file: "internal/postgres/pgoutbox/take.go",
		before: "SET state = 'sending', attempts = o.attempts + 1", after: "SET state = 'planned', attempts = o.attempts + 1",
		packages: "./internal/postgres/pgoutbox", tests: "^TestTake$",
	},
	{
		name: "later commits do not wait", file: "internal/postgres/pgoutbox/store.go",
		before: "'synchronous_commit', 'off', true)", after: "'synchronous_commit', 'off', false)",
		packages: "./cmd/elobot", tests: "^TestOnlyTheDispatcherDoesNotWait$",
	},
	{
		name: "summary in a summary counts as one", file: "internal/postgres/pgoutbox/summarize.go",
		before: "THEN (payload ->> 'count')::bigint ELSE 1 END", after: "THEN 1 ELSE 1 END",
		packages: "./internal/postgres/pgoutbox", tests: "^TestSummarize$",
	},
	{
		name: "ignored person heard", file: "internal/ranking/flooder.go",
		before: "return refuses && c.senderIn(snap).Ignored", after: "return false && refuses",
		packages: "./internal/ranking", tests: "^TestIgnorePlayer$",
	},
	{
		name: "answer records what the report may not", file: "internal/ranking/answer_report.go",
		before:   "return snap.Ladder.reports(r.chosen.isPlayedBy(snap, r.chosen.reporter) || r.chosen.isPlayedBy(snap, 0))",
		after:    "return Permission{}",
		packages: "./internal/ranking", tests: "^TestWhoAnswersReports$",
	},
	{
		name: "any number of people added", file: "internal/ranking/flooder.go",
		before: "before+added <= MaxAdded", after: "before >= 0",
		packages: "./internal/ranking", tests: "^TestTooManyAdded$",
	},
	{
		name: "imported rows not known", file: "internal/ranking/import.go",
		before: "known[key] = true", after: "known[key] = false",
		packages: "./internal/ranking", tests: "^TestImportEqualsPlainLadder$",
	},
	{
		name: "choice about an import lost", file: "internal/ranking/import_chat.go",
		before: "*snap.Prompt.Import != *o.prompt.Import", after: "*snap.Prompt.Import != *snap.Prompt.Import",
		packages: "./internal/ranking", tests: "^TestImportChosenAtOnce$",
	},
	{
		name: "begun import canceled", file: "internal/ranking/import_chat.go",
		before: "!snap.Prompt.Import.Begun.IsZero() && !o.byTimer()", after: "false",
		packages: "./internal/ranking", tests: "^TestImportOfManyLater$",
	},
	{
		name: "imported rows at the end", file: "internal/ranking/import.go",
		before: "ladder.Place(p.before.Ordered, times)", after: "ladder.Place(nil, times)",
		packages: "./internal/ranking", tests: "^TestImportBetween$",
	},
	{
		name: "import committed early", file: "internal/postgres/pgranking/import.go",
		before:   "	ids := make(map[ladder.MatchID]bool, len(n.Matches))\n",
		after:    "	ids := make(map[ladder.MatchID]bool, len(n.Matches))\n	_, _ = l.db.Exec(ctx, `COMMIT; BEGIN`)\n",
		packages: "./cmd/elobot", tests: "^TestKilledImporting$",
	},
	{
		name: "staged matches counted before", file: "internal/ranking/import.go",
		before: "m.Number < part.numbers[0] || m.Number > part.numbers[1]", after: "m.Number > 0",
		packages: "./internal/ranking", tests: "^TestCommandsDuringAnImport$",
	},
	{
		name: "players change during an import", file: "internal/ranking/import.go",
		before: "isSame := snap.Group ==", after: "isSame := true || snap.Group ==",
		packages: "./internal/ranking", tests: "^TestPlayersChangeDuringAnImport$",
	},
	{
		name: "another day during an import", file: "internal/ranking/import.go",
		before: "m.Number > p.before.Last+p.report.New &&", after: "false &&",
		packages: "./internal/ranking", tests: "^TestImportIsOvertaken$",
	},
	{
		name: "superseded history not exported", file: "internal/postgres/pgranking/export_tables.go",
		before:   "JOIN elo_history t ON t.match_id = m.id",
		after:    "JOIN elo_history t ON t.match_id = m.id AND t.superseded_at = 'infinity'",
		packages: "./internal/ranking", tests: "^TestAnySeasons$",
	},
	{
		name: "restore not verified", file: "internal/ranking/export.go",
		before: "err = verifyRestored(ctx, l, snap.Chat.ID)", after: "_ = verifyRestored(ctx, l, snap.Chat.ID)",
		packages: "./internal/ranking", tests: "^TestHostileExports$",
	},
	{
		name: "last match of an import kept", file: "internal/ranking/import_undo.go",
		before: "w.Unplayed = append(w.Unplayed, player)", after: "_ = player",
		packages: "./internal/ranking", tests: "^TestImportUndoProperty$",
	},
	{
		name: "start rating of an undone import kept", file: "internal/postgres/pgranking/import.go",
		before: "AND o.import <> $2 AND i.undone_at IS NULL", after: "AND $2::integer > 0 AND i.undone_at IS NULL",
		packages: "./internal/ranking", tests: "^TestStartRatings$",
	},
	{
		name: "imported match moved by its number", file: "internal/ranking/need.go",
		before: "n.match.isOfOtherDay() || n.match.isImported()", after: "n.match.isOfOtherDay()",
		packages: "./internal/ranking", tests: "^TestMoveOfImported$",
	},
	{
		name: "upset not derived again", file: "internal/ladder/replay.go",
		before: "if m.Upset != upset {", after: "if m.Upset != upset && false {",
		packages: "./internal/ranking", tests: "^TestUpsetIsDerivedAgain$",
	},
	{
		name: "longest streak not replayed", file: "internal/ladder/replay.go",
		before: "p.Entry.StreakBefore, p.Entry.LongestBefore", after: "p.Entry.StreakBefore, s.Longest",
		packages: "./internal/ranking", tests: "^TestLongestStreakIsReplayed$",
	},
	{
		name: "no version check", file: "internal/postgres/pgranking/matches.go",
		before: "WHERE s.id = w.id AND s.version = w.version", after: "WHERE s.id = w.id",
		packages: "./internal/postgres/pgranking", tests: "^TestVersionGuard$",
	},
	{
		name: "another key at each attempt", file: "internal/ranking/handle.go",
		before: "Key: c.Key, Trigger: c.trigger(),", after: "Key: c.Key + time.Now().String(), Trigger: c.trigger(),",
		packages: "./internal/ranking", tests: "^TestRedelivery$",
	},
	{
		name: "acknowledged although it failed", file: "internal/intake/webhook.go",
		before:   "hook.worker.persist(r.Context(), u, false) != nil {",
		after:    "hook.worker.persist(r.Context(), u, false) != nil && false {",
		packages: "./internal/intake", tests: "^TestWebhookDatabaseAway$",
	},
	{
		name: "no epoch check", file: "internal/postgres/lease.go",
		before: "WHERE name = $1 AND epoch = $2)::lease_held", after: "WHERE name = $1 AND epoch >= $2)::lease_held",
		packages: "./internal/postgres", tests: "^TestUnderLostLease$",
	},
	{
		name: "rounded the other way", file: "internal/elo/elo.go",
		before: "int(math.Round(", after: "int(math.Floor(",
		packages: "./internal/elo", tests: "^TestChange$",
	},
	{
		name: "favorite gains nothing", file: "internal/elo/elo.go",
		before: "points = max(points, 1)", after: "points = max(points, 0)",
		packages: "./internal/elo", tests: "^TestChange$",
	},
	{
		name: "ladder left not replayed", file: "internal/ranking/move_match.go",
		before: "ByMove, func(p *ladder.Match) { p.Undone = true })", after: "ByMove, func(*ladder.Match) {})",
		packages: "./internal/ranking", tests: "^TestArchivedLadder$",
	},
	{
		name: "archived meanwhile", file: "internal/postgres/pgranking/ladders.go",
		before: "WHERE id = ANY ($1) AND archived_at IS NULL", after: "WHERE id = ANY ($1)",
		packages: "./internal/ranking", tests: "^TestRecordedWhileArchived$",
	},
	{
		name: "topic stays bound", file: "internal/postgres/pgranking/ladders.go",
		before: "WHERE chat_id = $1 AND thread_id = $2`, l.Chat", after: "WHERE chat_id = $1 AND thread_id = -$2`, l.Chat",
		packages: "./internal/ranking", tests: "^TestUnboundTopic$",
	},
	{
		name: "duplicates of other ladders", file: "internal/postgres/pgranking/read.go",
		before:   "WHERE m.ladder_id = ` + postgres.LadderOf(\"id\", postgres.ThisGroup, \"$7\") + `",
		after:    "WHERE m.group_id = ` + postgres.ThisGroup + ` AND $7 >= 0",
		packages: "./internal/ranking", tests: "^TestDuplicatesOfALadder$",
	},
	{
		name: "parked for good", file: "internal/postgres/lookup.go",
		before: "coalesce(c.parked_until > now() AND", after: "coalesce(c.parked_until IS NOT NULL AND",
		packages: "./internal/postgres/pgoutbox", tests: "^TestRefusedChatIsTriedAgain$",
	},
	{
		name: "final table refreshed as a board", file: "internal/postgres/pgoutbox/boards.go",
		before: "WHERE starts_with(e.object, 'board:') AND NOT EXISTS (", after: "WHERE NOT EXISTS (",
		packages: "./internal/postgres/pgoutbox", tests: "^TestOnlyBoardsAreRefreshed$",
	},
	{
		name: "season by arrival", file: "internal/ranking/season.go",
		before: "if !at.Before(l.Season.Starts) {", after: "if !at.IsZero() {",
		packages: "./internal/ranking", tests: "^TestSeasons$",
	},
	{
		name: "start rating of the season before", file: "internal/postgres/pgranking/seasons.go",
		before:   "SELECT new.id, s.player_id, s.name, begins.elo, begins.elo, begins.elo, s.left_at",
		after:    "SELECT new.id, s.player_id, s.name, s.elo, s.elo, s.elo, s.left_at",
		packages: "./internal/ranking", tests: "^TestSeasons$",
	},
	{
		name: "final table not told again", file: "internal/ranking/handle.go",
		before: "changes.Corrected = append(changes.Corrected, snap.Season)", after: "_ = snap.Season",
		packages: "./internal/ranking", tests: "^TestSeasons$",
	},
	{
		name: "season told by the message that ends it", file: "internal/ranking/season.go",
		before: "Tells: !e.early || !e.at.Before(starts.Add(AfterSeason)),", after: "Tells: true,",
		packages: "./internal/ranking", tests: "^TestAutomaticSeasons$",
	},
	{
		name: "season ends in another zone", file: "internal/ranking/season.go",
		before: "at = at.In(d.Zone())", after: "at = at.UTC()",
		packages: "./internal/ranking", tests: "^TestSeasonsEndInTheirZone$",
	},
	{
		name: "season ends unnoticed", file: "internal/postgres/pgranking/seasons.go",
		before: "UPDATE group_players SET version = version + 1 WHERE season_id = $1", after: "SELECT",
		packages: "./internal/ranking", tests: "^TestSeasonEndsMeanwhile$",
	},
	{
		name: "replayed from the wrong match", file: "internal/ladder/replay.go",
		before: "if !seen[p.Player] {", after: "if seen[p.Player] = false; !seen[p.Player] {",
		packages: "./internal/ranking", tests: "^TestUndoMatch$",
	},
	{
		name: "mapping committed alone", file: "internal/postgres/pgranking/remap.go",
		before:   "if r.Claimed != 0 {",
		after:    `batch.Queue("COMMIT"); batch.Queue("BEGIN"); if r.Claimed != 0 {`,
		packages: "./cmd/elobot", tests: "^TestKilledMergingAndSplitting$",
	},
	{
		name: "one provisional match too many", file: "internal/ladder/standing.go",
		before: "if played < r.Provisional.Matches {", after: "if played <= r.Provisional.Matches {",
		packages: "./internal/ranking", tests: "^TestRulesApply$",
	},
	{
		name: "rules of the match not read", file: "internal/postgres/pgranking/history.go",
		before: "Matches: r.ProvisionalMatches}, Margin: r.Margin,", after: "Matches: r.ProvisionalMatches}, Margin: false,",
		packages: "./internal/ranking", tests: "^TestAnySeasons$",
	},
	{
		name: "setting overwritten", file: "internal/postgres/pgranking/settings.go",
		before: "WHERE was.id = $1 AND %[3]s", after: "WHERE was.id = $1 OR %[3]s",
		packages: "./internal/postgres/pgranking", tests: "^TestApplySetting$",
	},
	{
		name: "stale press accepted", file: "internal/ranking/amendment.go",
		before: "return a.Changes != nil && *a.Changes != m.Changes", after: "return a.Changes != nil && false",
		packages: "./internal/ranking", tests: "^TestStalePresses$",
	},
	{
		name: "button of another match accepted", file: "internal/ranking/amendment.go",
		before: "return a.Match.Tag != \"\" && a.Match.Tag != TagOf(m.Key)", after: "return false",
		packages: "./internal/ranking", tests: "^TestButtonsOfOtherMatches$",
	},
	{
		name: "sent without pace", file: "internal/outbox/request.go",
		before: "\tl.requested(now)\n", after: "",
		packages: "./internal/outbox", tests: "^TestPaceOfLanes$",
	},
	{
		name: "extra request at once", file: "internal/outbox/extra_requests.go",
		before: "case r.lane.Kind != CallbackAnswers:", after: "case false:",
		packages: "./internal/outbox", tests: "^TestExtraRequests$",
	},
	{
		name: "board does not wait", file: "internal/outbox/schedule.go",
		before: "\t\tcase l.Kind == Boards:\n\t\t\treturn", after: "\t\tcase false:\n\t\t\treturn",
		packages: "./internal/outbox", tests: "^TestBoardsGoLast$",
	},
	{
		name: "page does not wait", file: "internal/outbox/schedule.go",
		before: "case l.Kind == Pages && key.Kind == Messages", after: "case false && key.Kind == Messages",
		packages: "./internal/outbox", tests: "^TestPagesDelayNoMessages$",
	},
	{
		name: "lane not released", file: "internal/outbox/request.go",
		before:   "\tt.release(l, now)\n\tl.repeats = ",
		after:    "\tif r.Failure == nil || r.Failure.Kind != Failed {\n\t\tt.release(l, now)\n\t}\n\tl.repeats = ",
		packages: "./internal/outbox", tests: "^(TestModel|TestPoison|TestFailuresEnd)$",
	},
	{
		name: "refusals are no outage", file: "internal/outbox/refusals.go",
		before: "return now.Sub(r.since) < outageLimit", after: "return false",
		packages: "./internal/outbox", tests: "^TestRefusedEverywhere$",
	},
	{
		name: "refused for ever", file: "internal/outbox/refusals.go",
		before: "if !r.unsettled(l) {", after: "if false {",
		packages: "./internal/outbox", tests: "^(TestRefusedAmongOthers|TestNewItemAmongRefusedOnes)$",
	},
	{
		name: "dead letter without a reason", file: "internal/intake/worker.go",
		before: "cmp.Or(t.reason.Error(), \"error without a message\")", after: "cmp.Or(\"\", \"error without a message\")",
		packages: "./internal/intake", tests: "^TestFailingUpdate$",
	},
	{
		name: "same result not asked about", file: "internal/ranking/unusual.go",
		before: "apart <= SameGameWindow &&", after: "apart < SameGameWindow &&",
		packages: "./internal/ranking", tests: "^TestDuplicates$",
	},
	{
		name: "answer after an edit", file: "internal/ranking/answer_report.go",
		before: ", r.chosen != nil && len(snap.Matches) != r.chosen.recorded:", after: ":",
		packages: "./internal/ranking", tests: "^TestEditRecordsWhatIsOpen$",
	},
	{
		name: "answers not counted", file: "internal/ranking/answer_report.go",
		before: "j.extraResults = len(op.chosen.matches) - 1", after: "j.extraResults = 0",
		packages: "./internal/ranking", tests: "^TestAnswersCount$",
	},
	{
		name: "default isolation level", file: "internal/postgres/sessions.go",
		before: "SET default_transaction_isolation = 'read committed'; ", after: "",
		packages: "./internal/postgres", tests: "^TestApplyAndTakeover$",
	},
	{
		name: "canceled wait ignored", file: "internal/postgres/sessions.go",
		before: "if notice.Routine != standbyWait {", after: "if notice.Routine != \"\" {",
		packages: "./internal/postgres", tests: "^TestCanceledStandbyWait$",
	},
	{
		name: "found key believed", file: "internal/ranking/handle.go",
		before: "outcome, err = OutcomeDuplicate, s.store.EnsureDurable(ctx)", after: "outcome, err = OutcomeDuplicate, nil",
		packages: "./internal/ranking", tests: "^TestHandledBefore$",
	},
	{
		name: "old links open boards", file: "internal/web/link.go",
		before: `fmt.Sprintf("%d:%s", b.Group, b.Salt)`, after: `fmt.Sprintf("%d", b.Group)`,
		packages: "./internal/web", tests: "^TestRoutes$",
	},
	{
		name: "people of other groups on boards", file: "internal/stats/web.go",
		before: "if slices.Contains(played, false) {", after: "if slices.Contains(played, false) && false {",
		packages: "./internal/web", tests: "^TestRoutes$",
	},
	{
		name: "refused session blamed", file: "internal/postgres/errors.go",
		before: "return failed || errors.Is(err, errNoSession)", after: "return errors.Is(err, errNoSession) && failed",
		packages: "./internal/postgres", tests: "^TestRefusedSessions$",
	},
	{
		name: "silent host asked again", file: "internal/postgres/hosts.go",
		before: "return rank(a) - rank(b)", after: "return rank(b) - rank(a)",
		packages: "./internal/postgres", tests: "^TestLastHostFirst$",
	},
	{
		name: "given up after an upgrade", file: "internal/app/schema.go",
		before: "err := postgres.CheckNotNewer(ctx, g.pool, migrations.FS)", after: "err := error(nil)",
		packages: "./cmd/elobot", tests: "^TestNewerSchema$",
	},
	{
		name: "refused notices not summarized", file: "internal/postgres/pgoutbox/summarize.go",
		before: "o.possible_duplicates = 0 AS undelivered", after: "o.attempts = 0 AS undelivered",
		packages: "./internal/postgres/pgoutbox", tests: "^TestSummarize$",
	},
}
