package tools

// Cause says in a word why a tool is not there for a model, or not as usual.
type Cause string

// The causes.
const (
	Unknown      Cause = "unknown"       // no server is known to have such a tool
	NotConnected Cause = "not_connected" // its server is not connected
	NotInTools   Cause = "not_in_tools"  // the server's own list leaves it out
	NotAllowed   Cause = "not_allowed"   // tools.allowed leaves it out
	Reserved     Cause = "reserved"      // it is named as the gateway's own tools are
	SelfLoop     Cause = "self_loop"     // it is the gateway's own tool, reached through a server
	SharedName   Cause = "shared_name"   // another tool would have the same name
	SetAside     Cause = "set_aside"     // its schema cannot be fitted
	Beyond       Cause = "beyond"        // there are more tools than are offered at once
	Paused       Cause = "paused"        // no tool may be called
	Changed      Cause = "changed"       // its definition is not the one that was agreed to: its next call asks
)

// Reason is one answer to why a tool is not there.
type Reason struct {
	Cause Cause  `json:"cause"`
	Text  string `json:"text"` // for a person
}

// Why tells how it stands with a tool that somebody asked for.
type Why struct {
	Asked    string   `json:"asked"`    // the name as it was asked for
	Name     string   `json:"name"`     // the offered name; "" when no connected server has it
	Server   string   `json:"server"`   // whose tool it is or would be; "" when that is not known
	Tool     string   `json:"tool"`     // the server's own name of it, or ""
	Offered  bool     `json:"offered"`  // to a model that nothing else is known of
	Callable bool     `json:"callable"` // a call of it would not be refused for what it is
	Reasons  []Reason `json:"reasons"`  // the strongest first; empty when nothing is in its way
	Similar  []string `json:"similar"`  // names that may be meant, when there is none like it
}
