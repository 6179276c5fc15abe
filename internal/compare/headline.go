package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
)

// Why a row has no interval.
const (
	fewRequests = "too few requests to say"
	noRequests  = "no per-request data: cannot compute an interval"
	notOnFirst  = "not measured on the first side"
	notOnOther  = "not measured on the other side"
	neverEnded  = "requests did not end: those that did cannot say between what the difference lies"
)

// brieflyWhy is why a row is not known, for a count of such rows.
func (r *Row) brieflyWhy() string {
	switch {
	case r.Why == fewRequests:
		return "too few requests"
	case r.Why == noRequests:
		return "no single requests"
	case r.Why == notOnFirst || r.Why == notOnOther:
		return "measured on one side only"
	case r.Why == neverEnded || r.A != nil && r.A.AtLeast || r.B != nil && r.B.AtLeast:
		return "requests did not end"
	}
	return "for other reasons"
}

// headline says how many figures were compared, what came of it, and how many are not known.
func (t *Table) headline(confidence, size float64) string {
	if len(t.Rows) == 0 {
		return ""
	}
	text := number.Plural(int64(t.Compared), "figure") + " compared"
	if t.Unknown > 0 {
		text = fmt.Sprintf("%d of %s compared, %d not known (%s)", t.Compared, number.Plural(int64(len(t.Rows)), "figure"), t.Unknown, t.reasons())
	}
	if t.Compared == 0 {
		text = strings.Replace(text, "0 of ", "None of ", 1) + ": whether differences are more than chance cannot be said."
	} else {
		text += ": " + t.differences(confidence)
	}
	return text + t.largest(size)
}

// reasons are why rows are not known, the most frequent first, each with its number where there are
// several.
func (t *Table) reasons() string {
	count := map[string]int{}
	var order []string
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Verdict == NotKnown {
			why := r.brieflyWhy()
			if count[why]++; count[why] == 1 {
				order = append(order, why)
			}
		}
	}
	if len(order) == 1 {
		return order[0]
	}
	slices.SortStableFunc(order, func(a, b string) int { return count[b] - count[a] })
	for i, why := range order {
		order[i] = fmt.Sprintf("%d %s", count[why], why)
	}
	return strings.Join(order, ", ")
}

// differences says how many were found, and what chance has to do with it.
func (t *Table) differences(confidence float64) string {
	if t.Found == 0 {
		return "no difference found."
	}
	text := number.Plural(int64(t.Found), "difference") + " found"
	chance := fmt.Sprintf("chance, which alone finds %.1f in so many comparisons", (1-confidence)*float64(t.Compared))
	switch {
	case t.Firm == t.Found && t.Found == 1:
		return text + ", which stands with Holm's correction for so many comparisons."
	case t.Firm == t.Found:
		return text + ", which stand with Holm's correction for so many comparisons."
	case t.Found == 1:
		return text + ", which may be " + chance + ": it does not stand with Holm's correction."
	case t.Firm == t.Found-1:
		return text + fmt.Sprintf(", %d of them firm. The one with a question mark may be %s: it does not stand with Holm's correction.", t.Firm, chance)
	}
	return text + fmt.Sprintf(", %s of them firm. Those with a question mark may be %s: they do not stand with Holm's correction.", orNone(t.Firm), chance)
}

func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// largest names the largest difference among figures that are not known, where it is one of the
// size that is looked for: a reader sees it in the table, and must not take it for found or for
// chance.
func (t *Table) largest(size float64) string {
	var at *Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Verdict != NotKnown || r.Delta == nil || r.Delta.Relative == nil || math.Abs(*r.Delta.Relative) < size {
			continue
		}
		if at == nil || math.Abs(*r.Delta.Relative) > math.Abs(*at.Delta.Relative) {
			at = r
		}
	}
	if at == nil {
		return ""
	}
	digits := 1
	if math.Abs(*at.Delta.Relative) >= 0.1 {
		digits = 0
	}
	return fmt.Sprintf(" The largest difference that is not known to be more than chance is that of %s: %+.*f %%.", at.called(), digits, 100**at.Delta.Relative)
}

// called is the name of a figure in a sentence.
func (r *Row) called() string {
	if r.Stat == average {
		return r.Name
	}
	return r.Name + " " + r.Stat
}
