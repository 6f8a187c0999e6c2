// Package cut shortens texts that are repeated in a message, or shown beside others.
package cut

// To returns text with at most that many characters; the last one tells that it was
// cut.
func To(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
