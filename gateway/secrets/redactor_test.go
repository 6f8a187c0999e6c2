package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"pointsman/gateway/secrets"
)

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

const keyBlock = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75Zx\nq8hVtX2m\n-----END RSA PRIVATE KEY-----"

// credentials are one secret of each kind, planted where it is commonly found.
var credentials = []struct{ name, text, secret string }{
	{"openai", "key sk-abcdEFGH1234abcdEFGH1234 used", "sk-abcdEFGH1234abcdEFGH1234"},
	{"openai project", "sk-proj-AbCd_1234-zzZZ", "sk-proj-AbCd_1234-zzZZ"},
	{"anthropic", "(sk-ant-api03-AAAA1111bbbb)", "sk-ant-api03-AAAA1111bbbb"},
	{"gemini", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIzaSyA1234567890abcdefghijklmnopqrstuv"},
	{"groq", "gsk_1234567890abcdefghij", "gsk_1234567890abcdefghij"},
	{"xai", "xai-1234567890abcdefghij", "xai-1234567890abcdefghij"},
	{"github", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
	{"github oauth", "gho_16C7e42F292c6912E7710c838347Ae178B4a", "gho_16C7e42F292c6912E7710c838347Ae178B4a"},
	{"github fine-grained", "github_pat_11ABCDEFG0_abcdefghijklmnop", "github_pat_11ABCDEFG0_abcdefghijklmnop"},
	{"gitlab", "glpat-abcDEF123456_-xyz789", "glpat-abcDEF123456_-xyz789"},
	{"aws id", "AKIAIOSFODNN7EXAMPLQ", "AKIAIOSFODNN7EXAMPLQ"},
	{"aws secret", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY"},
	{"slack", "xoxb-1234567890-abcdefghij", "xoxb-1234567890-abcdefghij"},
	{"stripe", "rk_live_4eC39HqLyjWDarjtT1zdp7dc", "rk_live_4eC39HqLyjWDarjtT1zdp7dc"},
	{"npm", "//host/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_abcdefghijklmnopqrstuvwxyz0123456789"},
	{"jwt", "token is " + jwt + ".", jwt},
	{"bearer", "Authorization: Bearer abcdef1234567890abcdef", "abcdef1234567890abcdef"},
	{"bearer in json", `{"Authorization":"Bearer abc123def456ghi7"}`, "abc123def456ghi7"},
	{"basic", "authorization: Basic dXNlcjpodW50ZXIyMg==", "dXNlcjpodW50ZXIyMg"},
	{"private key", "before " + keyBlock + " after", "MIIEowIBAAKCAQEA75Zx"},
	{"private key in json", `{"k":"` + strings.ReplaceAll(keyBlock, "\n", `\n`) + `"}`, "q8hVtX2m"},
	{"private key cut off", keyBlock[:70], "MIIEowIBAAKCAQEA75Zx"},
	{"password yaml", "password: hunter2", "hunter2"},
	{"password json", `{"password":"correct horse 9"}`, "correct horse 9"},
	{"password escaped json", `"{\"password\":\"hunter22\",\"a\":1}"`, "hunter22"},
	{"password twice escaped", `"{\\\"password\\\":\\\"hunter22\\\"}"`, "hunter22"},
	{"auth", `"auth": "s3cr3t-value"`, "s3cr3t-value"},
	{"api key env", "export MY_API_KEY=abc123def", "abc123def"},
	{"client secret camel", `clientSecret = "s3cr3t-value"`, "s3cr3t-value"},
	{"query", "https://example.com/a?access_token=abc123def&x=1", "abc123def"},
	{"signature", "https://b.example.com/o?X-Amz-Signature=0123456789abcdef0123", "0123456789abcdef0123"},
	{"key in query", "https://example.com/v1?key=0123456789abcdef0123", "0123456789abcdef0123"},
	{"user info", "postgres://admin:s3cr3tpass@db.example.com/app", "s3cr3tpass"},
	{"token as user", "https://0123456789abcdef0123@example.com/r.git", "0123456789abcdef0123"},
	{"set-cookie", "Set-Cookie: session=abcdef12345; Path=/; HttpOnly", "abcdef12345"},
	{"cookie", "cookie: a=b; sid=abcdef12345", "abcdef12345"},
	{"flag", "mysql --password s3cr3tpass -h db", "s3cr3tpass"},
	{"flag in array", `["run","--api-key","s3cr3tpass1"]`, "s3cr3tpass1"},
	{"after an escaped break", `a\nsk-abcdEFGH1234abcdEFGH1234`, "sk-abcdEFGH1234abcdEFGH1234"},
	{"url-encoded before", "q%3Dsk-abcdEFGH1234abcdEFGH1234", "sk-abcdEFGH1234abcdEFGH1234"},
	{"header assignment", `headers["x-api-key"] = "abc123def"`, "abc123def"},
	{"connection string", "AccountKey=abcDEF123+/zzz==;EndpointSuffix=x", "abcDEF123+/zzz=="},
}

func TestRedactKinds(t *testing.T) {
	var r secrets.Redactor
	for _, tt := range credentials {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(tt.text, tt.secret) {
				t.Fatal("the case does not hold its secret")
			}
			got := r.Redact(tt.text)
			if strings.Contains(got, tt.secret) || !strings.Contains(got, secrets.Mark) {
				t.Errorf("Redact(%q) = %q", tt.text, got)
			}
			if again := r.Redact(got); again != got {
				t.Errorf("a second time gives %q after %q", again, got)
			}
			if !r.Holds(tt.text) || r.Holds(got) {
				t.Errorf("Holds: %v before, %v after", r.Holds(tt.text), r.Holds(got))
			}
		})
	}
}

func TestRedactLeavesOrdinaryTextAlone(t *testing.T) {
	var r secrets.Redactor
	for _, text := range []string{
		"", "The quick brown fox.", "Please keep the password: it is needed later.",
		"commit 1ef78f4c3b2a19087f6e5d4c3b2a19087f6e5d4c", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"id 550e8400-e29b-41d4-a716-446655440000", "/home/me/src/secrets/token.go:12:3: undefined",
		`C:\Users\me\AppData\Local\token.txt`, `{"max_tokens":100000,"prompt_tokens":12,"total_tokens":112345}`,
		"max_completion_tokens=4096", `"token_type": "bearer"`, "tokenizer: cl100k_base",
		"password: ${DB_PASSWORD}", "api_key: <your key>", "api_key: YOUR_API_KEY", "token: xxxxxxxx", "key: keychain:openai", "api_key: os.environ/OPENAI_API_KEY",
		"Authorization: Bearer ${keychain:github}", "Authorization: Bearer <token>", "Authorization: Bearer " + secrets.Mark,
		"password := os.Getenv(\"PASSWORD\")", "token = get_token()", "apiKey: process.env.OPENAI_API_KEY", "token := lexer.Next()",
		`{"properties":{"token":{"type":"string","description":"the token"}},"required":["token","password"]}`,
		"password: string", "func(token string) bool", "if token == nil {", "secret != other",
		"Basic authentication and Basic Programming", "the bearer of bad news", "bearer authentication",
		"ssh://git@example.com/a/b.git", "https://example.com/path?q=1&page=2", "git@github.com:me/repo.git",
		"sk-learn-is-a-library-for-python", "task-1234567890123456", "disk-1234567890abcdefgh",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "--token <TOKEN>", "2026-11-30T18:28:21Z level=info msg=done",
		"cookie: chocolate chip", "a secret: nobody knows", "monkey: banana", "keyboard: qwerty123", "author: me", "tokens: 123456",
		`gateway.auth: "nobody" is not known; allowed: key, none`, "auth: none", `"auth": "oauth-device"`,
	} {
		if got := r.Redact(text); got != text {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

func TestRedactAddedValues(t *testing.T) {
	const plain = `p@ss "word"/é 42`
	var r secrets.Redactor
	r.Add(plain)
	r.Add("longer-secret-value")
	r.Add("longer-secret-value-indeed")
	quoted, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"as it is":    "x" + plain + "y",
		"url query":   "q=" + url.QueryEscape(plain),
		"url path":    "/" + url.PathEscape(plain),
		"json":        string(quoted),
		"base64":      base64.StdEncoding.EncodeToString([]byte(plain)),
		"base64 url":  base64.URLEncoding.EncodeToString([]byte(plain)),
		"basic":       base64.StdEncoding.EncodeToString([]byte("me:" + plain)),
		"basic two":   base64.StdEncoding.EncodeToString([]byte("me2:" + plain + "!")),
		"basic three": base64.StdEncoding.EncodeToString([]byte("user:" + plain)),
	} {
		if got := r.Redact(text); got == text || !strings.Contains(got, secrets.Mark) || strings.Contains(got, plain) {
			t.Errorf("%s: Redact(%q) = %q", name, text, got)
		}
	}
	r.Add(`pa"ss<é>(1)/🔑 x`)
	for name, text := range map[string]string{
		"JSON of JavaScript":         `pa\"ss<é>(1)/🔑 x`,
		"JSON of Python":             `pa\"ss<\u00e9>(1)/\ud83d\udd11 x`,
		"JSON of Python, in JSON":    `pa\\\"ss<\\u00e9>(1)/\\ud83d\\udd11 x`,
		"a URL of Python":            "pa%22ss%3C%C3%A9%3E%281%29/%F0%9F%94%91%20x",
		"a URL of JavaScript":        "pa%22ss%3C%C3%A9%3E(1)%2F%F0%9F%94%91%20x",
		"a form with small digits":   "pa%22ss%3c%c3%a9%3e%281%29%2f%f0%9f%94%91+x",
		"JavaScript, small digits":   "pa%22ss%3c%c3%a9%3e(1)%2f%f0%9f%94%91%20x",
		"a part of a longer address": "https://h/?q=pa%22ss%3C%C3%A9%3E%281%29/%F0%9F%94%91%20x&y",
	} {
		if got := r.Redact(text); !strings.Contains(got, secrets.Mark) || strings.Contains(got, "ss") || strings.HasSuffix(got, "x") {
			t.Errorf("%s: Redact(%q) = %q", name, text, got)
		}
	}
	if got := r.Redact("a longer-secret-value-indeed b"); got != "a "+secrets.Mark+" b" {
		t.Errorf("the longest is not taken first: %q", got)
	}
}

func TestAddIgnoresWhatWouldHideOrdinaryWords(t *testing.T) {
	var r secrets.Redactor
	for _, value := range []string{"", " ", "a", "the", "12345", "${TOKEN}", "<token>", secrets.Mark} {
		r.Add(value)
	}
	if text := "the 12345 ${TOKEN} <token> " + secrets.Mark; r.Redact(text) != text {
		t.Errorf("got %q", r.Redact(text))
	}
}

func TestRedactJSON(t *testing.T) {
	var r secrets.Redactor
	r.Add("planted-value-77")
	tests := []struct{ name, in, want string }{
		{"untouched", ` { "a" : [1, 2.50, "x\u003c"] } `, ` { "a" : [1, 2.50, "x\u003c"] } `},
		{"by name", `{"password":"pw","n":1}`, `{"password":"pw","n":1}`},
		{"by name, longer", `{"password": "hunter2", "n": 1}`, `{"password": "[redacted]", "n": 1}`},
		{"number", `{"secret_pin": 1234567}`, `{"secret_pin": "[redacted]"}`},
		{"escaped", `{"a":"sk\u002dabcdEFGH1234abcdEFGH1234"}`, `{"a":"[redacted]"}`},
		{"nested text", `{"a":"{\"token\":\"abc123def\"}"}`, `{"a":"{\"token\":\"[redacted]\"}"}`},
		{"key", `{"planted-value-77":1}`, `{"[redacted]":1}`},
		{"name and value", `[{"name":"API_KEY","value":"plainwords"}]`, `[{"name":"API_KEY","value":"[redacted]"}]`},
		{"flag", `["--token","plainwords","x"]`, `["--token","[redacted]","x"]`},
		{"schema", `{"token":{"type":"string"}}`, `{"token":{"type":"string"}}`},
		{"no json", `password=hunter2 {`, `"password=[redacted] {"`},
		{"html kept", `{"a":"<b> planted-value-77"}`, `{"a":"<b> [redacted]"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(r.RedactJSON(json.RawMessage(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := r.RedactJSON(nil); got != nil {
		t.Errorf("nil gives %q", got)
	}
}

// cleanText is 64 KiB of what commonly passes: prose, code, JSON, hashes.
func cleanText() string {
	const piece = `The tool wrote {"path":"/home/me/src/main.go","lines":120,"ok":true} in commit 1ef78f4c3b2a; see https://example.com/a?b=1.
func main() { value := compute(x, y); fmt.Println(value) } // ratio: 0.5, name: demo
`
	return strings.Repeat(piece, 64<<10/len(piece)+1)[:64<<10]
}

func BenchmarkRedactClean(b *testing.B) {
	var r secrets.Redactor
	for _, value := range []string{"one-secret-value-1", "two-secret-value-2", "zQ9-tt-secret-3"} {
		r.Add(value)
	}
	text := cleanText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r.Redact(text) != text {
			b.Fatal("the text is not clean")
		}
	}
}

func BenchmarkRedactHostile(b *testing.B) {
	var r secrets.Redactor
	for name, piece := range map[string]string{"sk": "sk-", "basic": "basic+", "pairs": `token:"`, "begin": "-----BEGIN ", "slashes": `\`, "addresses": "://a"} {
		text := strings.Repeat(piece, 64<<10/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Redact(text)
			}
		})
	}
}

func FuzzRedact(f *testing.F) {
	for _, c := range credentials {
		f.Add(c.text)
	}
	f.Add(`[redacted]`)
	f.Add("password=[redacted]x token:")
	var r secrets.Redactor
	const planted = "Planted/Value+77 zz"
	r.Add(planted)
	f.Fuzz(func(t *testing.T, text string) {
		once := r.Redact(text)
		if twice := r.Redact(once); twice != once {
			t.Errorf("not the same twice: %q, %q, %q", text, once, twice)
		}
		if r.Holds(once) {
			t.Errorf("Redact(%q) = %q still holds a secret", text, once)
		}
		for _, mixed := range []string{text + planted, planted + text, text + planted + text} {
			if got := r.Redact(mixed); strings.Contains(got, planted) {
				t.Errorf("the planted value survived in %q", got)
			}
		}
		if got := r.RedactJSON(json.RawMessage(text)); strings.TrimSpace(text) != "" && !json.Valid(got) {
			t.Errorf("RedactJSON(%q) = %q is no JSON", text, got)
		}
		inJSON, err := json.Marshal(map[string]string{"a": text + planted})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.RedactJSON(inJSON); !json.Valid(got) || strings.Contains(string(got), planted) {
			t.Errorf("RedactJSON(%s) = %s", inJSON, got)
		}
	})
}

// TestPlantedCredentialsNeverSurvive puts each credential into texts that
// machines write, between neighbours drawn at random.
func TestPlantedCredentialsNeverSurvive(t *testing.T) {
	tokens := []string{
		"sk-abcdEFGH1234abcdEFGH1234", "sk-ant-api03-AAAA1111bbbb", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "gsk_1234567890abcdefghij",
		"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "glpat-abcDEF123456_-xyz789", "AKIAIOSFODNN7EXAMPLQ", "xoxb-1234567890-abcdefghij", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", jwt,
	}
	frames := []string{"%s", "a %s b", `{"k":"%s"}`, `{\"k\":\"%s\"}`, "k=%s&x=1", "k: %s\n", "'%s'", "(%s)", "[%s]", "<%s>", "%s,%s", "a\\n%s\\nb", "x%%20%s", "`%s`", "$%s", "/%s/", "|%s|", "\t%s\r\n", "é%s", "k=\"%s\";", "@%s:", "%s.", "…%s…"}
	glue := []string{"", " ", "\n", ": ", "=", "\"", "\\\"", "password", "token: ", "https://", "--api-key ", "{", "}", "Bearer ", "[redacted]", "x y z "}
	var r secrets.Redactor
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		token, frame := tokens[random.IntN(len(tokens))], frames[random.IntN(len(frames))]
		text := glue[random.IntN(len(glue))] + " " + strings.ReplaceAll(strings.ReplaceAll(frame, "%s", token), "%%", "%") + " " + glue[random.IntN(len(glue))]
		if got := r.Redact(text); strings.Contains(got, token) || r.Redact(got) != got {
			t.Fatalf("Redact(%q) = %q", text, got)
		}
	}
}
