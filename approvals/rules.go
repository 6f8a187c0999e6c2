package approvals

import "time"

// Lifetime says how long a remembered decision holds.
type Lifetime string

// The lifetimes, shortest first.
const (
	ForRun     Lifetime = "run"     // until the run ends
	ForSession Lifetime = "session" // until the resident stops
	UntilTime  Lifetime = "until"   // until Scope.Until
	Always     Lifetime = "always"
)

// Scope is what a person wants remembered along with an answer.
type Scope struct {
	Lifetime       Lifetime  `json:"lifetime"`
	Until          time.Time `json:"until,omitzero"`
	ExactArguments bool      `json:"exact_arguments"`
	PathPrefix     string    `json:"path_prefix,omitempty"`
}
