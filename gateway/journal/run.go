package journal

import "time"

// Run is one request to a model with all its rounds. StartRun takes the first
// part; the part from Outcome on comes from FinishRun.
type Run struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"` // zero in StartRun: now
	Door    string    `json:"door"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	CWD     string    `json:"cwd"` // where the client works; "" when that is not known
	Model   string    `json:"model"`

	Outcome          Outcome  `json:"outcome"`
	Rounds           int      `json:"rounds"`
	PromptTokens     int64    `json:"prompt_tokens"`
	CompletionTokens int64    `json:"completion_tokens"`
	CostUSD          *float64 `json:"cost_usd"` // nil: the price is not known
	DurationMS       int64    `json:"duration_ms"`
	Error            string   `json:"error"`
}

// RunEnd is how a run ended.
type RunEnd struct {
	Outcome          Outcome // empty: unknown
	Rounds           int
	PromptTokens     int64
	CompletionTokens int64
	CostUSD          *float64
	DurationMS       int64
	Error            string
}

// runRow is a run on its way to disk.
type runRow struct {
	Run         // the first part never changes; the second is set once, by FinishRun
	queued bool // guarded by Journal.mu: the writer has not taken its start yet
	ended  bool // guarded by Journal.mu
	n      int64
}

// StartRun records that a run begins. It returns at once, unless the queue is
// full; the row is on disk some 40 ms later. While the file cannot be written,
// runs are lost, and the log says so.
func (j *Journal) StartRun(r Run) {
	if r.Time.IsZero() {
		r.Time = j.opts.Now()
	}
	row := &runRow{Run: r, queued: true}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.enqueueLocked(op{run: row}) {
		j.open[r.ID] = row
	}
}

// FinishRun records how a run that was started ended. It returns at once,
// unless the queue is full. A run that is not known is ignored.
func (j *Journal) FinishRun(id string, end RunEnd) {
	if end.Outcome == "" {
		end.Outcome = Unknown
	}
	if end.Error != "" {
		end.Error = j.opts.Redact(end.Error)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	row := j.open[id]
	if row == nil {
		return
	}
	delete(j.open, id)
	row.ended = true
	row.Outcome, row.Rounds, row.DurationMS, row.Error = end.Outcome, end.Rounds, end.DurationMS, end.Error
	row.PromptTokens, row.CompletionTokens, row.CostUSD = end.PromptTokens, end.CompletionTokens, end.CostUSD
	if !row.queued {
		j.enqueueLocked(op{run: row})
	}
}
