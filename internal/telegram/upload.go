package telegram

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime/multipart"
	"slices"
)

// File is a file to upload.
type File struct {
	Field   string // the parameter that takes the file, or the name after attach:// in a parameter
	Name    string
	Content []byte
}

// encode encodes params as JSON or, if there are files, as a multipart form. In a form, strings are
// written without quotes, and all other values as JSON.
func encode(params any, files []File) (body []byte, contentType string, err error) {
	encoded, err := json.Marshal(params)
	if err != nil || len(files) == 0 {
		return encoded, "application/json", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		_ = json.Unmarshal(fields[name], &text) // leaves other values as they are
		_ = w.WriteField(name, text)            // writing to memory never fails
	}
	for _, file := range files {
		part, _ := w.CreateFormFile(file.Field, file.Name)
		_, _ = part.Write(file.Content)
	}
	err = w.Close()
	return out.Bytes(), w.FormDataContentType(), err
}
