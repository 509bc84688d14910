package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"elobot/internal/ranking"
)

// Download returns the content of a file that a person has sent to the bot. limit is the maximum
// size in bytes. The errors are ranking.ErrFileTooLarge, ranking.ErrFileNotServed and those of
// Call. They contain neither the address of the file nor the secret part of the token.
func (c *Client) Download(ctx context.Context, fileID string, limit int64) ([]byte, error) {
	var file struct {
		Path string `json:"file_path"`
		Size int64  `json:"file_size"` // 0 if unknown
	}
	err := c.Call(ctx, "getFile", map[string]string{"file_id": fileID}, &file)
	if api, ok := errors.AsType[*APIError](err); ok && api.Says("file is too big") || file.Size > limit {
		return nil, fmt.Errorf("download: %w", ranking.ErrFileTooLarge)
	}
	switch {
	case err != nil:
		return nil, err
	case file.Path == "":
		return nil, fmt.Errorf("%w of getFile: no path", ErrOddResult)
	case strings.HasPrefix(file.Path, "/") || strings.Contains(file.Path, `:\`):
		return nil, fmt.Errorf("download: %w", ranking.ErrFileNotServed)
	}
	const method = "download"
	address := c.files + (&url.URL{Path: file.Path}).EscapedPath()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", method, c.withoutSecret(withoutURL(err)))
	}
	status, content, err := c.roundTrip(req, method, limit)
	switch {
	case status != 0 && status != http.StatusOK:
		return nil, &APIError{Method: method, Status: status}
	case errors.Is(err, errTooLarge):
		return nil, fmt.Errorf("download: %w", ranking.ErrFileTooLarge)
	case err != nil:
		return nil, err
	case int64(len(content)) < file.Size:
		return nil, &ConnectionError{Method: method, Connected: true, Err: io.ErrUnexpectedEOF}
	}
	return content, nil
}
