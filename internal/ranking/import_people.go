package ranking

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/transfer"
)

// namedPeople are the people of a file.
type namedPeople struct {
	people []command.Person
	texts  []transfer.Person // how the file names each of them
	index  map[string]int    // maps the names of the file to indexes of people, -1 to leave out
	all    []transfer.Person // all names, for a file of people
}

// identify finds out who the names of a file are: what the file of people says, or else the player
// with an equal name or username. If it is not settled for all, it sets r.Unknown.
func (i *Importer) identify(f ImportFile, r *ImportReport) namedPeople {
	called, names := i.byName()
	decided := make(map[string]string)
	for name, who := range f.People {
		decided[f.keyOf(name)] = who
	}
	named := namedPeople{index: make(map[string]int)}
	places := make(map[string]int) // in all, by keyOf
	var all []transfer.Person
	var settled []*command.Person // nil to leave out, or if it is not settled
	isSettled := true
	for _, name := range namesOf(f.File, named.index) {
		key := f.keyOf(name)
		if at, ok := places[key]; ok {
			all[at].Matches += named.index[name]
			continue
		}
		places[key] = len(all)
		text := transfer.Person{Name: name, Who: decided[key], Matches: named.index[name]}
		var person *command.Person
		same := called[foldOr(name)]
		if f.Accounts != nil && strings.HasPrefix(name, "@") { // only usernames
			isOther := func(p command.Person) bool { return !strings.EqualFold("@"+p.Username, name) }
			same = slices.DeleteFunc(slices.Clone(same), isOther)
		}
		account, isAccount := f.Accounts[name]
		// Names pass on to other people, so what was typed long ago is only likely to mean them.
		isOpen := text.Who == "" && f.Accounts != nil && !isAccount && !f.Guests
		switch {
		case text.Who != "":
		case isAccount:
			text.Who = fmt.Sprint(account)
		case len(same) == 1:
			person = &same[0]
			text.Who = whoIs(*person)
		case f.Likely[name] != 0:
			text.Who = fmt.Sprint(f.Likely[name])
		case f.Guests:
			text.Who = transfer.Guest
		default:
			isOpen = true
			similar := append(same, i.similar(names, name)...)
			if len(similar) == 0 {
				text.Who = transfer.Guest
			}
			text.Similar = listed(similar)
		}
		if isOpen {
			isSettled, text.Open, person = false, true, nil
		} else if person == nil && !strings.EqualFold(text.Who, transfer.LeaveOut) {
			if person = i.personOf(text, called, f.Members); person == nil {
				r.Faults = append(r.Faults, PersonFault{Name: name, Who: text.Who})
			}
		}
		all, settled = append(all, text), append(settled, person)
	}
	if named.all = all; !isSettled {
		r.Unknown = all
	}
	known := make(map[command.Person]int)
	at := make([]int, len(all))
	for n, person := range settled {
		if at[n] = -1; person == nil {
			continue
		}
		same := command.Person{ID: person.ID, Player: person.Player, Username: strings.ToLower(person.Username)}
		if person.Player != 0 {
			*person = command.Person{Player: person.Player}
			same = *person
		} else if person.IsNewGuest() {
			same.Name = foldOr(person.Name)
		}
		if _, ok := known[same]; !ok {
			known[same] = len(named.people)
			named.people, named.texts = append(named.people, *person), append(named.texts, all[n])
		}
		at[n] = known[same]
	}
	for name := range named.index {
		named.index[name] = at[places[f.keyOf(name)]]
	}
	return named
}

// namesOf returns the names in a file, in the order in which they first occur, and sets in count
// how many matches each has.
func namesOf(f transfer.File, count map[string]int) (names []string) {
	for _, s := range f.Starts {
		names, count[s.Player] = append(names, s.Player), 0
	}
	for _, r := range f.Rows {
		for _, side := range r.Sides {
			for _, name := range side {
				if count[name]++; count[name] == 1 {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// keyOf returns the same for all names of the file that are treated as equal.
func (f ImportFile) keyOf(name string) string {
	switch _, isAccount := f.Accounts[name]; {
	case isAccount:
		return name
	case f.Accounts != nil && strings.HasPrefix(name, "@"): // another person may have the name without the @
		return strings.ToLower(name)
	}
	return foldOr(name)
}

// foldOr returns the same for all names treated as equal.
func foldOr(name string) string { return cmp.Or(command.FoldName(firstLast(name)), name) }

// firstLast returns a name in the form "Last,First" with the first name first, and other names
// unchanged.
func firstLast(name string) string {
	last, first, ok := strings.Cut(name, ",")
	if !ok || strings.Contains(first, ",") {
		return name
	}
	return strings.TrimSpace(strings.TrimSpace(first) + " " + strings.TrimSpace(last))
}

// byName returns the players of the group by the forms of their names and usernames that foldOr
// returns.
func (i *Importer) byName() (map[string][]command.Person, *command.Names) {
	called := make(map[string][]command.Person)
	people := make([]command.Person, len(i.snap.Everybody))
	for n, k := range i.snap.Everybody {
		p := k.person()
		people[n] = p
		for _, name := range []string{p.Name, p.Shown, p.Username} {
			isSame := func(o command.Person) bool {
				return o.Player == p.Player || cmp.Or(o.CountsAs, o.Player) == cmp.Or(p.CountsAs, p.Player)
			}
			if fold := foldOr(name); name != "" && !slices.ContainsFunc(called[fold], isSame) {
				called[fold] = append(called[fold], p)
			}
		}
	}
	return called, command.NewNames(people)
}

// similar returns the players whom a name may mean.
func (i *Importer) similar(names *command.Names, name string) []command.Person {
	found := names.Like(name)
	if holder, ok := names.Holder(name); ok && !slices.ContainsFunc(found, holder.IsSame) {
		found = slices.Insert(found, 0, holder)
	}
	return found
}

// personOf returns the person whom the file of people gives for a name, nil if that is unreadable.
// members has the display names of accounts.
func (i *Importer) personOf(
	t transfer.Person, called map[string][]command.Person, members map[int64]string,
) *command.Person {
	with := func(is func(command.Person) bool) *command.Person {
		for _, k := range i.snap.Everybody {
			if p := k.person(); is(p) {
				return &p
			}
		}
		return nil
	}
	if username, ok := strings.CutPrefix(t.Who, "@"); ok {
		other := strings.Trim(strings.ToLower(username), "abcdefghijklmnopqrstuvwxyz0123456789_")
		if username == "" || len(username) > command.MaxUsername || other != "" {
			return nil
		}
		return cmp.Or(with(func(p command.Person) bool { return strings.EqualFold(p.Username, username) }),
			&command.Person{Username: username, Earlier: true})
	}
	if id, err := strconv.ParseInt(t.Who, 10, 64); err == nil && id > 0 {
		name, ok := members[id]
		if !ok {
			name = t.Name
		}
		return cmp.Or(with(func(p command.Person) bool { return p.ID == ladder.UserID(id) }),
			&command.Person{ID: ladder.UserID(id), Name: cmp.Or(firstLast(name), Nameless), Earlier: true})
	}
	word, name, _ := strings.Cut(t.Who, " ")
	if !strings.EqualFold(word, transfer.Guest) || strings.ContainsFunc(name, transfer.IsControl) {
		return nil
	}
	name = cmp.Or(strings.TrimSpace(name), firstLast(strings.TrimPrefix(t.Name, "@")))
	for _, p := range called[foldOr(name)] {
		if p.IsGuest() {
			return &p
		}
	}
	return new(command.NewGuest(name))
}

// whoIs returns a player in the form of transfer.Person.Who.
func whoIs(p command.Person) string {
	switch {
	case p.Username != "":
		return "@" + p.Username
	case p.ID != 0:
		return fmt.Sprint(p.ID)
	default:
		return transfer.Guest + " " + p.Name
	}
}

// listed returns players for the column of similar names.
func listed(people []command.Person) string {
	texts := make([]string, len(people))
	for i, p := range people {
		if texts[i] = whoIs(p); !p.IsGuest() {
			texts[i] += " (" + p.Name + ")"
		}
	}
	return strings.Join(slices.Compact(texts), "; ")
}

// refuse adds to r.Faults the people who cannot take part.
func (n namedPeople) refuse(snap *Snapshot, r *ImportReport) {
	for i, k := range snap.People {
		f := PersonFault{Name: n.texts[i].Name, Who: n.texts[i].Who}
		refusal, isRefused := snap.refuseGuest(n.people[i], k).(Refusal)
		switch {
		case isRefused:
			f.Code, f.Free = refusal.Code, refusal.Name
		case n.people[i].IsNewGuest() && !k.IsPlayer() && command.NamesSeveral(n.people[i].Name):
			f.Code = GuestUnusable
		case k.Out:
			f.Code = PlayerOut
		case k.Player != nil:
			continue
		}
		r.Faults = append(r.Faults, f)
	}
}
