package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	numbers "github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/suggest"
)

// extras reads the flags whose values have a form of their own.
func (b *builder) extras() {
	s := &b.a.Settings
	for _, u := range b.used["extra"] {
		if s.Template == "" {
			b.extra(u)
		}
	}
	for _, u := range b.used["header"] {
		name, _, ok := strings.Cut(u.text[0], ":")
		if !ok || strings.TrimSpace(name) == "" {
			b.fault(u.as, "is not NAME:VALUE", `such as -H "X-Tenant:blue"`)
			continue
		}
		s.Headers = append(s.Headers, u.text[0])
	}
	for _, u := range b.used["goodput"] {
		for _, text := range u.text {
			b.goodput(u.as, text)
		}
	}
	for _, u := range b.used["server-metrics"] {
		s.MetricsURLs = u.text
	}
}

// extra reads NAME:VALUE, NAME alone, or a JSON object.
func (b *builder) extra(u value) {
	s := &b.a.Settings
	text := u.text[0]
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		var object map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		err := d.Decode(&object)
		if err == nil && d.More() {
			err = errors.New("something follows it")
		}
		if err != nil {
			b.fault(u.as, "is not a JSON object: "+err.Error(), "")
			return
		}
		if s.Extra == nil && u.as == "input.extra" { // which a config repeats as {}, and a flag as nothing
			s.Extra = []Extra{}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			s.Extra = append(s.Extra, Extra{name, spelled(object[name])})
		}
		return
	}
	name, value, hasValue := strings.Cut(text, ":")
	switch {
	case name == "":
		b.fault(u.as, "is not NAME:VALUE", "such as --extra-inputs temperature:0")
	case strings.Contains(value, ":"):
		b.fault(u.as, fmt.Sprintf("the value of %s has a colon in it", shorten(name)), `give a JSON object: --extra-inputs '{"NAME": "VALUE"}'`)
	case hasValue && value == "":
		b.fault(u.as, "the value of "+shorten(name)+" is empty", `give a name alone for null, or a JSON object: --extra-inputs '{"NAME": ""}'`)
	case hasValue && slices.ContainsFunc(s.Extra, func(e Extra) bool { return e.Name == name }):
		b.fault(u.as, shorten(name)+" is given twice", "")
	case !hasValue:
		s.Extra = append(s.Extra, Extra{name, nil})
	default:
		s.Extra = append(s.Extra, Extra{name, guess(value)})
	}
}

// spelled is a value of JSON whose numbers are written as Python does: what has a fraction
// keeps one, and an integer has none.
func spelled(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return json.Number(numbers.Python(f))
		}
	case []any:
		for i := range v {
			v[i] = spelled(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = spelled(v[name])
		}
	}
	return v
}

// guess gives a text the type that the original takes it for: a number is digits, with one
// point at most. Signs and exponents make it a text.
func guess(text string) any {
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	if strings.Trim(text, "0123456789.") != "" || strings.Count(text, ".") > 1 {
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return json.Number(numbers.Python(f))
	}
	return text
}

// objectives are the metrics that goodput can have limits for.
func objectives() []string {
	return []string{
		"time_to_first_token", "time_to_second_token", "inter_token_latency", "request_latency",
		"output_token_throughput_per_user", "output_token_throughput_per_request", "image_throughput", "image_latency",
	}
}

// objective is an objective by its name. The first tutorial had them in the plural.
func objective(name string) string {
	switch name {
	case "time_to_first_tokens", "request_latencies", "inter_token_latencies":
		return strings.Replace(strings.TrimSuffix(name, "s"), "latencie", "latency", 1)
	case "output_token_throughputs_per_request":
		return "output_token_throughput_per_request"
	}
	return name
}

func (b *builder) goodput(as, text string) {
	name, value, ok := strings.Cut(text, ":")
	name = objective(name)
	v, err := strconv.ParseFloat(value, 64)
	switch {
	case !ok || err != nil:
		b.fault(as, fmt.Sprintf("%q is not METRIC:NUMBER", shorten(text)), "such as request_latency:300")
	case v < 0:
		b.fault(as, fmt.Sprintf("%s must not be negative, is %s", shorten(name), shorten(value)), "")
	case !slices.Contains(objectives(), name):
		b.fault(as, fmt.Sprintf("unknown metric %q", shorten(name)), suggest.Hint(name, objectives()))
	default:
		b.a.Settings.Goodput = append(b.a.Settings.Goodput, Objective{name, v})
	}
}
