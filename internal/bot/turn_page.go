package bot

import (
	"context"
	"slices"
	"strconv"
)

// turning returns the handler of the buttons with a code that replace a view by another page or another view. They edit only
// messages that have buttons with this code: forged data must not replace the card of a match. parse reads the arguments of a
// button; it accepts only what the bot writes there.
func turning[A any](
	code string, parse func(args string) (A, bool), turn func(*Router, context.Context, press, A) error,
) func(*Router, context.Context, press) error {
	isTurn := func(data string) bool {
		args, ok := argsOf(code, data)
		if ok {
			_, ok = parse(args)
		}
		return ok
	}
	return func(r *Router, ctx context.Context, p press) error {
		args, ok := parse(p.args)
		if !ok || !slices.ContainsFunc(r.buttonsBelow(p.query.Message), isTurn) {
			return r.unknownButton(ctx, p.origin)
		}
		return turn(r, ctx, p, args)
	}
}

// turnRow returns the row with the buttons that show the pages before and after this one, none for a page that has neither.
// The data of a button is empty if there is no such page.
func turnRow(before, after string) [][]button {
	var row []button
	if before != "" {
		row = append(row, button{text: "‹", data: before})
	}
	if after != "" {
		row = append(row, button{text: "›", data: after})
	}
	if row == nil {
		return nil
	}
	return [][]button{row}
}

// parseID reads the number of a player, a person or a match, in the form that strconv.FormatInt writes. 0 stands for none.
func parseID[I ~int64](text string) (I, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return I(n), err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
