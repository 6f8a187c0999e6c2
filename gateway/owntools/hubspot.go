package owntools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

const (
	hubspotTimeout = 30 * time.Second
	maxReply       = 1 << 20 // bytes
)

// tracked tells what came of a lead.
type tracked struct {
	Sent       bool            `json:"sent"`
	Status     int             `json:"status"`     // HTTP
	Configured *bool           `json:"configured"` // HubSpot is, where the application runs; null when it does not tell
	Reply      json.RawMessage `json:"reply"`      // the application's
}

// hubspotTool posts leads to an application of the user's, which holds the
// credential for HubSpot; we have none.
func hubspotTool(base string, client *http.Client, version string) *tool {
	url := strings.TrimRight(base, "/") + "/api/hubspot/conversation"
	return &tool{
		name: "hubspot_track", title: "Send a lead to HubSpot", class: approvals.OpenWorld, openWorld: true,
		description: "Sends a lead and what was said to HubSpot, through the configured application. Tells whether HubSpot is configured there.",
		input: `{"type":"object","properties":{` +
			`"email":{"type":"string","minLength":3,"description":"The lead's address."},` +
			`"name":{"type":"string"},"company":{"type":"string"},"phone":{"type":"string"},` +
			`"message":{"type":"string","description":"What the lead wants, or what was said."},` +
			`"source":{"type":"string","description":"Where the lead comes from."},` +
			`"properties":{"type":"object","description":"Further properties of the contact."}},` +
			`"required":["email"],"additionalProperties":false}`,
		run: func(ctx context.Context, arguments json.RawMessage, _ func(string)) (any, error) {
			return track(ctx, client, url, version, arguments)
		},
	}
}

// track posts one lead. It is sent once, whatever comes of it, and to nowhere else.
func track(ctx context.Context, client *http.Client, url, version string, lead json.RawMessage) (*tracked, error) {
	ctx, cancel := context.WithTimeout(ctx, hubspotTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(lead))
	if err != nil {
		return nil, fmt.Errorf("posting a lead to %s: %w; correct integrations.hubspot.base_url", url, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pointsman/"+version)
	staying := *client
	staying.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := staying.Do(req)
	if err != nil {
		return nil, fmt.Errorf("posting a lead: %w", err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("reading the reply of %s to a lead: %w", url, err)
	}
	return outcome(resp.StatusCode, reply)
}

// outcome reads the application's reply.
func outcome(status int, reply []byte) (*tracked, error) {
	t := &tracked{Sent: status/100 == 2, Status: status, Reply: json.RawMessage("null")}
	if json.Valid(reply) {
		t.Reply = reply
	} else if len(reply) > 0 {
		t.Reply, _ = json.Marshal(strings.ToValidUTF8(string(reply), "\uFFFD")) // strings always encode
	}
	for _, key := range []string{"configured", "hubspot_configured", "hubspotConfigured"} {
		if says := gjson.GetBytes(reply, key); says.IsBool() {
			configured := says.Bool()
			t.Configured = &configured
		}
	}
	unconfigured := t.Configured != nil && !*t.Configured
	switch {
	case unconfigured:
		t.Sent = false
	case !t.Sent:
		return nil, fmt.Errorf("the application answered %s: %s", http.StatusText(status), t.Reply)
	case t.Configured == nil:
		t.Configured = &t.Sent // it took the lead
	}
	return t, nil
}
