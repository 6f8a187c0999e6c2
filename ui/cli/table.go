package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"pointsman/approvals"
)

// leastColumn is how narrow a column gets before the line is allowed to wrap.
const leastColumn = 8

// widestCell is how many columns a cell gets where there is no terminal. The
// whole of it is in the data that --json prints.
const widestCell = 120

// table prints rows in aligned columns, cut to the terminal's width. Cells are
// shown as text: what could hide or move something is written out.
func (a *app) table(header []string, rows [][]string) error {
	width := a.widthOf(a.Stdout)
	lines := append([][]string{header}, rows...)
	widths := make([]int, len(header))
	for _, line := range lines {
		for i := range line {
			line[i] = shownCell(line[i], cmp.Or(width, widestCell))
			widths[i] = max(widths[i], columns(line[i]))
		}
	}
	narrow(widths, width)
	out := bufio.NewWriter(a.Stdout)
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			if cells[i] = fit(cell, widths[i]); i < len(line)-1 {
				cells[i] = pad(cells[i], widths[i])
			}
		}
		// A writer that fails does so at the flush, too.
		_, _ = fmt.Fprintln(out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return out.Flush()
}

// shownCell is a cell's text as it is shown, in at most width columns. Only the
// beginning of a long one is looked at.
func shownCell(text string, width int) string {
	const chars = 4 // as many are kept for each column: some take none
	n := 0
	for i := range text {
		if n++; n > chars*width {
			return fit(approvals.Visible(text[:i]), width-1) + ellipsis
		}
	}
	return fit(approvals.Visible(text), width)
}

// narrow takes columns away from the widest until the line fits into width;
// zero means that it always does.
func narrow(widths []int, width int) {
	if width == 0 {
		return
	}
	over := 2*(len(widths)-1) - width
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= leastColumn {
			return
		}
		widths[widest]--
	}
}

// printJSON prints one JSON document. It may hold what servers and models have
// said, and goes to a terminal, too.
func printJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// printJSONLine prints one JSON document in a line.
func printJSONLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(approvals.EscapedJSON(b.Bytes()))
	return err
}

// print writes a line of data.
func (a *app) print(format string, args ...any) error {
	_, err := fmt.Fprintf(a.Stdout, format+"\n", args...)
	return err
}

// yesNo words a claim for a table.
func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
