package httpapi

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"pointsman/gateway/models"
)

// session is what correlates a request with others of the same program: what its
// header says, what Copilot says in its instructions, or the key by which the
// provider is to find the conversation again.
func session(r *http.Request, body *models.Body) string {
	return named(cmp.Or(r.Header.Get("X-Pointsman-Session"), copilotSession(body), body.Get("prompt_cache_key").String()))
}

// sessionFolder is where the Copilot CLI and SDK tell the model of their session's
// folder, whose name is the session's id: the one that its hooks and its MCP
// servers are told, of sub-agents the one of who began them. No header has it.
var sessionFolder = regexp.MustCompile(`<session_context>\r?\nSession folder: [^\r\n]*[/\\]session-state[/\\]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\r?\n`)

// copilotSession returns the id of Copilot's session, "" when there is none or
// more than one: what a user's own instructions quote is no proof.
func copilotSession(body *models.Body) string {
	first := body.Get("messages").Get("0")
	if role := first.Get("role").String(); role != "system" && role != "developer" {
		return ""
	}
	if !strings.Contains(first.Raw, "/session-state/") && !strings.Contains(first.Raw, `\\session-state\\`) {
		return "" // most are not Copilot's, and need not be looked at closely
	}
	id := ""
	for _, found := range sessionFolder.FindAllStringSubmatch(first.Get("content").String(), 2) {
		if id != "" && id != found[1] {
			return ""
		}
		id = found[1]
	}
	return id
}
