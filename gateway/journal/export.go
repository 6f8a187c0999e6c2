package journal

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
)

// WriteJSON writes each row as one line of JSON. It stops at the first error.
func WriteJSON[T Call | Run](w io.Writer, rows iter.Seq2[T, error]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes rows as comma-separated values under a header. Text that a
// spreadsheet would take for a formula gets an apostrophe before it.
func WriteCSV[T Call | Run](w io.Writer, rows iter.Seq2[T, error]) error {
	var zero T
	out := csv.NewWriter(w)
	names, _ := record(zero)
	if err := out.Write(names); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		_, cells := record(row)
		for i := range cells {
			cells[i] = harmless(cells[i])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// record returns a row's columns and cells.
func record(row any) (names, cells []string) {
	add := func(name, cell string) {
		names, cells = append(names, name), append(cells, cell)
	}
	switch r := row.(type) {
	case Call:
		callCells(r, add)
	case Run:
		runCells(r, add)
	}
	return names, cells
}

func callCells(c Call, add func(name, cell string)) {
	add("id", c.ID)
	add("time", c.Time.Format(time.RFC3339Nano))
	add("door", c.Door)
	add("client", c.Client)
	add("session", c.Session)
	add("run", c.Run)
	add("round", strconv.Itoa(c.Round))
	add("model", c.Model)
	add("server", c.Server)
	add("tool", c.Tool)
	add("offered", c.Offered)
	add("definition", c.Definition)
	add("arguments", string(c.Arguments))
	add("edited", strconv.FormatBool(c.Edited))
	add("class", string(c.Class))
	add("risky", strconv.FormatBool(c.Risky))
	add("evidence", strings.Join(c.Evidence, "; "))
	add("outcome", string(c.Outcome))
	add("approver", c.Approver)
	add("rule", c.Rule)
	add("reason", c.Reason)
	add("duration_ms", strconv.FormatInt(c.DurationMS, 10))
	add("result_bytes", strconv.FormatInt(c.ResultBytes, 10))
	add("error", c.Error)
	add("cwd", c.CWD)
}

func runCells(r Run, add func(name, cell string)) {
	usd := ""
	if r.CostUSD != nil {
		usd = strconv.FormatFloat(*r.CostUSD, 'f', -1, 64)
	}
	add("id", r.ID)
	add("time", r.Time.Format(time.RFC3339Nano))
	add("door", r.Door)
	add("client", r.Client)
	add("session", r.Session)
	add("model", r.Model)
	add("outcome", string(r.Outcome))
	add("rounds", strconv.Itoa(r.Rounds))
	add("prompt_tokens", strconv.FormatInt(r.PromptTokens, 10))
	add("completion_tokens", strconv.FormatInt(r.CompletionTokens, 10))
	add("cost_usd", usd)
	add("duration_ms", strconv.FormatInt(r.DurationMS, 10))
	add("error", r.Error)
	add("cwd", r.CWD)
}

// harmless returns a cell that no spreadsheet evaluates.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
