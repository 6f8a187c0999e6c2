// Package nesting bounds how deeply JSON from outside nests, before anything reads
// it that calls itself for each level: a megabyte of opening brackets would fill
// the stack, which ends the whole program.
package nesting

import "bytes"

// Most is how deep arrays and objects may stand in each other. No message that
// means something comes near.
const Most = 1000

// TooDeep reports whether data, which need not be valid JSON, nests deeper than
// Most anywhere.
func TooDeep(data []byte) bool {
	if bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) <= Most {
		return false
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfString(data, i+1)
		case '[', '{':
			if depth++; depth > Most {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// endOfString returns where the string ends in which i is.
func endOfString(data []byte, i int) int {
	for ; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}
