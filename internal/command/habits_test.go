package command_test

import (
	"errors"
	"strings"
	"testing"

	"elobot/internal/command"
)

// TestHabits reads what people type in a hurry, or know from other bots. sam replies to a message of rita; every word with an @ is
// a mention. Several readings are separated by "or", several results by "and".
func TestHabits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// English
		"/match I beat @bob 3:1":                          "sam 3:1 bob",
		"/match i won 3:1 against @bob":                   "sam 3:1 bob",
		"/match won against @bob 3:1":                     "sam 3:1 bob",
		"/match beat @bob 3-1 gg":                         "sam 3:1 bob",
		"/match @bob beat me 3:1":                         "bob 3:1 sam",
		"/match @alice beat @bob 3:1":                     "alice 3:1 bob",
		"/match @alice lost to @bob 1:3":                  "alice 1:3 bob",
		"/match I lost to @bob 1:3":                       "sam 1:3 bob",
		"/match lost @bob 1:3":                            "sam 1:3 bob",
		"/match me @bob 3:1":                              "sam 3:1 bob",
		"/match @bob me 3:1":                              "bob 3:1 sam",
		"/match me vs @bob 3:1":                           "sam 3:1 bob",
		"/match me and @carol vs @bob and @dave 3:1":      "sam carol 3:1 bob dave",
		"/match @bob 3 to 1":                              "sam 3:1 bob",
		"/match @bob 3x1":                                 "sam 3:1 bob",
		"/match @bob 3 x 1":                               "sam 3:1 bob",
		"/match @bob 3:1!":                                "sam 3:1 bob",
		"/match @bob 3:1!!! gg wp":                        "sam 3:1 bob",
		"/match @bob (3:1)":                               "sam 3:1 bob",
		"/match @bob [3-1]":                               "sam 3:1 bob",
		"/match @bob: 3:1":                                "sam 3:1 bob",
		"/match @bob - 3:1":                               "sam 3:1 bob",
		"/match @bob 3:1 🏆":                               "sam 3:1 bob",
		"/match @alice - @bob 3:1":                        "alice 3:1 bob",
		"/match @alice x @bob 3:1":                        "alice 3:1 bob",
		"/match @alice , @bob - @carol , @dave 2:1":       "alice bob 2:1 carol dave",
		"/match @alice @carol beat @bob @dave 10:8":       "alice carol 10:8 bob dave",
		"/match @alice defeated @bob by 3:1":              "alice 3:1 bob",
		"/match final score 3:1 against @bob":             "sam 3:1 bob",
		"/match vs @bob, final result: 3:1":               "sam 3:1 bob",
		"/match draw with @bob 2:2":                       "sam 2:2 bob",
		"/match @alice and @bob drew 2:2":                 "alice 2:2 bob",
		"/match @bob tie 1:1":                             "sam 1:1 bob",
		"/match 3:1 I won":                                "sam 3:1 rita",
		"/match I won the match 3:1":                      "sam 3:1 rita",
		"/match lost 1:3":                                 "sam 1:3 rita",
		"/match @bob 3:1 won":                             "sam 3:1 bob",
		"/match @bob won 3:1":                             "sam 1:3 bob or sam 3:1 bob ?winner",
		"/match @bob lost 1:3":                            "sam 3:1 bob or sam 1:3 bob ?winner",
		"/match @alice beat @bob 1:3":                     "alice 3:1 bob or alice 1:3 bob ?winner",
		"/match lost to @bob 3:1":                         "sam 1:3 bob or sam 3:1 bob ?winner",
		"/match @bob won 2:2":                             "ReasonContradiction",
		"/match draw @bob 3:1":                            "ReasonContradiction",
		"/match I won @bob lost 3:1":                      "ReasonContradiction",
		"/match beat @carol and @dave 3:1":                "ReasonNoVersus",
		"/won @bob 3:1":                                   "sam 3:1 bob",
		"/won 3:1":                                        "sam 3:1 rita",
		"/won @bob 1:3":                                   "sam 3:1 bob or sam 1:3 bob ?winner",
		"/lost @bob 1:3":                                  "sam 1:3 bob",
		"/lost @bob 3:1":                                  "sam 1:3 bob or sam 3:1 bob ?winner",
		"/lost @bob 9:11 11:7 8:11":                       "sam 9:11 11:7 8:11 bob",
		"/draw @bob 2:2":                                  "sam 2:2 bob",
		"/draw @alice @bob 2:2":                           "alice 2:2 bob",
		"/draw @bob 2:1":                                  "ReasonContradiction",
		"/won @alice @bob 3:1":                            "ReasonNoVersus",
		"/won":                                            "ReasonEmpty",
		"/match @bob 3:1 and @carol 3:2":                  "sam 3:1 bob and sam 3:2 carol",
		"/match @bob 3:1; @carol 3:2":                     "sam 3:1 bob and sam 3:2 carol",
		"/match @bob 3:1 @carol 3:2":                      "sam 3:1 bob and sam 3:2 carol",
		"/match @bob 3:1 @carol 3:2 @dave 0:3":            "sam 3:1 bob and sam 3:2 carol and sam 0:3 dave",
		"/match @bob 11:7 11:9 @carol 9:11 7:11":          "sam 11:7 11:9 bob and sam 9:11 7:11 carol",
		"/match 3:1 @bob 3:2 @carol":                      "sam 3:1 bob and sam 3:2 carol or bob 3:1 3:2 carol ?results",
		"/match @alice @bob 3:1 @carol 3:2":               "alice 3:1 bob and sam 3:2 carol ?results",
		"/match @alice vs @bob 3:1 @carol vs @dave 3:2":   "alice 3:1 bob and carol 3:2 dave ?results",
		"/match @bob 3:1 beat @carol 3:2":                 "sam 3:1 bob and sam 3:2 carol or bob 3:1 3:2 carol ?results",
		"/match @alice 3:1 @bob":                          "alice 3:1 bob",
		"/match @bob 3:1\n@carol 3:2":                     "sam 3:1 bob and sam 3:2 carol",
		"/match @bob 3:1\n@carol 3:2\n":                   "sam 3:1 bob and sam 3:2 carol",
		"/match\n@alice @bob 3:1\n@carol vs @dave 0:3 gg": "alice 3:1 bob and carol 0:3 dave",
		"/match @bob 3:1\n@carol":                         "bob 3:1 carol",
		"/match @bob 3:1 11:5 9:11 11:7 11:9":             "sam 11:5 9:11 11:7 11:9 bob",
		"/match @bob 11:5 9:11 11:7 11:9 3:1":             "sam 11:5 9:11 11:7 11:9 bob",
		"/match @bob 3:1 (11:5 9:11 11:7 11:9)":           "sam 11:5 9:11 11:7 11:9 bob",
		"/match @bob 2:1 11:5 9:11 11:7 11:9":             "sam 11:5 9:11 11:7 11:9 bob or sam 2:1 11:5 9:11 11:7 11:9 bob ?total 2:1",
		"/match @bob 11:7 9:11 11:5":                      "sam 11:7 9:11 11:5 bob",
		"/match @bob 1:0 1:0":                             "sam 1:0 1:0 bob",
		"/match @bob 1:0 1:0 0:1":                         "sam 1:0 1:0 0:1 bob",
		"/match @a 10 @b 7 @c 3":                          "ReasonFreeForAll",
		"/match @a @b @c 10 7 3":                          "ReasonFreeForAll",
		"/match @a vs @b vs @c 10 7 3":                    "ReasonFreeForAll",
		"/match @a @b @c 10:7:3":                          "ReasonFreeForAll",
		// German
		"/match ich habe @bob 3:1 besiegt":     "sam 3:1 bob",
		"/match Sieg gegen @bob 3:1":           "sam 3:1 bob",
		"/match @alice gegen @bob 3:1":         "alice 3:1 bob",
		"/match ich gegen @bob 3 zu 1":         "sam 3:1 bob",
		"/match verloren gegen @bob 1:3":       "sam 1:3 bob",
		"/match @alice und ich gegen @bob 2:3": "alice sam 2:3 bob",
		"/match unentschieden mit @bob 2:2":    "sam 2:2 bob",
		// Spanish
		"/match gané a @bob 3:1":         "sam 3:1 bob",
		"/match yo contra @bob 3 a 1":    "sam 3:1 bob",
		"/match perdí con @bob 1-3":      "sam 1:3 bob",
		"/match @alice ganó a @bob 3:1":  "alice 3:1 bob",
		"/match empate con @bob 2:2":     "sam 2:2 bob",
		"/match @ana y yo contra @b 3:1": "ana sam 3:1 b",
		// Portuguese
		"/match @alice x @bob 3x1":         "alice 3:1 bob",
		"/match ganhei do @bob 3 x 1":      "sam 3:1 bob",
		"/match perdi para @bob 1x3":       "sam 1:3 bob",
		"/match empatou com @bob 2x2":      "sam 2:2 bob",
		"/match eu e @ana contra @bob 3:1": "sam ana 3:1 bob",
		// Russian
		"/match я выиграл у @bob 3:1":         "sam 3:1 bob",
		"/match проиграл @bob 1:3":            "sam 1:3 bob",
		"/match @alice против @bob 3:1":       "alice 3:1 bob",
		"/match ничья с @bob 2:2":             "sam 2:2 bob",
		"/match я и @anna против @bob 3 : 1":  "sam anna 3:1 bob",
		"/match счёт 3:1 против @bob сегодня": "sam 3:1 bob",
		// Ukrainian
		"/match я виграв у @bob 3:1":     "sam 3:1 bob",
		"/match програла @bob 1:3":       "sam 1:3 bob",
		"/match @alice проти @bob 3:1":   "alice 3:1 bob",
		"/match нічия з @bob 2:2":        "sam 2:2 bob",
		"/match я та @anna проти @b 3:1": "sam anna 3:1 b",
	} {
		c, ok := parseDoc(text)
		if !ok {
			t.Errorf("%q is no command", text)
			continue
		}
		if got := describeReadings(c, nil); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// describeReadings returns all readings of a report.
func describeReadings(c command.Command, names *command.Names) string {
	report, err := command.ParseMatch(c, sender(), &command.Person{UserID: 11, Username: "rita"}, names)
	if err != nil {
		var form *command.FormError
		if !errors.As(err, &form) {
			return err.Error()
		}
		return strings.TrimSpace(constant(form.Reason) + " " + quote(form.Detail))
	}
	var ways []string
	for _, r := range report.Readings {
		var matches []string
		for _, m := range r {
			matches = append(matches, describeMatch(m))
		}
		ways = append(ways, strings.Join(matches, " and "))
	}
	said := strings.Join(ways, " or ")
	if report.Doubt != command.DoubtNone {
		said += strings.TrimRight(" ?"+string(report.Doubt)+" "+report.Word, " ")
	}
	return said
}
