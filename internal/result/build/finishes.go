package build

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/metric"
)

// Of finish reasons that nobody knows, a note names so many, each with so many characters.
const (
	namedFinishes = 3
	longestFinish = 40
)

// finishes names the finish reasons that nobody knows: their responses count as successes.
func (j *judge) finishes(i int, sum *metric.StageStats) {
	f := sum.Finishes
	list := f.List()
	var names []string
	for k, finish := range list {
		if k == namedFinishes {
			names = append(names, fmt.Sprintf("%d others", len(list)-k))
			break
		}
		names = append(names, fmt.Sprintf("%q in %s", truncate.Fit(finish, longestFinish), number.Plural(f[finish], "response")))
	}
	if len(names) > 0 {
		j.addNote(i, "Unknown finish reason: %s. They count as complete.", strings.Join(names, ", "))
	}
}
