package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"pointsman/approvals"
)

// leastColumn is how narrow a column gets before the line is allowed to wrap.
const leastColumn = 8

// table prints rows in aligned columns, cut to the terminal's width. Cells are
// shown as text: what could hide or move something is written out.
func (a *app) table(header []string, rows [][]string) error {
	lines := append([][]string{header}, rows...)
	widths := make([]int, len(header))
	for _, line := range lines {
		for i := range line {
			line[i] = approvals.Visible(line[i])
			widths[i] = max(widths[i], columns(line[i]))
		}
	}
	narrow(widths, a.widthOf(a.Stdout))
	out := bufio.NewWriter(a.Stdout)
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			cells[i] = pad(fit(cell, widths[i]), widths[i])
		}
		// A writer that fails does so at the flush, too.
		_, _ = fmt.Fprintln(out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return out.Flush()
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

// printJSON prints one JSON document.
func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
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
