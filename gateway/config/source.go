package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const maxFileBytes = 4 << 20

var yamlErrorLine = regexp.MustCompile(`line (\d+): `)

// parse reads the text of a configuration file. The root is nil for an empty
// one (no content, or comments alone). The problem is nil when it parses.
func parse(file string, text []byte) (root *yaml.Node, problem *Problem) {
	if len(text) > maxFileBytes {
		return nil, &Problem{File: file, Message: fmt.Sprintf("the file is larger than %d MiB", maxFileBytes>>20)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxProblem(file, text, err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, &Problem{File: file, Line: second.Line, Column: second.Column,
			Message: "a second YAML document starts here; only one is read"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(file, text, err)
	}
	root = doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, &Problem{File: file, Line: root.Line, Column: root.Column,
			Message: "the file must hold keys with values, such as \"default_model: gpt-6-sol\""}
	}
	return root, nil
}

// syntaxProblem places a YAML error, and names tabs, the fault its own message hides.
func syntaxProblem(file string, text []byte, err error) *Problem {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	p := &Problem{File: file}
	if m := yamlErrorLine.FindStringSubmatch(message); m != nil {
		p.Line, _ = strconv.Atoi(m[1]) // the pattern holds digits alone
		message = strings.Replace(message, m[0], "", 1)
	}
	if line, column := tabIndent(text); line > 0 {
		p.Line, p.Column, message = line, column, "a tab is used for indentation; use spaces"
	}
	p.Message = "not valid YAML: " + message
	return p
}

// tabIndent finds the first line indented with a tab.
func tabIndent(text []byte) (line, column int) {
	for i, l := range bytes.Split(text, []byte("\n")) {
		indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		if at := bytes.IndexByte(indent, '\t'); at >= 0 && len(bytes.TrimSpace(l)) > 0 {
			return i + 1, at + 1
		}
	}
	return 0, 0
}
