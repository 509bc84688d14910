package bot

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim/markup"
	"elobot/internal/catalog"
	"elobot/internal/command"
)

// TestAliases checks that every translated command name can be typed, stands for the same command
// in all languages, and is neither a command nor a name with an Offer.
func TestAliases(t *testing.T) {
	t.Parallel()
	cyrillic := regexp.MustCompile(`^[а-яёіїєґ_]{1,32}$`)
	isMarked := func(alias string) bool { // as a command, by Telegram
		all := markup.Detect("/" + alias)
		return len(all) == 1 && all[0].Type == "bot_command" && all[0].Length == len(alias)+1
	}
	ours := slices.Concat(commandNames(), offeredInstead, offeredAnywhere)
	for _, l := range catalog.All() {
		canBeTyped := isMarked
		if tag := l.Tag(); tag == "ru" || tag == "uk" {
			canBeTyped = cyrillic.MatchString
		}
		for _, name := range append(commandNames(), namePlayers) {
			if !l.Has("aliases." + name) {
				continue
			}
			for alias := range strings.FieldsSeq(l.Text("aliases."+name, nil)) {
				switch stands := translations()[command.Name(alias)]; {
				case !canBeTyped(alias):
					t.Errorf("%s: /%s cannot be typed", l.Tag(), alias)
				case slices.Contains(ours, alias):
					t.Errorf("%s: /%s is a command already", l.Tag(), alias)
				case stands != name:
					t.Errorf("%s: /%s is /%s, and /%s in another language", l.Tag(), alias, name, stands)
				}
			}
		}
		if l.Tag() != "en" && !l.Has("aliases.ranking") {
			t.Errorf("%s has no aliases", l.Tag())
		}
	}
}

// TestTranslatedCommands checks that translated command names work even with letters that Telegram
// does not mark in commands. Other words with such letters are ignored.
func TestTranslatedCommands(t *testing.T) {
	t.Parallel()
	same := map[string]string{
		"/rangliste": "/ranking", "/Tabelle 2": "/ranking 2", "/gane @bob 3:1": "/won @bob 3:1", "/gané @bob 3:1": "/won @bob 3:1",
		"/classificação": "/ranking", "/empate @bob": "/draw @bob", "/матч @bob 3:1": "/match @bob 3:1", "/виграв @bob": "/won @bob",
		"/hilfe": "/help", "/commands": "/help", "/last": "/matches", "/players": "/ranking all", "/jugadores 2": "/ranking 2 all",
		"/Справка@elo_bot": "/help", "/rückgängig": "/undo", "/récords": "/records", "/команды": "/help", "/übersicht": "", "/matché @bob 3:1": "", "/вернуться": "", "/gané@other_bot @bob 3:1": "",
	}
	for text, english := range same {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var want []string
			if english != "" {
				w.group.Say(w.alice, english)
				want = texts(w.handle())
			}
			w.group.Say(w.alice, text)
			w.expect(text, want...)
		})
	}
}

func texts(calls []call) (all []string) {
	for _, c := range calls {
		all = append(all, c.String())
	}
	return all
}

// TestOffers checks that the bot answers common attempts at commands that it does not have. In a
// group, it ignores commands that moderation bots have, even in reply to a person, unless they name
// this bot.
func TestOffers(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(offeredInstead, offeredAnywhere) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			offer := `answer offer {"command":"` + name + `"}`
			w.group.Say(w.alice, "/"+name+" bob")
			if slices.Contains(offeredAnywhere, name) {
				w.expect(name, offer)
			} else {
				w.expect(name)
			}
			w.group.Say(w.alice, "/"+name+"@elo_bot")
			w.expect(name, offer)
			w.group.Say(w.alice, "/"+name+"@other_bot")
			w.expect(name)
			own := w.group.Say(w.bob, "hello")
			w.group.Reply(w.alice, own, "/"+name)
			if slices.Contains(offeredAnywhere, name) {
				w.expect(name, offer)
			} else {
				w.expect(name)
			}
			w.sim.Private(w.alice).Say(w.alice, "/"+name)
			w.expect(name, offer)
		})
	}
}

// commandsOfOthers lists the documented commands of a moderation bot and of a bot for games and
// polls, followed by other words that people try.
const commandsOfOthers = `
	ban mute unban unmute kick dban sban tban tmute smute banme kickme warn dwarn swarn warns resetwarn rmwarn
	warnings warnlimit warnmode
	rules setrules resetrules privaterules setrulesbutton report reports notes save get clear clearall privatenotes
	filter filters stop stopall
	welcome setwelcome resetwelcome goodbye setgoodbye cleanwelcome flood setflood setfloodmode antiflood
	blocklist addblocklist rmblocklist
	lock unlock locks locktypes pin unpin unpinall pinned promote demote adminlist admincache anonadmin purge spurge del
	delete export import reset
	privacy id info connect disconnect captcha captchamode language setlang federation newfed joinfed
	leavefed fedinfo fban unfban
	game newgame play leave score scores startgame endgame quiz poll vote list close open cancel skip trivia dice
	roll slots bet daily balance
	give rank level top leaderboard stats profile help start settings about donate ping uptime support invite
	players last commands rename hilfe ayuda rangliste`

// TestOtherBots checks which commands of other bots the bot answers: those that it has too,
// /rename, and those that may be misspellings of its own. It ignores /stop, because /top is too
// short to have misspellings.
func TestOtherBots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var answered []string
	for name := range strings.FieldsSeq(commandsOfOthers) {
		w.group.Say(w.alice, "/"+name)
		if len(w.handle()) > 0 {
			answered = append(answered, name)
		}
	}
	want := strings.Fields("language game leave close rank top leaderboard stats profile help start settings " +
		"about players last commands rename hilfe ayuda rangliste")
	if !slices.Equal(answered, want) {
		t.Errorf("answered %q, want %q", answered, want)
	}
}
