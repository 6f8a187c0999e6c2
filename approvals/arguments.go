package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxNesting bounds what is read of a model's arguments.
const maxNesting = 1000

var errNoObject = errors.New("not a JSON object")

// parseObject reads raw as one JSON object and nothing else. A key that occurs
// twice in an object is refused: a server may take the first where we would
// look at the last. Empty input is an empty object, as in a call without
// arguments.
func parseObject(raw []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return obj, nil
}

func parseValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d", maxNesting)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, errNoObject
	}
	switch tok {
	case json.Delim('{'):
		return parseMembers(dec, depth)
	case json.Delim('['):
		return parseElements(dec, depth)
	default:
		return tok, nil
	}
}

func parseMembers(dec *json.Decoder, depth int) (map[string]any, error) {
	obj := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, errNoObject
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errNoObject
		}
		if _, twice := obj[key]; twice {
			return nil, fmt.Errorf("key %q occurs twice", key)
		}
		if obj[key], err = parseValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	return obj, closing(dec)
}

func parseElements(dec *json.Decoder, depth int) ([]any, error) {
	list := []any{}
	for dec.More() {
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, closing(dec)
}

func closing(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return errNoObject
	}
	return nil
}

// canonical returns raw as JSON with sorted keys, no space and one way to write
// each string, so that equal arguments are equal text. Numbers stay as written:
// 1 and 1.0 are told apart, which at worst asks once more. Text that is not
// valid Unicode is refused: different texts would become equal.
func canonical(raw []byte) (string, error) {
	obj, err := parseObject(raw)
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(obj)
	if err != nil {
		return "", err
	}
	if bytes.ContainsRune(out, utf8.RuneError) || bytes.Contains(out, []byte(`\ufffd`)) {
		return "", errors.New("text that is not valid Unicode")
	}
	return string(out), nil
}
