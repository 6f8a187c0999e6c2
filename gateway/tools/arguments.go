package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep arguments may nest.
const maxDepth = 1000

// NormalizeArguments turns the text a model wrote as a call's arguments into
// one JSON object, or says for the model what is wrong with it. Empty text and
// null mean no arguments. Refused are malformed, truncated or trailing JSON,
// anything but an object, a key given twice in one object, nesting deeper than
// 1000, and text that is not UTF-8. Numbers and the order of keys stay as written.
func NormalizeArguments(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage("{}"), nil
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("arguments are not valid UTF-8: write them again")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := checkObject(dec); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("arguments must be one JSON object: there is more text after it")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return nil, malformed(err)
	}
	return compact.Bytes(), nil
}

func checkObject(dec *json.Decoder) error {
	first, err := dec.Token()
	if err != nil {
		return malformed(err)
	}
	if first != json.Delim('{') {
		return fmt.Errorf("arguments must be a JSON object; got %s", kindOf(first))
	}
	return checkNested(dec)
}

// checkNested reads the rest of an opened object.
func checkNested(dec *json.Decoder) error {
	open := []*level{{keys: map[string]bool{}, wantKey: true}}
	for len(open) > 0 {
		token, err := dec.Token()
		if err != nil {
			return malformed(err)
		}
		top := open[len(open)-1]
		switch token {
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		if top.keys != nil && top.wantKey {
			if err := top.addKey(token.(string)); err != nil {
				return err
			}
			continue
		}
		top.wantKey = true
		switch token {
		case json.Delim('{'):
			open = append(open, &level{keys: map[string]bool{}, wantKey: true})
		case json.Delim('['):
			open = append(open, &level{})
		}
		if len(open) > maxDepth {
			return fmt.Errorf("arguments nest deeper than %d levels: flatten them", maxDepth)
		}
	}
	return nil
}

// level is one open object or list.
type level struct {
	keys    map[string]bool // nil for a list
	wantKey bool            // the next token is a key, when it is an object
}

func (l *level) addKey(key string) error {
	if l.keys[key] {
		return fmt.Errorf("arguments hold the key %q twice: give it once", key)
	}
	l.keys[key] = true
	l.wantKey = false
	return nil
}

func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("arguments are cut off: the JSON object does not end")
	}
	return fmt.Errorf("arguments are not valid JSON: %w", err)
}

func kindOf(token json.Token) string {
	switch token.(type) {
	case json.Delim:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	}
	return "a number"
}
