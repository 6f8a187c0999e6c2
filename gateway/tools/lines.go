package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pointsman/approvals"
)

// maxLine bounds one line of input; the largest tool object seen in the wild
// has 84 KiB.
const maxLine = 16 << 20

// classifyOutput is one line that ClassifyLines writes.
type classifyOutput struct {
	Server   string          `json:"server"`
	Name     string          `json:"name"`
	Class    approvals.Class `json:"class"`
	Risky    bool            `json:"risky"`
	Evidence []string        `json:"evidence"`
}

// ClassifyLines judges tools by the embedded vocabulary alone. It reads JSON
// lines {"server","name","description","inputSchema","annotations","trusted"}
// and writes {"server","name","class","risky","evidence"}, one for each, in
// order. Empty lines are skipped. The first line it cannot read ends it with an
// error that names the line's number; the answers before it have been written.
func ClassifyLines(r io.Reader, w io.Writer) error {
	c, err := NewClassifier(nil, nil)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	return errors.Join(c.classifyLines(r, json.NewEncoder(out)), out.Flush())
}

func (c *Classifier) classifyLines(r io.Reader, enc *json.Encoder) error {
	enc.SetEscapeHTML(false)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		answer, err := c.classifyLine(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := enc.Encode(answer); err != nil {
			return fmt.Errorf("writing the answer to line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading line %d: %w", number+1, err)
	}
	return nil
}

func (c *Classifier) classifyLine(line []byte) (classifyOutput, error) {
	var about struct {
		Server  string `json:"server"`
		Trusted bool   `json:"trusted"`
	}
	if err := json.Unmarshal(line, &about); err != nil {
		return classifyOutput{}, fmt.Errorf("not a tool as JSON: %w", err)
	}
	def, err := Parse(about.Server, line, about.Trusted)
	if err != nil {
		return classifyOutput{}, err
	}
	v := c.Classify(def, OfferedName(def.Server, def.Name))
	return classifyOutput{def.Server, def.Name, v.Class, v.Risky, v.Evidence}, nil
}
