package bot

import (
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const nameForget = "forgetme"

func pressForget(*Router, *press, struct{}) ranking.Operation { return ranking.ForgetMe{Sure: true} }

var _ = shows(view[ranking.ForgetPrompt]{text: words.forgetPrompt, buttons: forgetPromptButtons})

func (w words) forgetPrompt(ranking.ForgetPrompt) string { return w.Text("forget.prompt", nil) }

func forgetPromptButtons(_ ranking.ForgetPrompt, _ outbox.Item, w words) [][]button {
	return [][]button{{{text: w.Text("button.forget", nil), data: callbackData(forgetCode, "")}}}
}

var _ = shows(view[ranking.ForgetDone]{text: words.forgetDone})

func (w words) forgetDone(ranking.ForgetDone) string { return w.Text("forget.done", nil) }
