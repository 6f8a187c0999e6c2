package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/ask"
	"pointsman/gateway/config"
)

// askFlags are what `ask` is asked for.
type askFlags struct {
	context, schema, system string
	temperature             float64
	maxTokens               int
	json, smoke             bool
}

func (a *app) askCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask CAPABILITY [PROMPT|-]",
		Short: "Put one typed question to a capability",
		Long: `Put one typed question to a capability: what it needs, not which model. The answer
goes to the standard output: text, or with --schema JSON that conforms to it. PROMPT
"-" is read from the standard input, as is an absent one. When the context does not
hold the answer, nothing is printed there.

With --smoke about four short live calls are made for each CAPABILITY (all, when none
is named), and it is told what the endpoints really do.`,
		Example: "  pointsman ask coding \"Name a sorting algorithm.\"\n  pointsman ask fast --context notes.txt --schema city.json \"Which city?\"\n  pointsman ask --smoke",
		Args:    arguments(0, math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.smoke {
				return a.smoke(cmd.Context(), f, args)
			}
			return a.ask(cmd, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.context, "context", "", "take the answer only from the text in `FILE`")
	flags.StringVar(&f.schema, "schema", "", "have the answer conform to the JSON Schema in `FILE`")
	flags.StringVar(&f.system, "system", "", "put `TEXT` before the question, as the system's message")
	flags.Float64Var(&f.temperature, "temperature", 0, "the model's temperature, from 0 to 2")
	flags.IntVar(&f.maxTokens, "max-output-tokens", 0, "the most `TOKENS` that the answer may be")
	flags.BoolVar(&f.json, "json", false, "print the whole envelope as one JSON document")
	flags.BoolVar(&f.smoke, "smoke", false, "try out what the capabilities' endpoints really do, with live calls")
	return cmd
}

func (a *app) capabilitiesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "capabilities", Short: "List what `ask` can be asked for", Args: arguments(0, 0),
		Example: "  pointsman capabilities\n  pointsman capabilities --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return look(cmd.Context(), a, looking[[]ask.Capability]{view: "capabilities", show: a.showCapabilities}, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showCapabilities(list []ask.Capability) error {
	var rows [][]string
	for _, c := range list {
		var deployments []string
		for _, d := range c.Deployments {
			deployments = append(deployments, d.Deployment+" ("+string(d.State)+")")
		}
		rows = append(rows, []string{c.Name, strings.Join(deployments, ", "), strings.Join(c.Fallbacks, ", "), c.Description})
	}
	return a.table([]string{"CAPABILITY", "DEPLOYMENTS", "FALLBACKS", "FOR"}, rows)
}

// ask puts one question.
func (a *app) ask(cmd *cobra.Command, f askFlags, args []string) (err error) {
	if len(args) == 0 || len(args) > 2 {
		return usagef("ask needs a CAPABILITY, and at most a PROMPT after it; `pointsman capabilities` lists them")
	}
	question, err := a.question(cmd, f, args)
	if err != nil {
		return err
	}
	conn, err := a.open(cmd.Context(), opening{loading: loading{dotEnv: true}, noMCP: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	e, err := putQuestion(cmd.Context(), conn, question)
	if err != nil {
		return err
	}
	return a.showEnvelope(e, f.json)
}

// question makes the question that the command line asks.
func (a *app) question(cmd *cobra.Command, f askFlags, args []string) (map[string]any, error) {
	prompt := "-"
	switch {
	case len(args) == 2:
		prompt = args[1]
	case a.interactive():
		return nil, usagef("ask needs a PROMPT after the capability, or `-` to read it from the standard input")
	}
	if prompt == "-" {
		var err error
		if prompt, err = a.readPrompt(); err != nil {
			return nil, err
		}
	}
	question := map[string]any{"capability": args[0], "prompt": prompt}
	for name, file := range map[string]string{"context": f.context, "response_schema": f.schema} {
		if file == "" {
			continue
		}
		text, err := readQuestionFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the %s: %w", strings.ReplaceAll(name, "_", " "), err)
		}
		question[name] = text
	}
	if f.system != "" {
		question["system"] = f.system
	}
	if cmd.Flags().Changed("temperature") {
		question["temperature"] = f.temperature
	}
	if cmd.Flags().Changed("max-output-tokens") {
		question["max_output_tokens"] = f.maxTokens
	}
	return question, nil
}

// readQuestionFile reads a file that goes out with a question, and no more of it
// than the gateway takes.
func readQuestionFile(path string) (text string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	most := config.Default().Gateway.MaxBodyBytes
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is longer than %d bytes, the most that the gateway takes", path, most)
	}
	return string(data), err
}

// putQuestion puts a question and returns its envelope.
func putQuestion(ctx context.Context, conn *connection, question map[string]any) (e *ask.Envelope, err error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, fmt.Errorf("writing the question as JSON: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"pointsman-ask"}, "X-Pointsman-Door": {"ask"}}
	response, err := conn.Do(ctx, http.MethodPost, "/v1/ask", header, body)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	e = &ask.Envelope{}
	if err := json.Unmarshal(data, e); err != nil || e.Error == nil && !e.OK {
		return nil, fmt.Errorf("the gateway answered %d, without an envelope: %.200s", response.StatusCode, data)
	}
	return e, nil
}

// showEnvelope prints an answer, or all of the envelope.
func (a *app) showEnvelope(e *ask.Envelope, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.Stdout, e); err != nil {
			return err
		}
	}
	switch {
	case e.Error != nil:
		return fmt.Errorf("%s: %s", e.Error.Code, e.Error.Message)
	case asJSON:
		return nil
	case e.InsufficientContext:
		a.tell("the context does not hold the answer")
		return nil
	case e.Content != nil:
		return a.printAnswer(*e.Content)
	default:
		return a.printAnswer(string(e.Data))
	}
}

// printAnswer prints what a model said: as it is, but for what would command a
// terminal.
func (a *app) printAnswer(text string) error {
	if a.widthOf(a.Stdout) > 0 {
		text = approvals.VisibleText(text)
	}
	return a.print("%s", text)
}
