package bot

import "testing"

func TestReadUpdate(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		`{"update_id":7,"message":{"chat":{"id":-100},"from":{"id":5}}}`:                             -100,
		`{"update_id":7,"edited_message":{"chat":{"id":-100}}}`:                                      -100,
		`{"update_id":7,"my_chat_member":{"chat":{"id":-100},"from":{"id":5}}}`:                      -100,
		`{"update_id":7,"chat_member":{"chat":{"id":-100},"from":{"id":5}}}`:                         -100,
		`{"update_id":7,"callback_query":{"id":"1","from":{"id":5},"message":{"chat":{"id":-100}}}}`: -100,
		`{"update_id":7,"callback_query":{"id":"1","from":{"id":5},"inline_message_id":"x"}}`:        5,
		`{"update_id":7,"callback_query":{"id":"1","from":{"id":5},"message":null}}`:                 5,
		`{"update_id":7,"message":{"chat":{"id":"many"}},"my_chat_member":{"chat":{"id":-100}}}`:     -100,
		`{"update_id":7,"message":"text"}`:                                                           0,
		`{"update_id":7,"of_the_future":{"chat":{"id":-100}}}`:                                       0,
		`{"update_id":7}`: 0,
	} {
		u, err := ReadUpdate([]byte(raw))
		if err != nil || u.ID != 7 || u.Lane != want || string(u.Raw) != raw {
			t.Errorf("%s: update %+v, error %v", raw, u, err)
		}
	}
	for _, raw := range []string{
		``, `{`, `[]`, `{}`, `null`, `"text"`, `12`, `{"update_id":"7"}`, `{"update_id":null}`, `{"update_id":0}`,
		`{"message":{"chat":{"id":-100}}}`,
	} {
		if u, err := ReadUpdate([]byte(raw)); err == nil {
			t.Errorf("%q: update %+v", raw, u)
		}
	}
}

// TestDatesOfUpdates checks that an update with an edit has the date of the edit, and a press has
// none.
func TestDatesOfUpdates(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		`{"update_id":7,"message":{"date":1700000000}}`:                               1700000000,
		`{"update_id":7,"edited_message":{"date":1700000000,"edit_date":1700000009}}`: 1700000009,
		`{"update_id":7,"my_chat_member":{"date":1700000000}}`:                        1700000000,
		`{"update_id":7,"chat_member":{"date":1700000000}}`:                           1700000000,
		`{"update_id":7,"callback_query":{"id":"1","message":{"date":1700000000}}}`:   0,
		`{"update_id":7,"message":{"date":"today"}}`:                                  0,
		`{"update_id":7,"message":{"date":-5}}`:                                       0,
		`{"update_id":7,"of_the_future":{"date":1700000000}}`:                         0,
	} {
		u, err := ReadUpdate([]byte(raw))
		if sent := u.SentAt; err != nil || sent.IsZero() != (want == 0) || want != 0 && sent.Unix() != want {
			t.Errorf("%s: sent at %v, error %v", raw, sent, err)
		}
	}
}

// TestDocuments checks that a message has its document, and its replied-to message too. The caption
// is the text.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const file = `"document":{"file_id":"BQ","file_name":"x.csv","mime_type":"text/csv","file_size":5000000000}`
	u, err := ReadUpdate([]byte(`{"update_id":7,"message":{` + file + `,"caption":"/match @bob 3:1",
		"reply_to_message":{` + file + `}}}`))
	m := u.Content.(update).Message
	want := document{ID: "BQ", Name: "x.csv", MIME: "text/csv", Size: 5_000_000_000}
	if err != nil || value(m.Document) != want || value(m.ReplyTo.Document) != want || m.Text != "/match @bob 3:1" {
		t.Errorf("got %+v, %v", m, err)
	}
}
