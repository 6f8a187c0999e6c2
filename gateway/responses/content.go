package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// chatContent returns an item's content as that of a message. What an assistant
// has said is one text: many providers take nothing else.
func chatContent(content gjson.Result, role string) []byte {
	if !content.IsArray() {
		return []byte(content.Raw)
	}
	if role == "assistant" {
		return models.Quote(joined(content))
	}
	var parts [][]byte
	for _, part := range content.Array() {
		parts = append(parts, chatPart(part))
	}
	return models.Append(nil, parts...)
}

// joined returns the texts of a list of parts in one.
func joined(content gjson.Result) string {
	var b strings.Builder
	for _, part := range content.Array() {
		b.WriteString(part.Get("text").String())
		b.WriteString(part.Get("refusal").String())
	}
	return b.String()
}

// chatPart returns a part of an item's content as one of a message's. A kind that
// chat completions do not have is left as it is.
func chatPart(part gjson.Result) []byte {
	switch part.Get("type").String() {
	case "input_text", "output_text", "text":
		return object(text("type", "text"), raw("text", part.Get("text")))
	case "input_image":
		if url := part.Get("image_url"); url.Type == gjson.String {
			return object(text("type", "image_url"), member{"image_url", object(raw("url", url), raw("detail", part.Get("detail")))})
		}
	case "input_file":
		if !part.Get("file_url").Exists() {
			return object(text("type", "file"), member{"file", object(raw("file_data", part.Get("file_data")), raw("file_id", part.Get("file_id")), raw("filename", part.Get("filename")))})
		}
	}
	return []byte(part.Raw)
}

// outputContent returns what a call brought as the content of a message.
func outputContent(item gjson.Result) []byte {
	output := item.Get("output")
	switch {
	case output.Type == gjson.String:
		return []byte(output.Raw)
	case output.IsArray():
		return chatContent(output, "tool")
	case output.Exists():
		return models.Quote(output.Raw)
	default: // of a kind that has it elsewhere, such as the tools that were found
		return models.Quote(item.Raw)
	}
}

// itemContent returns a message's content as that of an item.
func itemContent(content gjson.Result) []byte {
	if !content.IsArray() {
		return []byte(content.Raw)
	}
	var parts [][]byte
	for _, part := range content.Array() {
		parts = append(parts, itemPart(part))
	}
	return models.Append(nil, parts...)
}

// itemPart returns a part of a message's content as one of an item's.
func itemPart(part gjson.Result) []byte {
	switch part.Get("type").String() {
	case "text":
		return object(text("type", "input_text"), raw("text", part.Get("text")))
	case "image_url":
		return object(text("type", "input_image"), raw("image_url", part.Get("image_url.url")), raw("detail", part.Get("image_url.detail")))
	case "file":
		file := part.Get("file")
		return object(text("type", "input_file"), raw("file_data", file.Get("file_data")), raw("file_id", file.Get("file_id")), raw("filename", file.Get("filename")))
	default:
		return []byte(part.Raw)
	}
}
