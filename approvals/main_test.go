package approvals_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"pointsman/approvals"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// approver is an Approver made of a function.
type approver func(context.Context, approvals.Request) (approvals.Decision, error)

func (a approver) Ask(ctx context.Context, req approvals.Request) (approvals.Decision, error) {
	return a(ctx, req)
}

// says answers everything with d.
func says(d approvals.Decision) approver {
	return func(context.Context, approvals.Request) (approvals.Decision, error) { return d, nil }
}

// yes is a person's permission.
func yes() approvals.Decision {
	return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk}
}

func attendedDesk() *approvals.Desk {
	return approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return true }})
}

// writeFile is a call most tests ask about.
func writeFile() approvals.Request {
	return approvals.Request{
		Run: "run1", Server: "fs", Tool: "write_file", Offered: "fs__write_file", Definition: "hash1",
		Class: approvals.Write, Risky: true, Arguments: []byte(`{"path":"/src/a","text":"x"}`),
	}
}
