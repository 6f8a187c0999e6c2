// Package tools decides which tool may be offered and how dangerous it is: the
// names models see, the allowlist, the risk of a tool and of one call, the
// validation of arguments, and pins that notice when a definition changes.
//
// A server's raw tool object becomes a Definition (Parse). NewCatalogue turns
// the definitions of all servers into an immutable snapshot that any number of
// requests may read at once:
//
//	def, err := tools.Parse("github", raw, false)
//	c, err := tools.NewClassifier(cfg.Tools.Risky, cfg.Tools.Safe)
//	cat := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{Classifier: c})
//	entry := cat.Lookup("github__create_issue")
//
// The package starts no goroutine.
package tools
