package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/tidwall/jsonc"
)

// maxFile bounds a file that is read, in bytes. Claude Code keeps far more than
// servers in its own.
const maxFile = 32 << 20

// readFile reads a file that may not be there.
func readFile(path string) (data []byte, there bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		err = errors.New("it is no regular file")
	}
	if err == nil {
		data, err = readStart(path)
	}
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MB", maxFile>>20)
	}
	if err != nil {
		return nil, true, fmt.Errorf("reading: %w", err)
	}
	return data, true, nil
}

// readStart reads a file, but no more of it than shows that it is too large.
func readStart(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// object is a JSON object, or a TOML table.
type object = map[string]any

// parseJSON reads an object with comments and trailing commas.
func parseJSON(data []byte) (object, error) {
	var o object
	if err := json.Unmarshal(jsonc.ToJSON(data), &o); err != nil {
		return nil, fmt.Errorf("this is no JSON object: %w", err)
	}
	return o, nil
}

// table returns the object under a key; empty when there is none.
func table(o object, key string) object {
	inner, _ := o[key].(object)
	return inner
}

// jsonServers reads the servers under a key of a file in JSON.
func jsonServers(key string, read func(name string, raw object) Found) func(data []byte) ([]Found, error) {
	return func(data []byte) ([]Found, error) {
		o, err := parseJSON(data)
		if err != nil {
			return nil, err
		}
		return each(table(o, key), read), nil
	}
}

// each reads the servers of an object, sorted by name.
func each(servers object, read func(name string, raw object) Found) []Found {
	found := []Found{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		raw, ok := servers[name].(object)
		if !ok {
			found = append(found, Found{Name: name, Fault: "it is no object"})
			continue
		}
		found = append(found, read(name, maps.Clone(raw)))
	}
	return found
}

// text returns a text under a key, or "".
func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// list returns the texts of a list under a key.
func list(o object, key string) []string {
	values, _ := o[key].([]any)
	var texts []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}
