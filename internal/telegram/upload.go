package telegram

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"slices"
)

// File is a file to upload.
type File struct {
	Field   string // the parameter that it is the value of, or its name in attach://
	Name    string
	Content []byte
}

// Upload is Call with a file.
func (c *Client) Upload(ctx context.Context, method string, params any, file File) (json.RawMessage, error) {
	body, contentType, err := form(params, file)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	return c.post(ctx, method, body, contentType)
}

// form encodes parameters and a file as a form. Texts are fields as they are, all else is JSON.
func form(params any, file File) (body []byte, contentType string, err error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		if json.Unmarshal(fields[name], &text) != nil {
			text = string(fields[name])
		}
		if err := w.WriteField(name, text); err != nil {
			return nil, "", err
		}
	}
	part, err := w.CreateFormFile(file.Field, file.Name)
	if err == nil {
		_, err = part.Write(file.Content)
	}
	if err := cmp.Or(err, w.Close()); err != nil {
		return nil, "", err
	}
	return out.Bytes(), w.FormDataContentType(), nil
}
