package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pointsman/gateway/journal"
)

// Measure is what the usage screen counts.
type Measure string

// The measures.
const (
	MeasureCalls  Measure = "Calls"
	MeasureTokens Measure = "Tokens"
	MeasureCost   Measure = "Cost"
	MeasureTime   Measure = "Time"
)

// Measures are all measures, in the order they are offered in.
func Measures() []Measure {
	return []Measure{MeasureCalls, MeasureTokens, MeasureCost, MeasureTime}
}

// UsageDays are the spans that usage is shown over, in days.
func UsageDays() []int { return []int{7, 30, 90} }

// unknown stands where a number is not known. It is never 0: that would be one.
const unknown = "—"

// Bar is one amount beside others.
type Bar struct {
	Label string
	Value string  // the amount in words; "—" when it is not known
	Share float64 // of the greatest, from 0 to 1
	Hint  string  // all that is known, in one line
	Cells []string
}

// UsageColumns are the headings over a Bar's Cells.
func UsageColumns() []string { return []string{"Calls", "Tokens", "Cost", "Time"} }

// amount is a tally's amount of a measure; false when it is not known.
type amount func(journal.Tally, Measure) (float64, bool)

func runAmount(t journal.Tally, m Measure) (float64, bool) {
	switch m {
	case MeasureCalls:
		return float64(t.Calls), true
	case MeasureTokens:
		return float64(t.Tokens()), true
	case MeasureTime:
		return t.RunTime.Seconds(), true
	default:
		if t.CostUSD == nil {
			return 0, false
		}
		return *t.CostUSD, true
	}
}

// serverAmount is a server's: tokens and cost are a model's.
func serverAmount(t journal.Tally, m Measure) (float64, bool) {
	switch m {
	case MeasureCalls:
		return float64(t.Calls), true
	case MeasureTime:
		return t.CallTime.Seconds(), true
	default:
		return 0, false
	}
}

// DayBars are the bars of the days, oldest first.
func DayBars(u *journal.Usage, m Measure) []Bar {
	bars := make([]Bar, len(u.Days))
	amounts := make([]float64, len(u.Days))
	for i, day := range u.Days {
		bars[i] = bar(day.Day.Format("Mon 2 Jan"), day.Tally, m, runAmount)
		amounts[i], _ = runAmount(day.Tally, m)
	}
	share(bars, amounts)
	return bars
}

// ModelBars are the bars of the models, the longest first.
func ModelBars(u *journal.Usage, m Measure) []Bar { return namedBars(u.Models, m, runAmount) }

// ServerBars are the bars of the servers, the longest first.
func ServerBars(u *journal.Usage, m Measure) []Bar { return namedBars(u.Servers, m, serverAmount) }

func namedBars(tallies []journal.NamedTally, m Measure, of amount) []Bar {
	tallies = slices.Clone(tallies)
	slices.SortStableFunc(tallies, func(a, b journal.NamedTally) int {
		x, _ := of(a.Tally, m)
		y, _ := of(b.Tally, m)
		return cmp.Compare(y, x)
	})
	bars, amounts := make([]Bar, len(tallies)), make([]float64, len(tallies))
	for i, t := range tallies {
		bars[i] = bar(cmp.Or(OneLine(t.Name), "not named"), t.Tally, m, of)
		amounts[i], _ = of(t.Tally, m)
	}
	share(bars, amounts)
	return bars
}

// share gives each bar its length.
func share(bars []Bar, amounts []float64) {
	if len(amounts) == 0 {
		return
	}
	most := slices.Max(amounts)
	for i, n := range amounts {
		if most > 0 {
			bars[i].Share = n / most
		}
	}
}

func bar(label string, t journal.Tally, m Measure, of amount) Bar {
	b := Bar{Label: label}
	for _, each := range Measures() {
		said := sayAmount(t, each, of)
		b.Cells = append(b.Cells, said)
		if each == m {
			b.Value = said
		}
	}
	b.Hint = label + ": " + hint(t, b.Cells)
	return b
}

// hint says all that a bar stands for in one line.
func hint(t journal.Tally, cells []string) string {
	said := []string{CountOf(t.Calls, "call")}
	if t.Runs > 0 {
		said = append(said, CountOf(t.Runs, "run"), cells[1]+" tokens ("+Count(t.PromptTokens)+" in, "+Count(t.CompletionTokens)+" out)", cells[2])
	}
	if t.Unpriced > 0 {
		said = append(said, CountOf(t.Unpriced, "run")+" at no known price")
	}
	return join(append(said, cells[3])...)
}

func sayAmount(t journal.Tally, m Measure, of amount) string {
	n, known := of(t, m)
	switch {
	case !known:
		return unknown
	case m == MeasureCost && t.Unpriced > 0:
		return "over " + Dollars(n) // of the others it is not known
	case m == MeasureCost:
		return Dollars(n)
	case m == MeasureTime:
		return Elapsed(time.Duration(n * float64(time.Second)))
	default:
		return Count(int64(n))
	}
}

// Dollars says an amount of money to a person: cents where there are any, and
// the first two digits of less.
func Dollars(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.0001:
		return "under $0.0001"
	case usd < 0.1:
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	default:
		whole, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil { // more than fits: without the commas, then
			return "$" + whole + "." + cents
		}
		return "$" + Count(n) + "." + cents
	}
}

// Count says a number to a person: "12,345".
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && digits[i-1] != '-' && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// CountOf says how many: "1 tool", "12,345 tools".
func CountOf[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Count(int64(n)) + " " + what + "s"
}

// UsageFigures are the sums of a span, as its headline: each a number and what
// it counts.
func UsageFigures(u *journal.Usage) [][2]string {
	return [][2]string{
		{Count(u.Total.Runs), "runs"},
		{sayAmount(u.Total, MeasureCalls, runAmount), "calls"},
		{sayAmount(u.Total, MeasureTokens, runAmount), "tokens"},
		{sayAmount(u.Total, MeasureCost, runAmount), "cost"},
		{sayAmount(u.Total, MeasureTime, runAmount), "time"},
	}
}

// AnswerBars are how often people were asked and what they answered.
func AnswerBars(a journal.Answers) []Bar {
	rows := []struct {
		label string
		n     int64
	}{
		{"Allowed", a.Allowed}, {"Denied", a.Denied}, {"Not answered in time", a.NotAnswered}, {"Withdrawn first", a.Withdrawn},
	}
	bars, amounts := make([]Bar, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		bars[i] = Bar{Label: row.label, Value: Count(row.n), Hint: fmt.Sprintf("%s: %s of %s", row.label, Count(row.n), Count(a.Asked()))}
		amounts[i] = float64(row.n)
	}
	share(bars, amounts)
	return bars
}

// AnswersLine says in a sentence how often people were asked, and what answered
// for them.
func AnswersLine(a journal.Answers) string {
	if a == (journal.Answers{}) {
		return "No call needed an answer."
	}
	said := fmt.Sprintf("You were asked about %s.", CountOf(a.Asked(), "call"))
	if a.Edited > 0 {
		said += fmt.Sprintf(" %s with other arguments.", CountOf(a.Edited, "call")+" allowed")
	}
	if a.ByRule > 0 {
		said += fmt.Sprintf(" A remembered rule answered for %s.", CountOf(a.ByRule, "call"))
	}
	if a.BySetting > 0 {
		said += fmt.Sprintf(" The configuration answered for %s.", CountOf(a.BySetting, "call"))
	}
	return said
}
