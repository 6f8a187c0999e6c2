package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"
)

// report is what was measured, a row for each figure.
type report struct {
	Version string   `json:"go"`
	System  string   `json:"system"`
	CPUs    int      `json:"cpus"`
	Targets []string `json:"targets"`
	Rows    []*row   `json:"rows"`
	MCP     []mcpRow `json:"mcp,omitempty"`
	Skipped string   `json:"skipped,omitempty"` // what was not measured, and why
}

// targetNames head the columns of the targets, in their order.
func targetNames() []string {
	return []string{direct: "direct", proxy: "proxy", gateway: "gateway", offered: "tools offered", round: "tool round"}
}

func newReport() *report {
	return &report{Version: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Targets: targetNames()}
}

// row is one figure of each target, by the target's place; nil: not measured.
type row struct {
	Figure string            `json:"figure"`
	Unit   string            `json:"unit,omitempty"`
	Values [targets]*float64 `json:"values"`
	Ratios [targets]*float64 `json:"ratios_to_proxy"`
	Floor  string            `json:"floor,omitempty"` // what the gateway must reach
	Result string            `json:"result,omitempty"`

	floor floor
}

// floor is what the gateway's value must reach, or its ratio to the proxy's. The
// zero floor asks for nothing.
type floor struct {
	limit   float64
	ratio   bool
	atLeast bool
	set     bool
}

var nothing = floor{}

func atMost(limit float64) floor      { return floor{limit: limit, set: true} }
func ratioAtMost(limit float64) floor { return floor{limit: limit, ratio: true, set: true} }
func ratioAtLeast(limit float64) floor {
	return floor{limit: limit, ratio: true, atLeast: true, set: true}
}

func (f floor) String() string {
	if !f.set {
		return ""
	}
	sign, unit := "≤", ""
	if f.atLeast {
		sign = "≥"
	}
	if f.ratio {
		unit = "×"
	}
	return fmt.Sprintf("%s %g%s", sign, f.limit, unit)
}

// met says whether a row reaches its floor: "ok", "miss", or "" when there is
// none or nothing was measured.
func (f floor) met(r *row) string {
	v := r.Values[gateway]
	if f.ratio {
		v = r.Ratios[gateway]
	}
	switch {
	case !f.set || v == nil:
		return ""
	case f.atLeast && *v >= f.limit, !f.atLeast && *v <= f.limit:
		return "ok"
	default:
		return "miss"
	}
}

func newRow(figure, unit string, f floor) *row { return &row{Figure: figure, Unit: unit, floor: f} }

func (r *row) set(target int, v float64) { r.Values[target] = &v }

// setBeside sets a target's value and its ratio to the proxy's of the same
// measurement. The proxy's first value is the one that is shown.
func (r *row) setBeside(target int, v, base float64) {
	r.set(target, v)
	if r.Values[proxy] == nil {
		r.set(proxy, base)
	}
	if base > 0 {
		r.Ratios[target] = ratio(v, base)
	}
}

// compareRounds sets the ratios as the median of those within each round, which
// the machine's drift does not touch.
func (r *row) compareRounds(rounds [targets][]float64) {
	for i := range rounds {
		var ratios []float64
		for n, v := range rounds[i] {
			if n < len(rounds[proxy]) && rounds[proxy][n] > 0 {
				ratios = append(ratios, v/rounds[proxy][n])
			}
		}
		if len(ratios) > 0 {
			r.Ratios[i] = ratio(quantile(ratios, 0.5), 1)
		}
	}
}

func ratio(a, b float64) *float64 {
	q := a / b
	return &q
}

func (r *report) add(rows ...*row) {
	for _, row := range rows {
		row.Floor, row.Result = row.floor.String(), row.floor.met(row)
		r.Rows = append(r.Rows, row)
	}
}

// print writes the tables for people.
func (r *report) print(w io.Writer) error {
	if len(r.Rows) > 0 || r.Skipped != "" {
		if err := r.printRows(w); err != nil {
			return err
		}
	}
	if len(r.MCP) == 0 {
		return nil
	}
	return printMCP(w, r.MCP)
}

func (r *report) printRows(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %d CPUs. In brackets: times the proxy, in the same run. Floors are the gateway's.\n\n", r.Version, r.System, r.CPUs)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tab, "figure\tunit")
	for _, name := range r.Targets {
		fmt.Fprintf(tab, "\t%s", name)
	}
	fmt.Fprintln(tab, "\tfloor\t")
	for _, row := range r.Rows {
		fmt.Fprintf(tab, "%s\t%s", row.Figure, row.Unit)
		for i := range row.Values {
			fmt.Fprintf(tab, "\t%s", row.cell(i))
		}
		fmt.Fprintf(tab, "\t%s\t%s\n", row.Floor, row.Result)
	}
	if err := tab.Flush(); err != nil || r.Skipped == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "\nskipped: %s\n", r.Skipped)
	return err
}

func (r *row) cell(target int) string {
	v := r.Values[target]
	switch {
	case v == nil:
		return "-"
	case r.Ratios[target] == nil || target <= proxy:
		return figure(*v)
	default:
		return fmt.Sprintf("%s (%.2f)", figure(*v), *r.Ratios[target])
	}
}

// figure writes a number with three digits that count.
func figure(v float64) string {
	if v == 0 || math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// quantile returns a quantile of samples, between neighbours when it falls
// there. It is 0 for no samples.
func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
