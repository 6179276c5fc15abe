package study

import (
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
	"github.com/inferometer/inferometer/internal/tool/study/report"
)

// Export prints the averages of a profile export, experiment by experiment. answered: all
// of them have a request that was.
func Export(w io.Writer, name string) (answered bool, err error) {
	limit := tool.Inputs()
	f, err := limit.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	doc, err := profileexport.Read(limit.Reader(f, name))
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	answered = true
	for i := range doc.Experiments {
		a := doc.Experiments[i].Averages()
		answered = answered && a.Requests > 0
		if err := experiment(w, doc.Experiments[i].Load, &a); err != nil {
			return answered, err
		}
	}
	return answered, nil
}

func experiment(w io.Writer, load profileexport.Load, a *profileexport.Averages) error {
	name := "Request concurrency"
	if load.Mode == "request_rate" {
		name = "Request rate"
	}
	if _, err := fmt.Fprintf(w, "%s: %v\nRequest count: %d\n", name, load.Value, a.Requests); err != nil {
		return err
	}
	if a.Requests == 0 {
		return report.WriteNone(w, report.Prefill(), "no request was answered")
	}
	if err := report.WriteAverage(w, report.Prefill(), a.First()); err != nil {
		return err
	}
	if a.Gaps == 0 {
		return report.WriteNone(w, report.Generation(), "no request got more than one response")
	}
	return report.WriteAverage(w, report.Generation(), a.Gap())
}
