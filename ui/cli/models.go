package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pointsman/gateway"
	"pointsman/gateway/models"
	"pointsman/gateway/servers"
	"pointsman/ui/model"
)

// looking is a command that shows one of the gateway's views.
type looking[T any] struct {
	view   string // of the control socket
	how    opening
	before func(ctx context.Context, c *connection) error // nil: nothing is to be done
	keep   func(T) T                                      // nil: all of it is shown
	show   func(T) error                                  // for a person
}

// look shows a view, of the resident or of a gateway in this process.
func look[T any](ctx context.Context, a *app, l looking[T], asJSON bool) (err error) {
	conn, err := a.open(ctx, l.how)
	if err != nil {
		return err
	}
	defer func() {
		if closed := conn.Close(); err == nil {
			err = closed
		}
	}()
	if l.before != nil {
		if err := l.before(ctx, conn); err != nil {
			return err
		}
	}
	var v T
	if err := conn.Get(ctx, "/"+l.view, &v); err != nil {
		return err
	}
	if l.keep != nil {
		v = l.keep(v)
	}
	if asJSON {
		return printJSON(a.Stdout, v)
	}
	return l.show(v)
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, to *bool) { cmd.Flags().BoolVar(to, "json", false, "print JSON") }

func (a *app) modelsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "models", Short: "List the models that can be asked for", Args: arguments(0, 0),
		Example: "  pointsman models\n  pointsman models --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return look(cmd.Context(), a, looking[[]modelRow]{view: "models", before: discover, show: a.showModels}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.modelsHealthCommand(), a.modelsDiscoverCommand())
	return cmd
}

func (a *app) modelsHealthCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "health", Short: "Show how the deployments of models are doing", Args: arguments(0, 0),
		Long:    "Show how the deployments of models are doing: which may be asked, which are left alone\nand until when, and how each failed last. Nobody is asked anything for it: what is shown\nis what the running Pointsman has seen.",
		Example: "  pointsman models health\n  pointsman models health --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return look(cmd.Context(), a, looking[[]models.DeploymentHealth]{view: "health", show: a.showHealth}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showHealth(list []models.DeploymentHealth) error {
	var rows [][]string
	for _, d := range list {
		state, last := string(d.State), "-"
		if d.Until != nil {
			state += " until " + model.DeploymentUntil(*d.Until, time.Now())
		}
		if d.LastError != nil {
			last = d.LastError.Time.Local().Format(time.TimeOnly) + " " + d.LastError.Message
		}
		rows = append(rows, []string{d.Group, d.Deployment, state, strconv.Itoa(d.InFlight), strconv.FormatInt(d.Requests, 10), strconv.FormatInt(d.Failures, 10), last})
	}
	return a.table([]string{"GROUP", "DEPLOYMENT", "STATE", "BUSY", "ASKED", "FAILED", "LAST ERROR"}, rows)
}

// discover asks the providers for their models, which a resident has done.
func discover(ctx context.Context, c *connection) error {
	if c.own != nil {
		ctx, cancel := context.WithTimeout(ctx, connectPatience)
		defer cancel()
		c.own.Models().Discover(ctx)
	}
	return nil
}

func (a *app) showModels(list []modelRow) error {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.ID, strings.Join(m.Aliases, ", "), m.Provider, tokens(m.ContextWindow), tokens(m.MaxOutput), m.Label})
	}
	return a.table([]string{"MODEL", "ALIASES", "PROVIDER", "CONTEXT", "OUTPUT", "LABEL"}, rows)
}

// tokens words a number of tokens that may not be known.
func tokens(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether Pointsman runs, and with what", Args: arguments(0, 0),
		Long:    "Show whether Pointsman runs, and with what. When it does not run, the MCP servers are\nshown as stopped: they are not started to be looked at.",
		Example: "  pointsman status\n  pointsman status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return look(cmd.Context(), a, looking[json.RawMessage]{view: "status", how: opening{anyConfig: true}}, true)
			}
			return look(cmd.Context(), a, looking[gateway.Status]{view: "status", how: opening{anyConfig: true}, show: a.showStatus}, false)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showStatus(s gateway.Status) error {
	state := "not running"
	if s.Resident {
		state = "running since " + s.Since.Local().Format(time.DateTime) + ", process " + strconv.Itoa(s.PID)
	}
	connected := 0
	for _, server := range s.MCP.Inventory {
		if server.Live.Status == servers.Connected {
			connected++
		}
	}
	rows := [][]string{
		{"version", s.Version},
		{"address", "http://" + s.Listen + "/v1"},
		{"model", s.LLM.ModelID + " from " + s.LLM.Provider + " (" + keyState(s.LLM.APIKeyPresent) + ")"},
		{"servers", strconv.Itoa(connected) + " of " + strconv.Itoa(len(s.MCP.Inventory)) + " connected, " + counted(s.MCP.Tools, "tool") + " offered"},
		{"approvals", strconv.Itoa(s.Approvals.Pending) + " waiting"},
		{"runs", strconv.FormatInt(s.Runs, 10) + " active"},
	}
	if resting := restingState(s.LLM.Deployments); resting != "" {
		rows = append(rows, []string{"resting", resting})
	}
	if s.Ollama.Enabled && s.Resident {
		rows = append(rows, []string{"ollama", ollamaState(s.Ollama)})
	}
	if s.Paused {
		rows = append(rows, []string{"tools", "paused: every call is denied"})
	}
	return a.table([]string{"pointsman", state}, append(rows, configRows(s.Config)...))
}

// ollamaState words how it stands with the Ollama-compatible door.
func ollamaState(s gateway.OllamaStatus) string {
	var parts []string
	if s.Serving {
		parts = append(parts, "http://"+s.Listen+", without a key")
	}
	if s.Error != "" {
		parts = append(parts, s.Error)
	}
	return strings.Join(parts, "; ")
}

// configRows show which configuration there is, and what of it does not hold.
func configRows(c gateway.ConfigStatus) [][]string {
	rows := [][]string{{"config", c.Path}}
	for _, part := range []struct {
		name      string
		sentences []string
	}{{"held back", c.Held}, {"next start", c.Restart}, {"problem", c.Problems}} {
		for _, sentence := range part.sentences {
			rows = append(rows, []string{part.name, sentence})
		}
	}
	return rows
}

// restingState words how many deployments are left alone, "" for none.
func restingState(list []models.DeploymentHealth) string {
	resting := 0
	for _, d := range list {
		if d.Until != nil {
			resting++
		}
	}
	if resting == 0 {
		return ""
	}
	return strconv.Itoa(resting) + " of " + counted(len(list), "deployment") + "; `pointsman models health` says why"
}

func keyState(present bool) string {
	if present {
		return "its key is there"
	}
	return "no key"
}
