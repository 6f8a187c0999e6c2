package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/tidwall/gjson"

	"pointsman/gateway/marathon"
)

// marathons is where the debug marathons are: among the HTTP door's routes, which
// the control socket serves, too.
const marathons = "/v1/debug/marathon"

// BeginMarathon begins a debug marathon: {"tasks": […]}. A *RefusedError says what
// is wrong with it.
func (c *Client) BeginMarathon(ctx context.Context, request []byte) (*marathon.Job, error) {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"pointsman-marathon"}, "X-Pointsman-Door": {"cli"}}
	return viaDoor[*marathon.Job](ctx, c, http.MethodPost, marathons, header, request)
}

// Marathon returns a debug marathon as it stands.
func (c *Client) Marathon(ctx context.Context, id string) (*marathon.Job, error) {
	return viaDoor[*marathon.Job](ctx, c, http.MethodGet, marathons+"/"+url.PathEscape(id), nil, nil)
}

// Marathons returns the newest debug marathons, the newest first, without their
// answers; at most 100.
func (c *Client) Marathons(ctx context.Context) ([]marathon.Job, error) {
	list, err := viaDoor[struct {
		Jobs []marathon.Job `json:"jobs"`
	}](ctx, c, http.MethodGet, marathons, nil, nil)
	return list.Jobs, err
}

// CancelMarathon ends a debug marathon for good. Of one that was over, it is told
// as it stands.
func (c *Client) CancelMarathon(ctx context.Context, id string) (*marathon.Job, error) {
	return viaDoor[*marathon.Job](ctx, c, http.MethodPost, marathons+"/"+url.PathEscape(id)+"/cancel", nil, nil)
}

// viaDoor makes one request to a route of the HTTP door's and returns its reply. A
// *RefusedError has the message of the door's error.
func viaDoor[Reply any](ctx context.Context, c *Client, method, path string, header http.Header, body []byte) (Reply, error) {
	var reply Reply
	response, err := c.Do(ctx, method, path, header, body)
	if err != nil {
		return reply, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return reply, fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		refused := &RefusedError{Status: response.StatusCode, Message: gjson.GetBytes(data, "error.message").String()}
		if refused.Message == "" {
			refused.Message = fmt.Sprintf("the running Pointsman answered %d: %.200s", response.StatusCode, data)
		}
		return reply, refused
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return reply, fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	return reply, nil
}
