package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"elobot/internal/bot"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// importChat imports the results in Telegram's export of a chat, with an import for each ranking.
// Nothing is written unless the results of all rankings can be imported. owner is the account of
// the bot, 0 if unknown.
func (c *importCommand) importChat(ctx context.Context, store ranking.Store, owner ladder.UserID, in io.Reader) error {
	if len(c.Columns) > 0 || c.Dates != "" || c.OrderByRow {
		return errors.New("--columns, --dates and --order-by-row are not for Telegram's export of chats")
	}
	c.unit = "message"
	debug.SetMemoryLimit(48 << 20) // millions of messages need little more
	importer, err := ranking.NewImporter(ctx, store, ranking.ExternalChatID(c.Group), c.Ladder)
	if err != nil {
		return err
	}
	f := ranking.ImportFile{
		At: time.Now(), Again: c.Again, SkipRefused: c.SkipRefused, ClosedSeasons: c.ClosedSeasons,
		SeasonMonths: seasonMonths[c.Seasons],
	}
	if c.People != "" {
		if f.People, err = readPeople(c.People); err != nil {
			return err
		}
	}
	o := importer.ChatOptions(f.People)
	o.Now, o.Chat, o.Talk = f.At, cmp.Or(c.Chat, fmt.Sprint(c.Group)), c.Results
	o.Bots, o.BotID, o.Commands = c.Bot, int64(owner), bot.CommandNames()
	if c.Zone != "" {
		name, ok := ranking.FindTimeZone(c.Zone)
		if !ok {
			return fmt.Errorf("there is no time zone %q: write it as in Europe/Berlin", c.Zone)
		}
		o.Zone, o.HasZone = ranking.Display{TimeZone: name}.Zone(), true
	}
	if f.File, err = transfer.ReadChat(in, o); err != nil {
		return readable(c.File, err)
	}
	if f.Ask == transfer.AskChat {
		return askChat(f.Chats)
	} else if f.Ask != "" {
		return c.report(ranking.ImportReport{}, f.Ask)
	}
	parts, missing := importer.ByLadder(f)
	f.LeftOut = parts[0].LeftOut
	c.describeChat(f.File, o.Zone)
	if len(missing) > 0 {
		return fmt.Errorf("the file has results of rankings that the group does not have: %s. Add them with /ladder new, "+
			"or import the results of only one ranking with --ladder. Nothing was imported", strings.Join(missing, ", "))
	}
	if c.DryRun || len(parts) > 1 {
		var all ranking.ImportReport
		for _, p := range parts {
			p.DryRun = true
			r, err := p.Import(ctx, p.ImportFile)
			if err != nil {
				return err
			}
			all.Add(r)
		}
		if c.DryRun || f.IsOpen(all) {
			return c.report(all, "")
		}
	}
	for _, p := range parts {
		if len(parts) > 1 && p.Ladder == "" {
			fmt.Println("The default ranking:")
		} else if len(parts) > 1 {
			fmt.Printf("Ranking %q:\n", p.Ladder)
		}
		r, err := p.Import(ctx, p.ImportFile)
		if err == nil {
			err = c.report(r, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askChat asks which chat of an account is meant.
func askChat(chats []transfer.Chat) error {
	listed := make([]string, len(chats))
	for i, c := range chats {
		listed[i] = strings.TrimSpace(fmt.Sprintf("%d %s", c.ID, c.Name))
	}
	return fmt.Errorf("say by --chat=ID which chat to read. Nothing was imported. The file has:\n%s",
		strings.Join(listed, "\n"))
}

// describeChat prints what the export of a chat says, as it was understood.
func (c *importCommand) describeChat(f transfer.File, zone *time.Location) {
	const day = "2 January 2006"
	fmt.Printf("%q has %s", f.Chat.Name, counted(f.Chat.Messages, "message", "messages"))
	if !f.Chat.Last.IsZero() {
		fmt.Printf(" from %s to %s", f.Chat.First.Format(day), f.Chat.Last.Format(day))
	}
	people, typed := make(map[string]bool), make(map[string]bool)
	for _, r := range f.Rows {
		for _, side := range r.Sides {
			for _, name := range side {
				people[name] = true
				if _, isAccount := f.Accounts[name]; !isAccount {
					typed[name] = true
				}
			}
		}
	}
	fmt.Printf(", with %s of %s", counted(len(f.Rows), "result", "results"), counted(len(people), "name", "names"))
	if len(f.Rows) > 0 {
		fmt.Printf(", from %s to %s", f.First.Format(day), f.Last.Format(day))
	}
	fmt.Printf(". The time zone is %s.\n", zone)
	if len(typed) > 0 {
		fmt.Printf("%s typed, which may mean other people today.\n", counted(len(typed), "name was", "names were"))
	}
	reasons := make(map[string]int)
	for _, l := range f.LeftOut {
		reasons[replaced(sentences[l.Reason], l)]++
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Printf("%s left out: %s.\n", counted(reasons[reason], "message is", "messages are"), reason)
	}
}
