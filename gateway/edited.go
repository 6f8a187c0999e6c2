package gateway

import (
	"encoding/json"

	"pointsman/approvals"
	"pointsman/gateway/hooks"
	"pointsman/gateway/tools"
)

// CheckEdited says why a request's arguments, as a person has edited them, do not
// fit its tool's schema; nil when they do. The call looks again before it runs.
func (g *Gateway) CheckEdited(req approvals.Request, arguments json.RawMessage) error {
	if req.Door == "hook" {
		return hooks.CheckEdited(req, arguments)
	}
	entry := g.catalogue.Load().Lookup(req.Offered)
	if entry == nil {
		return nil // it has gone meanwhile, and the call says so
	}
	arguments, err := tools.NormalizeArguments(string(arguments))
	if err != nil {
		return err
	}
	return entry.Validate(arguments)
}
