package hooks

// Alone answers an event where nobody can be asked and nothing be recorded: what
// only looks may run, and nothing else.
func Alone(e Event, judge Judge) Verdict {
	call, err := Read(e)
	if err != nil {
		return deny("%v", err)
	}
	switch call.Event {
	case PreToolUse:
		if judge.Judge(&call).Risky {
			return deny(NotRunning)
		}
		return Verdict{Allow: true}
	case PermissionRequest:
		return deny(NotRunning)
	default:
		return Verdict{Allow: true}
	}
}
