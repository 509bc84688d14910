package command_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// group returns the names of players, from a list separated by "/". A word with an @ is a player's
// username, and "was bob_one" after it gives a former username: "Bob @bobby was bob_one". A " -"
// after a name without a username means that the player has left. Ids start at 101.
func group(names string) *command.Names {
	var people []command.Person
	for name := range strings.SplitSeq(names, "/") {
		name, former, _ := strings.Cut(name, " was ")
		name, username, _ := strings.Cut(name, "@")
		name, left := strings.CutSuffix(name, " -")
		n := len(people) + 1
		people = append(people, command.Person{
			ID: ladder.UserID(100 + n), Username: strings.TrimSpace(username), Name: strings.TrimSpace(name),
			Player: ladder.PlayerID(n), Former: former, Left: left,
		})
	}
	return command.NewNames(people)
}

// TestPlainNames checks that plain names in reports mean the players of the group. The reports are
// sent by sam, in reply to rita.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ group, text, want string }{
		{"Bob/Alice", "/match bob 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match BOB 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match alice bob 3:1", "Alice 3:1 Bob"},
		{"Bob/Alice", "/match alice 3:1 bob", "Alice 3:1 Bob"},
		{"Bob/Alice", "/match @carol vs bob 3:1", "carol 3:1 Bob"},
		{"Bob/Alice", "/match bob @carol 3:1", "Bob 3:1 carol"},
		{"Bob/Alice", "/match bob vs alice 3:1", "Bob 3:1 Alice"},
		{"Bob/Alice", "/match bob-alice 3:1", "Bob 3:1 Alice"},
		{"Bob/Alice", "/match bob – alice 3:1", "Bob 3:1 Alice"},
		{"Bob/Alice", "/match bob: 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob:3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob, 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob - 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/match 3:1 bob", "sam 3:1 Bob"},
		{"Bob/Alice", "/match 3:1 vs bob!", "sam 3:1 Bob"},
		{"Bob/Alice", "/match (bob 3:1)", "sam 3:1 Bob"},
		{"Bob/Alice", "/match I beat bob 3:1", "sam 3:1 Bob"},
		{"Bob/Alice", "/lost bob 1:3", "sam 1:3 Bob"},
		{"Bob/Alice", "/match bob 3:1\nalice 3:2", "sam 3:1 Bob and sam 3:2 Alice"},
		{"Bob/Alice", "/match bob 3:1, alice 3:2", "sam 3:1 Bob and sam 3:2 Alice"},
		{"Bob/Alice/Carol/Dave", "/match alice,bob - carol,dave 2:1", "Alice Bob 2:1 Carol Dave"},
		{"Bob/Alice/Carol/Dave", "/match alice & bob vs carol & dave 2:1", "Alice Bob 2:1 Carol Dave"},
		{"Bob @bobby99", "/match bobby99 3:1", "sam 3:1 Bob"},
		{"Bob @bobby99", "/match @bobby99 3:1", "sam 3:1 bobby99"},
		// Names of several words.
		{"Big Bob/Bob/Big", "/match big bob 3:1", "sam 3:1 Big Bob"},
		{"Big Bob/Bob", "/match bob 3:1", "sam 3:1 Bob"},
		{"Big Bob/Bob", "/match big  bob, 3:1", "sam 3:1 Big Bob"},
		{"Big Bob/Bob", "/match Big\u00a0Bob vs bob 3:1", "Big Bob 3:1 Bob"},
		{"Jean-Luc", "/match jean luc 3:1", "sam 3:1 Jean-Luc"},
		{"Jean-Luc/Jean/Luc", "/match jean-luc 3:1", "sam 3:1 Jean-Luc"},
		{"Jean-Luc/Jean/Luc", "/match jean - luc 3:1", "Jean 3:1 Luc or Jean-Luc 3:1 Luc ?name jean"},
		{"J. R. Smith", "/match j.r. smith 3:1", "sam 3:1 J. R. Smith"},
		{"🔥 Bob 🔥", "/match bob 3:1", "sam 3:1 🔥 Bob 🔥"},
		{"Bob Smith (work)", "/match bob smith work 3:1", "sam 3:1 Bob Smith (work)"},
		{"Bob 2/Bob", "/match bob 2 3:1", "sam 3:1 Bob 2"},
		{"Bob 2/Bob", "/match bob 2:1", "sam 2:1 Bob or sam 2:1 Bob 2 ?name bob"},
		{"Bob 2/Bob", "/match bob 2 1", "sam 2:1 Bob or sam 2:1 Bob 2 ?name bob"},
		{"Bob 2/Bob", "/match bob 3:1", "sam 3:1 Bob or sam 3:1 Bob 2 ?name bob"},
		{"007", "/match 007 3:1", "!third_number 1"},
		// Names in quotes.
		{"007", `/match "007" 3:1`, "sam 3:1 007"},
		{"Big Bob", `/match "big bob" 3:1`, "sam 3:1 Big Bob"},
		{"Big Bob", `/match „big bob“: 3:1`, "sam 3:1 Big Bob"},
		{"Big Bob", `/match «Big Bob» 3:1`, "sam 3:1 Big Bob"},
		{"Big Bob", `/match “big bob” 3:1`, "sam 3:1 Big Bob"},
		{"Big Bob", `/match 'big bob' 3:1`, "sam 3:1 Big Bob"},
		{"Big Bob/Bob", `/match "bob" "big bob" 3:1`, "Bob 3:1 Big Bob"},
		{"Tom & Jerry/Tom/Jerry", `/match "tom & jerry" 3:1`, "sam 3:1 Tom & Jerry"},
		{"Me/Bob", `/match "me" bob 3:1`, "Me 3:1 Bob"},
		{"Bob", `/match bob "3:1"`, "sam 3:1 Bob"},
		{"Bob", `/match bob 3:1 "gg"`, "sam 3:1 Bob"},
		{"Bob/Bib", `/match "big bob" 3:1`, "sam 3:1 +big bob ?unknown_name big bob"},
		{"O'Brien", "/match o'brien 3:1", "sam 3:1 O'Brien"},
		{"O'Brien", "/match obrien 3:1", "sam 3:1 O'Brien"},
		{"Мар’яна", "/match мар'яна 3:1", "sam 3:1 Мар’яна"},
		// Names with accents, and names in other scripts.
		{"José", "/match jose 3:1", "sam 3:1 José"},
		{"Jose", "/match JOSÉ 3:1", "sam 3:1 Jose"},
		{"Strauß", "/match strauss 3:1", "sam 3:1 Strauß"},
		{"İbrahim", "/match ibrahim 3:1", "sam 3:1 İbrahim"},
		{"Işıl", "/match isil 3:1", "sam 3:1 Işıl"},
		{"Łukasz", "/match lukasz 3:1", "sam 3:1 Łukasz"},
		{"𝔅𝔬𝔟", "/match bob 3:1", "sam 3:1 𝔅𝔬𝔟"},
		{"Ｂｏｂ", "/match bob 3:1", "sam 3:1 Ｂｏｂ"},
		{"Алёна", "/match алена 3:1", "sam 3:1 Алёна"},
		{"Алена", "/match Алёна 3:1", "sam 3:1 Алена"},
		{"Маи/Май", "/match май 3:1", "sam 3:1 Май"},
		{"Маи/Май", "/match маи\u0306 3:1", "sam 3:1 Май"},
		{"Маи/Май", "/match маи 3:1", "sam 3:1 Маи"},
		{"Їн/Iн", "/match їн 3:1", "sam 3:1 Їн"},
		{"أحمد", "/match أحمد 3:1", "sam 3:1 أحمد"},
		{"山田", "/match 山田 3:1", "sam 3:1 山田"},
		{"がく/かく", "/match がく 3:1", "sam 3:1 がく"},
		// Names that are also words with a meaning in reports.
		{"Me/Bob", "/match me bob 3:1", "sam 3:1 Bob or Me 3:1 Bob ?name me"},
		{"Win/Bob", "/match win bob 3:1", "sam 3:1 Bob or sam 1:3 Bob or Win 3:1 Bob ?name win"},
		{"Win/Bob", "/match win against bob 3:1", "sam 3:1 Bob or Win 3:1 Bob ?name win"},
		{"Won Kim/Bob", "/match Won bob 3:1", "sam 3:1 Bob or Won Kim 3:1 Bob ?name Won"},
		{"Drew Smith/Bob", "/match Drew 3:1", "sam 3:1 rita or sam 1:3 rita or sam 3:1 Drew Smith ?name Drew"},
		{"Will/Bob", "/match will bob 3:1", "Will 3:1 Bob"},
		{"Max/A", "/match a max 3:1", "sam 3:1 Max or A 3:1 Max ?name a"},
		{"The Rock/Rock", "/match the rock 3:1", "sam 3:1 The Rock"},
		{"Sam @Sam/Bob", "/match sam bob 3:1", "sam 3:1 Bob"},
		// Several players with the same name.
		{"Bob/bob/Alice", "/match bob 3:1", "sam 3:1 Bob or sam 3:1 bob ?name bob"},
		{"Bob @one/X @bob", "/match bob 3:1", "sam 3:1 Bob or sam 3:1 X ?name bob"},
		{"Bob/BOB", "/match bob bob 3:1", "Bob 3:1 BOB or BOB 3:1 Bob ?name bob"},
		{"A/Bob", "/match a a a a a a a bob 3:1", "sam 3:1 Bob or A 3:1 Bob or A 1:3 Bob ?name a"},
		// There are too many interpretations to try them all.
		{"A/Bob", "/match @carol a a a a a a a bob 3:1", "carol 3:1 Bob ?name a"},
		// Words that are not names.
		{"Bob/Alice", "/match bob 3:1 :D", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob 3:1 ;-)", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob 3:1 twice", "!unexpected_word twice"},
		{"Bob/Alice", "/match bob 3:1 gestern", "sam 3:1 Bob"},
		{"Bob/Alice", "/match bob 3:1 учора", "sam 3:1 Bob"},
		// Incomplete, former and unknown names, and scores directly after a username.
		{"Carol @carol", "/match @carol3:1", "sam 3:1 carol"},
		{"Carol @carol", "/match @carol3:1 11:9", "sam 3:1 carol or sam 3:1 11:9 carol ?total 11:9"},
		{"Carol @carol/X @carol3", "/match @carol3:1", "!incomplete_score 1"},
		{"Bob/Alice", "/match bobb 3:1", "sam 3:1 Bob or sam 3:1 +bobb ?unknown_name bobb"},
		{"Bob Smith/Alice", "/match bob 3:1", "sam 3:1 Bob Smith"},
		{"Jürgen Groß/Alice", "/match jurgen 3:2", "sam 3:2 Jürgen Groß"},
		{"Bob/Bob Smith/Alice", "/match bob 3:1", "sam 3:1 Bob or sam 3:1 Bob Smith ?name bob"},
		{"Bob/Bob Smith/Alice", "/match bob smith 3:1", "sam 3:1 Bob Smith"},
		{"Bob -/Bob Smith/Alice", "/match bob 3:1", "sam 3:1 Bob Smith"}, // the other Bob has left
		{"Bob -/Alice", "/match bob 3:1", "sam 3:1 Bob"},
		{"Bob -/Bob Smith -", "/match bob 3:1", "sam 3:1 Bob or sam 3:1 Bob Smith ?name bob"},
		{"The Rock/Bob", "/match beat the bob 3:1", "sam 3:1 Bob"},
		{"Victoria Smith/Bob", "/match victoria 3:1", "sam 3:1 rita or sam 1:3 rita or sam 3:1 Victoria Smith ?name victoria"},
		{"Alex @sasha_1 was alex_one/Bob", "/match alex_one 3:1", "sam 3:1 Alex ?unknown_name alex_one"},
		{"Bob Smith/Alice", "/match smith 3:1", "sam 3:1 Bob Smith or sam 3:1 +smith ?unknown_name smith"},
		{"Robertson/Robrt/Robert Smith", "/match robert 3:1", "sam 3:1 Robert Smith"},
		{"Big Bob/Alice", "/match bigg bob 3:1", "sam 3:1 Big Bob or sam 3:1 +bigg bob ?unknown_name bigg bob"},
		{"Bob/Alice", "/match bobb vs alise 3:1", "Bob 3:1 Alice ?unknown_name bobb"},
		{"Bob/Alice", "/match bobb vs xena 3:1", "!unknown_name xena"},
		{"Bob/Alice", "/match zorro 3:1", "sam 3:1 +zorro ?unknown_name zorro"},
		{"Bob/Alice", "/match \"player 2\" 3:1", "!unknown_name player 2"},
		{"Bob/Alice", "/match \"tom, jerry\" 3:1", "!unknown_name tom, jerry"},
		{"Bob/Alice", "/match zorro vs xena 3:1", "!unknown_name zorro"},
		{"Bob/Alice", "/match bob tickled alice 3:1", "!unexpected_word tickled"},
		{"Bob/Alice", "/match bob three one", "!unexpected_word three"},
		{"Bob/Alice", "/match zorro", "!unexpected_word zorro"},
		{"Bob/Alice", "/match bob", "!no_score"},
		{"Bob/Alice", "/match bob bob 3:1", "!same_person Bob"},
		{"Bob/Alice", "/match 3:1", "sam 3:1 rita"},
		{"Rita @rita", "/match rita 3:1", "sam 3:1 rita"},
	} {
		c, ok := parseDoc(tc.text)
		if !ok {
			t.Errorf("%q is no command", tc.text)
			continue
		}
		if got := describeReadings(c, &command.Person{ID: 11, Username: "rita"}, group(tc.group)); got != tc.want {
			t.Errorf("%s: %q: %s, want %s", tc.group, tc.text, got, tc.want)
		}
	}
}

// TestNamesOfDays checks that a text that gives a day cannot be the name of a player. If a player
// is called by a day all the same, the bot asks where the name may be the day.
func TestNamesOfDays(t *testing.T) {
	t.Parallel()
	names := group("Sunday/May/Bob")
	for name, want := range map[string]bool{
		"Friday": false, "Freitag": false, "Пятница": false, "Viernes!": false, "domingo": false, "неділя": false,
		"May 5": false, "5 мая": false, "on Sat": false, "Bob Friday": false,
		"June": true, "Anna Freitag": true, "Mon Ami": true,
	} {
		equal(t, names.CanNamePlayer(name), want, "%s can name a player", name)
	}
	for text, want := range map[string]string{
		"/match @carol 4:1 sunday": "carol 4:1 Sunday or sam 4:1 carol ?name sunday",
		"/match sunday 4:1":        "sam 4:1 Sunday",
		"/match bob 4:1 friday":    "sam 4:1 Bob",
		"/match bob 4:1 may 5":     "sam 4:1 Bob",
		"/match may 5 1":           "sam 5:1 May",
	} {
		c, _ := parseDoc(text)
		equal(t, describeReadings(c, nil, names), want, "%s", text)
	}
}

// TestNamesInCases checks that reports recognize inflected names, and that a name in an oblique
// case is not the subject.
func TestNamesInCases(t *testing.T) {
	t.Parallel()
	const russian, ukrainian = "Дима/Аня/Сергей/Игорь/Олег/Павел/Саша/Мария/Дмитрий Козлов",
		"Оксана/Ольга/Вероніка/Сергій/Петро/Тарас/Ігор/Василь/Надія"
	for _, tc := range []struct{ group, text, want string }{
		{russian, "/match с Димой 3:1", "sam 3:1 Дима"},
		{russian, "/match у Димы 3:1", "sam 3:1 Дима or sam 1:3 Дима ?winner"},
		{russian, "/match против Сергея 3:1", "sam 3:1 Сергей"},
		{russian, "/match с Сергеем 3:1", "sam 3:1 Сергей"},
		{russian, "/match с Игорем 3:1", "sam 3:1 Игорь"},
		{russian, "/match выиграл у Олега 3:1", "sam 3:1 Олег"},
		{russian, "/match проиграл Павлу 1:3", "sam 1:3 Павел"},
		{russian, "/match с Сашей 3:1", "sam 3:1 Саша"},
		{russian, "/match с Марией 3:1", "sam 3:1 Мария"},
		{russian, "/match против Дмитрия 3:1", "sam 3:1 Дмитрий Козлов"},
		{russian, "/match с Дмитрием Козловым 3:1", "sam 3:1 Дмитрий Козлов"},
		{russian, "/match Дима обыграл Аню 3:1", "Дима 3:1 Аня"},
		{russian, "/match Аня обыграла Диму 3:1", "Аня 3:1 Дима"},
		{russian, "/match обыграл Диму 3:1", "sam 3:1 Дима"},
		{russian, "/match победа Димы 3:1", "sam 3:1 Дима or sam 1:3 Дима ?winner"},
		{russian, "/match Аню обыграл Дима 3:1", "Аня 1:3 Дима"},
		{russian, "/match Олегом 3:1 Дима", "Олег 3:1 Дима or Олег 1:3 Дима ?winner"},
		{ukrainian, "/match з Оксаною 3:1", "sam 3:1 Оксана"},
		{ukrainian, "/match програв Ользі 1:3", "sam 1:3 Ольга"},
		{ukrainian, "/match програв Вероніці 1:3", "sam 1:3 Вероніка"},
		{ukrainian, "/match з Сергієм 3:1", "sam 3:1 Сергій"},
		{ukrainian, "/match проти Петра 3:1", "sam 3:1 Петро"},
		{ukrainian, "/match програв Тарасові 1:3", "sam 1:3 Тарас"},
		{ukrainian, "/match з Ігорем 3:1", "sam 3:1 Ігор"},
		{ukrainian, "/match виграв у Василя 3:1", "sam 3:1 Василь"},
		{ukrainian, "/match з Надією 3:1", "sam 3:1 Надія"},
		// The bot asks who is meant if a name fits two players, or may be another person's. "Саші"
		// fits only Саша.
		{"Саша/Сашко", "/match проти Саші 3:1", "sam 3:1 Саша"},
		{"Женя/Жень", "/match с Женю 3:1", "sam 3:1 Женя or sam 3:1 Жень ?name Женю"},
		{"Александр/Александра", "/match Александра 3:1", "sam 3:1 Александра or sam 3:1 Александр ?name Александра"},
		{"Александр/Bob", "/match Александра 3:1", "sam 3:1 Александр or sam 3:1 +Александра ?unknown_name Александра"},
		{"Ян/Bob", "/match Яна 3:1", "sam 3:1 Ян or sam 3:1 +Яна ?unknown_name Яна"},
		{"Bob/Alice", "/match Bobом 3:1", "sam 3:1 Bob or sam 3:1 +Bobом ?unknown_name Bobом"},
	} {
		c, _ := parseDoc(tc.text)
		if got := describeReadings(c, nil, group(tc.group)); got != tc.want {
			t.Errorf("%s: %q: %s, want %s", tc.group, tc.text, got, tc.want)
		}
	}
}

// TestUnmarkedMentions checks that a name after an @ is read as a name even if Telegram has not
// marked it as a mention.
func TestUnmarkedMentions(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"@bob 3:1": "sam 3:1 Bob", "@Дима 3:1": "sam 3:1 Дима", "@alice @bob 3:1": "Alice 3:1 Bob", "@zed 3:1": "!unknown_mention @zed",
	} {
		equal(t, describeReadings(command.Command{Name: "match", Args: args}, nil, group("Bob/Дима/Alice")),
			want, "%s", args)
	}
}

// TestNamed checks that a plain name can mean the sender, the author of the replied-to message, or
// a player of the group.
func TestNamed(t *testing.T) {
	t.Parallel()
	c, _ := parseDoc("/match @alice rita vs bob sam 3:1")
	names := command.NewNames([]command.Person{
		{ID: 9, Username: "Sam", Name: "Sam", Player: 1}, {ID: 11, Name: "Rita", Player: 2}, {ID: 12, Name: "Bob", Player: 3},
		{ID: 13, Username: "alice", Player: 4},
	})
	report, err := command.ParseMatch(by(c, sender(), &command.Person{ID: 11, Name: "Rita R."}), names)
	m, err2 := command.Certain(report)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	want := [2][]command.Person{
		{{Username: "alice"}, {ID: 11, Name: "Rita R."}},
		{{ID: 12, Name: "Bob", Player: 3}, {ID: 9, Username: "Sam", Name: "Sam S."}},
	}
	if got := [2][]command.Person{m.A, m.B}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMayNamePlayers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"/match @bob 3:1":           false,
		"/match @alice @bob 3 1":    false,
		"/match @bob 3x1, 11х7 1×2": false,
		"/match @alice - @bob 3:1!": false,
		"/match 3:1":                false,
		"/match":                    false,
		"/match @bob 3️⃣:1️⃣":       false,
		"/match @bob 3:1 🏆":         false,
		"/match bob 3:1":            true,
		"/match @alice vs @bob 3:1": true,
		"/match @bob 3:1 gg":        true,
		`/match "007" 3:1`:          true,
	} {
		c, _ := parseDoc(text)
		equal(t, c.MayNamePlayers(), want, "%q", text)
	}
	for text, want := range map[string]bool{
		"/match @bob 3:1":            false,
		"/match @bob 3:1 gg":         false,
		"/match I beat @bob 3 to 1!": false,
		"/match me vs @bob 3:1 GG":   false,
		"/match bob 3:1":             true,
		"/match @bob 3:1 gg zorro":   true,
		"/match @bob den 3:1":        true,
		`/match "me" @bob 3:1`:       true,
		"/match won @bob 3:1":        false,
		"/match Won @bob 3:1":        true,
		"/match Drew @bob 3:1":       true,
	} {
		c, _ := parseDoc(text)
		equal(t, c.LikelyNamesPlayers(), want, "likely in %q", text)
	}
}
