package servers

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates sampling and logging; servers in use ask for them all the same.

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers/diagnostics"
)

// metaKeyLogLevel is the member of _meta that says what a stateless server is to log.
const metaKeyLogLevel = mcp.MetaKeyLogLevel

func announceSampling(caps *mcp.ClientCapabilities, tools bool) {
	caps.Sampling = &mcp.SamplingCapabilities{}
	if tools {
		caps.Sampling.Tools = &mcp.SamplingToolsCapabilities{}
	}
}

// clientOptions are what the SDK's client is made of: handlers for what servers
// of the revisions before 2026-07-28 send to it. The SDK announces what has a
// handler, so there are none for what cannot be answered.
func (s *server) clientOptions(sess *session, able Abilities) *mcp.ClientOptions {
	opts := &mcp.ClientOptions{
		Capabilities:                announced(able),
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { sess.toolsChanged() },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { sess.onProgress(r.Params) },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { s.tellNotice(PromptsChanged, "") },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { s.tellNotice(ResourcesChanged, "") },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			if r.Params != nil {
				s.tellNotice(ResourceUpdated, r.Params.URI)
			}
		},
		ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
			s.onElicited(sess, r.Params.ElicitationID)
		},
	}
	if able.Sampling {
		opts.CreateMessageWithToolsHandler = func(ctx context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			result := new(mcp.CreateMessageWithToolsResult)
			raw, id := sess.mark.lift(r.Params, &r.Params.Meta)
			return result, s.answerInto(ctx, sess, id, methodSample, raw, result)
		}
	}
	if able.Form || able.URL {
		opts.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			result := new(mcp.ElicitResult)
			raw, id := sess.mark.lift(r.Params, &r.Params.Meta)
			return result, s.answerInto(ctx, sess, id, methodElicit, raw, result)
		}
	}
	return opts
}

// unchecked has elicitations answered without the SDK's opinion of their forms: it
// refuses some that the protocol has, and whoever asked checks the answer.
func unchecked(answer func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if asked, ok := req.(*mcp.ElicitRequest); ok && answer != nil {
				return answer(ctx, asked)
			}
			return next(ctx, method, req)
		}
	}
}

// answerInto answers a question, the answer as the SDK's type of it.
func (s *server) answerInto(ctx context.Context, sess *session, id int64, method string, params json.RawMessage, result any) error {
	raw, err := s.answer(ctx, sess, question{flight: id, method: method, params: params})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("answering %s: %w", method, err)
	}
	return nil
}

// logPatience bounds how long a server may take to accept a level for its log:
// its tools wait meanwhile. It is asked before the first call, so that no call is
// in the way when it has lost the session.
const logPatience = 2 * time.Second

// setLogLevel asks a server for its log. One that does not do as it is asked is
// none the worse. A stateless one is asked with each call.
func (s *server) setLogLevel(ctx context.Context, sess *session) {
	caps := sess.cs.InitializeResult().Capabilities
	if caps == nil || caps.Logging == nil || sess.stateless() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	err := sess.cs.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(s.logLevel())})
	if err != nil {
		s.note(diagnostics.Debug, diagnostics.Protocol, sess.id, "it does not take a level for its log: %v", err)
	}
}
