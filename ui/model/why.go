package model

import (
	"fmt"
	"slices"
	"strings"

	"pointsman/gateway/tools"
)

// WhyWords says in lines how it stands with the tools of a name.
func WhyWords(list []tools.Why) string {
	var lines []string
	for _, why := range list {
		lines = append(lines, whyTitle(why))
		for _, reason := range why.Reasons {
			lines = append(lines, "  - "+reason.Text)
		}
		if len(why.Similar) > 0 {
			lines = append(lines, "  Similar: "+strings.Join(why.Similar, ", "))
		}
	}
	return strings.Join(lines, "\n")
}

// whyTitle says in a line how it stands with a tool.
func whyTitle(why tools.Why) string {
	name := why.Asked
	if why.Name != "" {
		name = fmt.Sprintf("%s (%s of server %s)", why.Name, why.Tool, why.Server)
	}
	switch {
	case why.Name == "":
		return name + " is not there:"
	case !why.Offered && slices.ContainsFunc(why.Reasons, func(r tools.Reason) bool { return r.Cause == tools.Beyond }):
		return name + " is not always offered:"
	case !why.Offered:
		return name + " is not offered:"
	case !why.Callable:
		return name + " is offered, but cannot be called:"
	case len(why.Reasons) > 0:
		return name + " is offered, but:"
	}
	return name + " is offered. Nothing is in its way."
}
