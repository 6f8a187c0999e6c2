package tools

import (
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"
)

// terms are the words a tool is found by, each with how much it says.
type terms map[string]float32

// How much the words of each part of a tool say.
const (
	nameWeight        = 3
	titleWeight       = 2
	serverWeight      = 2
	descriptionWeight = 1
	parameterWeight   = 0.5
)

// maxDescribed is how many bytes of a description are read for its words. What
// follows is examples and warnings.
const maxDescribed = 2000

func lazyTerms(def *Definition) func() terms {
	return sync.OnceValue(func() terms { return termsOf(def) })
}

func termsOf(def *Definition) terms {
	t := terms{}
	t.add(def.Name, nameWeight)
	t.add(def.Title, titleWeight)
	t.add(def.Server, serverWeight)
	t.add(def.Description[:min(len(def.Description), maxDescribed)], descriptionWeight)
	gjson.GetBytes(def.InputSchema, "properties").ForEach(func(name, property gjson.Result) bool {
		t.add(name.String(), parameterWeight)
		about := property.Get("description").String()
		t.add(about[:min(len(about), maxDescribed/10)], parameterWeight/2)
		return true
	})
	return t
}

// add adds the words of a text. A name written in several counts as one, too:
// CircleCI is also circleci.
func (t terms) add(text string, weight float32) {
	for _, run := range strings.FieldsFunc(text, notWord) {
		words := splitWords(run)
		for _, word := range words {
			t.addWord(word, weight)
		}
		if len(words) > 1 {
			t[strings.ToLower(run)] += weight
		}
	}
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }

func (t terms) addWord(word string, weight float32) {
	if stopWords[word] {
		return
	}
	for _, part := range wordParts(word) {
		stem := stemOf(part)
		t[stem] += weight
		if meaning := meanings[stem]; meaning != "" {
			t[meaning] += weight
		}
	}
}

// wordParts returns the word, or its pairs of characters when its writing puts
// no spaces between words.
func wordParts(word string) []string {
	runes := []rune(word)
	if len(runes) < 3 || !unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return []string{word}
	}
	var pairs []string
	for i := range len(runes) - 1 {
		pairs = append(pairs, string(runes[i:i+2]))
	}
	return pairs
}

// stemOf makes the forms of an English word equal: issue and issues; create,
// creates, created and creating.
func stemOf(word string) string {
	if len(word) < 4 || word[0] > 127 {
		return word
	}
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		word = word[:len(word)-3] + "y"
	case hasAnySuffix(word, "ches", "shes", "sses", "xes", "zes"):
		word = word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !hasAnySuffix(word, "ss", "us", "is"):
		word = word[:len(word)-1]
	}
	for _, ending := range [...]string{"ing", "ed"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) > 2 && strings.ContainsAny(stem, "aeiouy") {
			word = undouble(stem)
			break
		}
	}
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// undouble returns run for runn, and call for call.
func undouble(stem string) string {
	n := len(stem)
	if stem[n-1] == stem[n-2] && !strings.ContainsRune("lsz", rune(stem[n-1])) {
		return stem[:n-1]
	}
	return stem
}

func hasAnySuffix(word string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}

// stopWords say nothing about what a tool does.
var stopWords = setOf(`a about all also am an and any are as at be because been but by can could did do does
	for from had has have how i if in into is it its just let me my no not of on or our please so some such
	than that the their them then there these they this those to too tool tools us use used using want was we were what
	when where which who why will with would you your s t`)

// meanings give words that stand for one another a term in common, by stem.
var meanings = meaningsOf(
	"get fetch read retrieve view show display see look open",
	"list show enumerate",
	"search find query lookup",
	"create add make new insert write",
	"delete remove erase drop destroy",
	"update edit change modify set",
	"move rename transfer",
	"send post write message",
	"run execute start launch",
	"stop cancel halt kill",
	"repository repo",
	"issue ticket bug",
	"pull pr merge",
	"email mail message",
	"folder directory dir",
	"direction route navigate",
	"coordinate geocode latitude longitude",
	"file document doc",
	"content text body",
	"calendar meeting appointment event",
	"database db sql",
	"picture image photo screenshot",
	"web page website site url",
	"log output trace",
	"error failure exception crash",
	"name title label",
	"user person people member",
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// meaningsOf names the common term of each group after its first word.
func meaningsOf(groups ...string) map[string]string {
	named := map[string]string{}
	for _, group := range groups {
		words := strings.Fields(group)
		for _, word := range words {
			if stem := stemOf(word); named[stem] == "" {
				named[stem] = "~" + words[0]
			}
		}
	}
	return named
}
