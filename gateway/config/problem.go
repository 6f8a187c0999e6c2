package config

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Problem is one fault of the configuration, placed where the user wrote it.
type Problem struct {
	File         string   // "" when it does not come from a file
	Line, Column int      // from 1; zero when unknown
	Path         string   // such as "mcpServers.github.url"
	Message      string   // what is wrong
	Allowed      []string // the values that would be right, when they can be listed
	Nearest      string   // the known name that was probably meant
	Warning      bool     // the configuration works all the same
}

// Error gives the place, the path, the fault and what would be right, in one line.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, max(p.Column, 1))
		}
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Nearest)
	}
	if len(p.Allowed) > 0 {
		b.WriteString("; allowed: " + strings.Join(p.Allowed, ", "))
	}
	return b.String()
}

// Faults joins the problems that are errors, nil when there are none.
func Faults(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		if !p.Warning {
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// inOrder sorts problems by where they are, the ones without a place last.
func inOrder(problems []Problem) []Problem {
	sort.SliceStable(problems, func(i, j int) bool {
		a, b := problems[i], problems[j]
		if (a.Line == 0) != (b.Line == 0) {
			return b.Line == 0
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return problems
}

// Nearest returns the known name that name was probably meant to be, or "".
func Nearest(name string, known []string) string {
	best, bestDistance := "", len(name)/3+2
	lower := strings.ToLower(name)
	for _, candidate := range known {
		d := distance(lower, strings.ToLower(candidate))
		if d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best != "" || len(name) < 4 {
		return best
	}
	for _, candidate := range known {
		c := strings.ToLower(candidate)
		if strings.Contains(c, lower) || (len(c) > 3 && strings.Contains(lower, c)) {
			return candidate
		}
	}
	return ""
}

// distance is the number of single-byte edits, a swap of neighbours counting
// as one, between two short names.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
