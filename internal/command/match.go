package command

// Match is a result as a message reports it. A and B are two different people,
// neither of them a bot.
type Match struct {
	A, B  Person
	Self  bool // A is the sender, without being mentioned
	Score Score
}

// Score is how a match ended: A's and B's points, each from 0 to 999.
type Score struct{ A, B int }

// ParseMatch reads the arguments of /match. sender is the zero Person if unknown
// (an anonymous admin); reply is the person whose message is replied to, nil if
// there is none; its IsBot must be set for bots, this one included. A mention of
// the sender or of the person replied to yields what is known of them. Every
// error is a *FormError.
func ParseMatch(c Command, sender Person, reply *Person) (Match, error) {
	if c.Args == "" && len(c.Mentions) == 0 {
		return Match{}, formError(ReasonEmpty, "")
	}
	// Words that cannot be read come first: they explain why somebody is missing.
	tokens, err := scoreTokens(c.Args)
	if err != nil {
		return Match{}, err
	}
	m, err := players(c.Mentions, sender, reply)
	if err != nil {
		return Match{}, err
	}
	m.Score, err = readScore(tokens)
	if err != nil {
		return Match{}, err
	}
	return m, nil
}

// players finds out who played; the score is left open. Mentions win over the
// reply.
func players(mentions []Person, sender Person, reply *Person) (Match, error) {
	var replied Person
	if reply != nil {
		replied = *reply
	}
	m := Match{A: sender, Self: true}
	senderPlays := sender.isKnown() && !sender.IsBot
	switch {
	case len(mentions) > 2:
		return Match{}, formError(ReasonTooManyPeople, mentions[2].label())
	case len(mentions) == 2:
		m = Match{A: mentions[0].identify(sender).identify(replied)}
		m.B = mentions[1].identify(sender).identify(replied)
	case !senderPlays:
		return Match{}, formError(ReasonNameBothPlayers, "")
	case len(mentions) == 1:
		m.B = mentions[0].identify(sender).identify(replied)
	case replied.isKnown():
		m.B = replied
	default:
		return Match{}, formError(ReasonNoOpponent, "")
	}
	for _, p := range [...]Person{m.A, m.B} {
		if p.IsBot {
			return Match{}, formError(ReasonBot, p.label())
		}
	}
	if m.A.isSame(m.B) {
		return Match{}, formError(ReasonSamePerson, m.B.label())
	}
	return m, nil
}
