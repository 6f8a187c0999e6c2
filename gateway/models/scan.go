package models

import (
	"encoding/binary"
	"math/bits"
)

// The functions here walk JSON text once, checking it as they go. Each takes the
// index at which something begins and returns the index behind it, or one of the
// negative values below. They are what large requests spend their time in:
// strings are looked at eight bytes at a time.

const (
	malformed = -1 // not JSON
	tooDeep   = -2 // nested deeper than maxDepth
)

// skipSpace returns the index of the first byte at or behind i that is no space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipValue walks the value at i, which stands depth deep.
func skipValue(data []byte, i, depth int) int {
	if i >= len(data) {
		return malformed
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{':
		return skipObject(data, i, depth, nil)
	case '[':
		return skipArray(data, i, depth, nil)
	case 't':
		return skipLiteral(data, i, "true")
	case 'f':
		return skipLiteral(data, i, "false")
	case 'n':
		return skipLiteral(data, i, "null")
	default:
		return skipNumber(data, i)
	}
}

func skipLiteral(data []byte, i int, literal string) int {
	end := i + len(literal)
	if end > len(data) || string(data[i:end]) != literal {
		return malformed
	}
	return end
}

// skipObject walks the object at i and gives visit each member: its name as
// written, with quotes, its value, and when that is an array its elements. visit
// may be nil.
func skipObject(data []byte, i, depth int, visit func(name, value []byte, elements [][]byte)) int {
	if depth >= maxDepth {
		return tooDeep
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1
	}
	for i < len(data) && data[i] == '"' {
		if i = skipMember(data, i, depth+1, visit); i < 0 {
			return i
		}
		if i = skipSpace(data, i); i < len(data) && data[i] == '}' {
			return i + 1
		}
		if i >= len(data) || data[i] != ',' {
			return malformed
		}
		i = skipSpace(data, i+1)
	}
	return malformed
}

// skipMember walks the member whose name is at i and whose value stands depth deep.
func skipMember(data []byte, i, depth int, visit func(name, value []byte, elements [][]byte)) int {
	nameEnd := skipString(data, i)
	if nameEnd < 0 {
		return nameEnd
	}
	colon := skipSpace(data, nameEnd)
	if colon >= len(data) || data[colon] != ':' {
		return malformed
	}
	value := skipSpace(data, colon+1)
	if visit == nil {
		return skipValue(data, value, depth)
	}
	elements, end := elementsAt(data, value, depth)
	if end >= 0 {
		visit(data[i:nameEnd:nameEnd], data[value:end:end], elements)
	}
	return end
}

// elementsAt walks the value at i and returns its elements when it is an array.
func elementsAt(data []byte, i, depth int) (elements [][]byte, end int) {
	if i >= len(data) || data[i] != '[' {
		return nil, skipValue(data, i, depth)
	}
	end = skipArray(data, i, depth, func(element []byte) { elements = append(elements, element) })
	return elements, end
}

// skipArray walks the array at i and gives visit each element. visit may be nil.
func skipArray(data []byte, i, depth int, visit func(element []byte)) int {
	if depth >= maxDepth {
		return tooDeep
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1
	}
	for {
		element := i
		if i = skipValue(data, i, depth+1); i < 0 {
			return i
		}
		if visit != nil {
			visit(data[element:i:i])
		}
		if i = skipSpace(data, i); i < len(data) && data[i] == ']' {
			return i + 1
		}
		if i >= len(data) || data[i] != ',' {
			return malformed
		}
		i = skipSpace(data, i+1)
	}
}

// skipString walks the string whose opening quote is at i.
func skipString(data []byte, i int) int {
	for i++; ; {
		i = skipPlain(data, i)
		if i >= len(data) {
			return malformed
		}
		switch {
		case data[i] == '"':
			return i + 1
		case data[i] != '\\':
			return malformed // a control character
		}
		if i = skipEscape(data, i); i < 0 {
			return i
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipPlain returns the index of the first byte at or behind i that is a quote,
// a backslash or a control character.
func skipPlain(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := w^(ones*'"'), w^(ones*'\\')
		// Each term has the high bit of a byte set where the byte is zero, or
		// below a space; above the first such byte a borrow may set more.
		found := ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-ones*' ')&^w) & highs
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' {
		i++
	}
	return i
}

// skipEscape walks the escape whose backslash is at i.
func skipEscape(data []byte, i int) int {
	if i+1 >= len(data) {
		return malformed
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		end := i + 6
		if end > len(data) {
			return malformed
		}
		for _, c := range data[i+2 : end] {
			if !isHex(c) {
				return malformed
			}
		}
		return end
	default:
		return malformed
	}
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipNumber walks the number at i.
func skipNumber(data []byte, i int) int {
	if i < len(data) && data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i = skipDigits(data, i); i < 0 {
		return i
	}
	if i < len(data) && data[i] == '.' {
		if i = skipDigits(data, i+1); i < 0 {
			return i
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		i = skipDigits(data, i)
	}
	return i
}

// skipDigits walks at least one digit.
func skipDigits(data []byte, i int) int {
	begin := i
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	if i == begin {
		return malformed
	}
	return i
}
