package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pointsman/gateway/calls"
	"pointsman/gateway/cut"
	"pointsman/gateway/journal"
	"pointsman/gateway/tools"
	"pointsman/gateway/tools/schema"
)

const (
	foundAtOnce   = 10  // tools that one search brings
	foundAbout    = 200 // characters of the description of each
	namedInSearch = 40  // servers that the searching tool's description names
)

// findFunction is tools.FindTools as it is offered to a model beside a part of
// the catalogue's tools.
func findFunction(catalogue *tools.Catalogue) []byte {
	description := fmt.Sprintf("Find further tools. Of %d tools, from %s, only those listed here are known to you yet. "+
		"When none of them does what is needed, search for one that does before you say that it cannot be done: what is found can be called from then on.",
		len(catalogue.Usable()), serversOf(catalogue))
	out, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
		"name": tools.FindTools, "description": cut.To(description, schema.MaxDescription), "parameters": json.RawMessage(
			`{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words, with the name of its server or program if you know it."}},"required":["query"]}`),
	}})
	if err != nil { // plain values
		panic(err)
	}
	return out
}

// serversOf names the servers of the usable tools, with how many each has.
func serversOf(catalogue *tools.Catalogue) string {
	var names []string
	counts := map[string]int{}
	for _, entry := range catalogue.Usable() {
		if counts[entry.Server]++; counts[entry.Server] == 1 {
			names = append(names, entry.Server)
		}
	}
	more := ""
	if len(names) > namedInSearch {
		more = fmt.Sprintf(" and %d others", len(names)-namedInSearch)
		names = names[:namedInSearch]
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	return strings.Join(names, ", ") + more
}

// finds reports whether a call searches for tools.
func (r *run) finds(c *call) bool {
	return c.name == tools.FindTools && r.loop.opts.Catalogue().Limited()
}

// findTools answers a search, and offers what it found from the next round on.
func (r *run) findTools(c *call) calls.Result {
	arguments := jsonOrString(c.arguments())
	result := calls.Result{Name: tools.FindTools, Arguments: arguments, Allowed: true}
	query, err := parseQuery(arguments)
	if err != nil {
		result.IsError, result.Outcome, result.Reason = true, journal.Invalid, err.Error()
		result.Text = "Error: " + err.Error()
		return result
	}
	var found []*tools.Entry
	for _, entry := range r.loop.opts.Catalogue().Find(query, foundAtOnce) {
		if !r.callerHas(entry) {
			found = append(found, entry)
			r.wanted[entry.Offered] = true
		}
	}
	result.Executed, result.Outcome, result.Text = true, journal.OK, describeFound(query, found)
	return result
}

func parseQuery(arguments json.RawMessage) (string, error) {
	var args struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(arguments, &args) != nil || strings.TrimSpace(args.Query) == "" {
		return "", errors.New(`query must say what the tool should do, as in {"query": "send an email"}`)
	}
	return args.Query, nil
}

func describeFound(query string, found []*tools.Entry) string {
	if len(found) == 0 {
		return fmt.Sprintf("No tool is found for %q. Try other words, or the name of a server.", query)
	}
	var b strings.Builder
	b.WriteString("Found, the best first; each can be called from now on:")
	for _, entry := range found {
		fmt.Fprintf(&b, "\n- %s: %s", entry.Offered, entry.Summary(foundAbout))
	}
	return b.String()
}

// reoffer adds to the next request what was found since the last one.
func (r *run) reoffer() {
	if list := r.listFor(r.loop.opts.Catalogue()); list != nil {
		r.body.Set("tools", list)
	}
}
