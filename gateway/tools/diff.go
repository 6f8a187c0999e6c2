package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// diffContext is how many equal lines a diff shows around a change.
const diffContext = 3

// maxDiffLines bounds the lines compared; what changed beyond is summed up.
const maxDiffLines = 2000

// unifiedDiff shows what changed between two texts in unified format, with no
// file headers. It is "" when they are equal.
func unifiedDiff(before, after string) string {
	if before == after {
		return ""
	}
	a, b := diffLines(before), diffLines(after)
	return renderHunks(compareLines(a, b))
}

func diffLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > maxDiffLines {
		rest := len(lines) - maxDiffLines
		lines = append(lines[:maxDiffLines:maxDiffLines], fmt.Sprintf("(%d more lines)", rest))
	}
	return lines
}

// diffLine is a line and where it stands: ' ' in both texts, '-' or '+' in one.
type diffLine struct {
	mark byte
	text string
}

// compareLines finds a longest common subsequence.
func compareLines(a, b []string) []diffLine {
	lengths := commonLengths(a, b)
	lines := make([]diffLine, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && lengths[i+1][j] >= lengths[i][j+1]:
			lines = append(lines, diffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', b[j]})
			j++
		}
	}
	return lines
}

// commonLengths holds at [i][j] how many lines a[i:] and b[j:] have in common.
func commonLengths(a, b []string) [][]int32 {
	lengths := make([][]int32, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
}

// renderHunks writes the changed lines with some context.
func renderHunks(lines []diffLine) string {
	near := nearChanges(lines)
	var out strings.Builder
	oldLine, newLine := 1, 1
	for i, line := range lines {
		if near[i] {
			if i == 0 || !near[i-1] {
				oldCount, newCount := hunkSize(lines[i:], near[i:])
				fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", oldLine, oldCount, newLine, newCount)
			}
			out.WriteByte(line.mark)
			out.WriteString(line.text)
			out.WriteByte('\n')
		}
		if line.mark != '+' {
			oldLine++
		}
		if line.mark != '-' {
			newLine++
		}
	}
	return out.String()
}

func nearChanges(lines []diffLine) []bool {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if line.mark == ' ' {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(lines)-1, i+diffContext); k++ {
			near[k] = true
		}
	}
	return near
}

func hunkSize(lines []diffLine, near []bool) (oldCount, newCount int) {
	for i, line := range lines {
		if !near[i] {
			break
		}
		if line.mark != '+' {
			oldCount++
		}
		if line.mark != '-' {
			newCount++
		}
	}
	return oldCount, newCount
}

// readable writes what a definition's hash covers as lines a person can compare.
func readable(def *Definition) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(def.Raw, &fields); err != nil {
		fields = nil
	}
	var out strings.Builder
	for _, key := range hashedFields {
		raw := fields[key]
		if isNull(raw) {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			fmt.Fprintf(&out, "%s: %s\n", key, strings.ReplaceAll(text, "\n", "\n  "))
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", key, indented(raw))
	}
	return out.String()
}

// indented writes JSON with sorted keys, one value to a line.
func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Indent(&out, encodeCanonical(decodeExact(raw)), "", "  "); err != nil {
		return string(raw)
	}
	return out.String()
}
