package bot

import (
	"context"
	"errors"
	"io"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

const nameMyData = "mydata"

// MyData is a notice whose document is all that is stored about a person. The document is made when
// the notice is sent.
type MyData struct {
	User     ladder.UserID `json:"user"`
	Username string        `json:"username,omitempty"` // in case the person is no player
}

var _ = notice.Register[MyData](notice.Kind{Name: "my_data", Purpose: notice.Answer, Alone: true})

func myData(_ *Router, req request) ranking.Operation {
	return ranking.Say{Notice: MyData{User: req.origin.Sender.ID, Username: req.origin.Sender.Username}}
}

var _ = shows(view[MyData]{text: words.myData, document: myDataFile})

func (w words) myData(MyData) string { return w.Text("mydata.caption", nil) }

func myDataFile(n MyData, _ words) makeDocument {
	return func(ctx context.Context, s *Sender, into io.Writer) (name string, err error) {
		if s.exports == nil {
			return "", errors.New("no source of exports")
		}
		who := command.Person{ID: n.User, Username: n.Username}
		return "elobot-mydata" + s.client.Now().UTC().Format("-2006-01-02.json"), s.exports.MyData(ctx, who, into)
	}
}
