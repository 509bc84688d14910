package bot

import (
	"context"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// reply handles a group message that is not a command. It ignores the message unless the message
// replies to a question of the bot, which reply recognizes by the buttons below it.
func (r *Router) reply(ctx context.Context, req request) error {
	m := req.message
	standsFor := func(name string) request {
		return newRequest(m, req.origin, command.Text(name, m.Text, m.commandEntities(), r.self.Username))
	}
	var wizard ranking.ReplyToWizard
	file, hasFile := m.sentFile()
	for _, data := range r.buttonsBelow(m.replied()) {
		c, args, _ := findCallback(data)
		switch c.Code {
		case ladderCode: // a FirstLadderPrompt: what is the group's only ladder called?
			first := strings.Join(command.Command{Args: m.Text}.Unquoted(), " ")
			return r.do(ctx, standsFor(nameLadder).origin,
				ranking.ChangeLadder{Change: ranking.AddLadder, Name: args, First: first})
		case aboutCode: // a PlayerPage: what do the others call the player?
			if b, ok := parsePlayerButton(args); ok && b.does == doesOwnName {
				req = standsFor(nameNick)
				return r.do(ctx, req.origin, renames(b.players[0], m.Text))
			}
		case askedCode: // a FixPrompt: what is the right score?
			return r.dispatch(ctx, standsFor(command.NameFix))
		case importCode: // an ImportPage or an ImportRefused: where are the results?
			if b, ok := parseImportButton(args); ok && b.example && hasFile {
				req.origin.Command, req.origin.Ladder = nameImport, ladderOf(data)
				return r.rankings.Do(ctx, req.origin, ranking.ReplyWithFile{File: file})
			}
		case promptCode: // a prompt, perhaps a wizard: who is the opponent, or what is the score?
			ref, option, _ := promptOf(data)
			if hasFile { // or an ImportPrompt: who are the people, or what are the right results?
				req.origin.Command = nameImport
				return r.rankings.Do(ctx, req.origin, ranking.ReplyWithFile{File: file, Prompt: ref})
			}
			wizard.Wizard = ref
			doubles, _ := option.(ranking.Doubles)
			_, asksScore := option.(ranking.ScoreAgainst)
			if wizard.Offered == nil && (asksScore || doubles.Picks != ranking.Picks{}) {
				wizard.Offered = option
			}
		}
	}
	if wizard.Wizard.ID == 0 || req.origin.Sender == nil {
		return nil
	}
	req = standsFor(command.NameMatch)
	req.origin.Pressed = m.replied().ID
	return r.rankings.Do(ctx, req.origin, wizard)
}
