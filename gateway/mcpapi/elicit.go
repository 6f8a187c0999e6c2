package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pointsman/approvals"
)

// Elicitation is an approver that asks the user of the MCP client whose call it
// is, by a form. Where there is no such client, or it shows no forms, there is
// nobody to ask. It is for a gateway without a desk.
type Elicitation struct{}

// Ask shows the call in a form. Only a clear yes allows it.
func (Elicitation) Ask(ctx context.Context, req approvals.Request) (approvals.Decision, error) {
	p, ok := ctx.Value(peerKey{}).(*peer)
	if !ok || !p.elicits() {
		return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByNone, Reason: "nobody to ask: no Pointsman is running, and this client shows no forms"}, nil
	}
	params, err := json.Marshal(map[string]any{"mode": "form", "message": describe(req), "requestedSchema": raw(formSchema)})
	if err != nil {
		return approvals.Decision{}, fmt.Errorf("describing a call: %w", err)
	}
	body, err := p.ask(ctx, origin{}, methodElicit, params)
	if err != nil {
		return approvals.Decision{}, fmt.Errorf("asking the client's user: %w", err)
	}
	return verdict(body), nil
}

// formSchema is the form. Nothing is chosen before somebody chooses.
const formSchema = `{"type":"object","properties":{` +
	`"decision":{"type":"string","title":"Decision","description":"May this call run?","enum":["approve","deny"]},` +
	`"reason":{"type":"string","title":"Reason","description":"Why not; the model is told"}},"required":["decision"]}`

// verdict reads what the user chose. What is unclear is a denial.
func verdict(body raw) approvals.Decision {
	var form struct {
		Action  string `json:"action"`
		Content struct {
			Decision string `json:"decision"`
			Reason   string `json:"reason"`
		} `json:"content"`
	}
	d := approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByElicitation}
	if err := json.Unmarshal(body, &form); err != nil {
		d.Reason = "the form's answer could not be read"
		return d
	}
	d.Reason = strings.TrimSpace(form.Content.Reason)
	switch {
	case form.Action == "accept" && form.Content.Decision == "approve":
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByElicitation}
	case form.Action == "accept" && form.Content.Decision == "deny", form.Action == "decline":
		return d
	case form.Action == "cancel":
		d.Reason = "the person closed the form without an answer"
	default:
		d.Reason = "no clear answer"
	}
	return d
}

// describe returns what a person must know to answer, with nothing hidden.
func describe(req approvals.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The tool %s of the server %s wants to run (%s).\n", approvals.Visible(req.Tool), approvals.Visible(req.Server), approvals.Visible(string(req.Class)))
	for _, e := range req.Evidence {
		fmt.Fprintf(&b, "Because %s.\n", approvals.Visible(e))
	}
	fmt.Fprintf(&b, "Asked since %s.\n\nArguments:\n%s\n", approvals.Visible(req.Reason), approvals.VisibleJSON(req.Arguments))
	if req.DefinitionChange != "" {
		fmt.Fprintf(&b, "\nThe tool's definition has changed:\n%s\n", approvals.VisibleText(req.DefinitionChange))
	}
	return b.String()
}
