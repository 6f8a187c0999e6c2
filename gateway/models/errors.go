package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Code is why a request failed: the closed set that every door speaks.
type Code string

// The codes.
const (
	InvalidRequest  Code = "invalid_request"
	NoDeployment    Code = "no_deployment"
	UpstreamError   Code = "upstream_error"
	RateLimited     Code = "rate_limited"
	ContextExceeded Code = "context_exceeded"
	SchemaFailed    Code = "schema_validation_failed"
	Timeout         Code = "timeout"
	ContentFiltered Code = "content_filtered"
	AuthFailed      Code = "auth_failed"
	OutputTruncated Code = "output_truncated"
)

// Error is a request's failure, told so that its reader can act on it.
type Error struct {
	Code       Code
	Status     int           // HTTP status for the caller
	Message    string        // for a person; holds no secret
	Param      string        // the request field at fault, or ""
	RetryAfter time.Duration // zero: not said
	Body       []byte        // a provider's own 4xx body, to be passed on; nil: none
	Err        error         // the cause, or nil
	Attempts   []Attempt     // who was asked on the way, where somebody was
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Invalid returns the error of a request that is itself at fault.
func Invalid(param, format string, args ...any) *Error {
	return &Error{Code: InvalidRequest, Status: http.StatusBadRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}

// movesOn reports whether asking once more, or somebody else, may help.
func (e *Error) movesOn() bool {
	if errors.Is(e.Err, errLongReply) { // it would be as long again
		return false
	}
	switch e.Code {
	case UpstreamError, RateLimited, Timeout, AuthFailed:
		return true
	default:
		return false
	}
}

// unasked reports whether the provider was not even asked, because there is no
// key for it.
func (e *Error) unasked() bool { return e.Code == AuthFailed && e.Err != nil }

// JSON returns the error in OpenAI's shape.
func (e *Error) JSON() []byte {
	if e.Body != nil {
		return e.Body
	}
	code := string(e.Code)
	if e.Code == ContextExceeded {
		code = "context_length_exceeded" // OpenAI's word for it: clients compact when they see it
	}
	var param any
	if e.Param != "" {
		param = e.Param
	}
	out, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": e.Message, "type": errorType(e.Status), "param": param, "code": code,
	}})
	if err != nil { // a string and a nil cannot fail to encode
		return []byte(`{"error":{"message":"internal error","type":"api_error","param":null,"code":"upstream_error"}}`)
	}
	return out
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "authentication_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status < 500:
		return "invalid_request_error"
	default:
		return "api_error"
	}
}

// AsError returns err as an *Error, making one of what is not. The caller's own
// cancellation stays recognisable through errors.Is(err, context.Canceled).
func AsError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Status: http.StatusGatewayTimeout, Message: err.Error(), Err: err}
	default:
		return &Error{Code: UpstreamError, Status: http.StatusBadGateway, Message: err.Error(), Err: err}
	}
}

// clean takes credentials out of an error made of what others said: providers
// repeat keys, and addresses may hold them.
func (d *Deployment) clean(e *Error) *Error {
	if d.redact == nil {
		return e
	}
	e.Message = d.redact(e.Message)
	if e.Body == nil {
		return e
	}
	if body := d.redact(string(e.Body)); body != string(e.Body) {
		if e.Body = []byte(body); !Valid(e.Body) {
			e.Body = nil // the message tells it
		}
	}
	return e
}

// fromStatus turns a provider's reply with an error status into an Error.
func (d *Deployment) fromStatus(status int, header http.Header, body []byte) *Error {
	provider, said := d.Provider, saidBy(body)
	e := &Error{RetryAfter: retryAfter(header)}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Code, e.Status = AuthFailed, http.StatusForbidden
		e.Message = fmt.Sprintf("provider %s refused our key (%d): %s; set another with `pointsman keys set %s`", provider, status, said, provider)
	case status == http.StatusTooManyRequests:
		e.Code, e.Status = RateLimited, http.StatusTooManyRequests
		e.Message = fmt.Sprintf("provider %s limits our rate: %s", provider, said)
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		e.Code, e.Status = Timeout, http.StatusGatewayTimeout
		e.Message = fmt.Sprintf("provider %s timed out (%d): %s", provider, status, said)
	case status >= 500, status < 400:
		e.Code, e.Status = UpstreamError, http.StatusBadGateway
		e.Message = fmt.Sprintf("provider %s failed (%d): %s", provider, status, said)
	case contextExceeded(status, body):
		e.Code, e.Status = ContextExceeded, http.StatusBadRequest
		e.Message = said
	default: // the caller's fault, in the provider's words
		e.Code, e.Status = InvalidRequest, status
		if filteredBy(body) {
			e.Code = ContentFiltered
		}
		e.Message = said
		if Valid(body) && gjson.GetBytes(body, "error").IsObject() {
			e.Body = body
		}
	}
	return d.clean(e)
}

// contextExceeded reports whether a provider says that the prompt is too long,
// by OpenAI's code or by the words that others use.
func contextExceeded(status int, body []byte) bool {
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return false
	}
	if gjson.GetBytes(body, "error.code").String() == "context_length_exceeded" {
		return true
	}
	text := strings.ToLower(saidBy(body))
	for _, words := range []string{"context length", "context window", "context_length", "prompt is too long", "too many tokens"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// filteredBy reports whether a provider says that its content filter has refused
// the request, by the code of OpenAI's or of Azure's.
func filteredBy(body []byte) bool {
	for _, path := range []string{"error.code", "error.innererror.code", "error.type"} {
		switch gjson.GetBytes(body, path).String() {
		case "content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation":
			return true
		}
	}
	return false
}

// saidBy returns the message of a provider's error body, at most 500 bytes.
func saidBy(body []byte) string {
	for _, path := range []string{"error.message", "message", "detail", "error"} {
		if r := gjson.GetBytes(body, path); r.Type == gjson.String && r.String() != "" {
			return cut(r.String(), 500)
		}
	}
	text := strings.TrimSpace(string(body))
	switch {
	case text == "":
		return "no message"
	case strings.HasPrefix(text, "<"):
		return "an HTML page instead of JSON"
	default:
		return cut(text, 500)
	}
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// maxRetryAfter bounds what a provider's Retry-After may ask of us.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads Retry-After, in seconds or as a date (RFC 9110, 10.2.3).
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		if !(seconds > 0) { // or no number
			return 0
		}
		return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter)
}
