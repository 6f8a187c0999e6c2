package responses

import (
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// usageNames are the names of the counts of tokens: those of the Responses API,
// and those of chat completions.
var usageNames = [][2]string{
	{"input_tokens", "prompt_tokens"}, {"output_tokens", "completion_tokens"},
	{"input_tokens_details", "prompt_tokens_details"}, {"output_tokens_details", "completion_tokens_details"},
}

// chatUsage returns the tokens of a response as chat completions tell them.
func chatUsage(usage gjson.Result) []byte {
	b, err := models.ParseObject([]byte(usage.Raw))
	if err != nil {
		return []byte("null")
	}
	for _, name := range usageNames {
		rename(b, name[0], name[1])
	}
	return b.Bytes()
}

// itemUsage returns the tokens of a chat completion as a response tells them.
func itemUsage(usage gjson.Result) []byte {
	b, err := models.ParseObject([]byte(usage.Raw))
	if err != nil || !usage.IsObject() {
		return []byte("null")
	}
	for _, name := range usageNames {
		rename(b, name[1], name[0])
	}
	input, output := b.Get("input_tokens").Int(), b.Get("output_tokens").Int()
	details := func(key, count string) {
		d := []byte("{}")
		if b.Get(key).IsObject() {
			d = b.Raw(key)
		}
		if !gjson.GetBytes(d, count).Exists() {
			d = models.AddMember(d, count, []byte("0"))
		}
		b.Set(key, d)
	}
	details("input_tokens_details", "cached_tokens")
	details("output_tokens_details", "reasoning_tokens")
	if !b.Has("total_tokens") {
		b.Set("total_tokens", number(input+output))
	}
	return b.Bytes()
}
