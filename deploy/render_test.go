package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// render renders the chart of inference-perf.
func render(values map[string]any) (string, error) { return renderChart("inference-perf", values) }

// renderChart renders a chart with values laid over its own, as helm does. Only the
// functions that the charts use are there.
func renderChart(chart string, values map[string]any) (string, error) {
	return renderFiles(chart, ".yaml", values)
}

// renderNotes renders what helm prints.
func renderNotes(chart string, values map[string]any) (string, error) {
	return renderFiles(chart, "NOTES.txt", values)
}

// renderFiles renders the templates whose names end so.
func renderFiles(chart, ending string, values map[string]any) (string, error) {
	own, err := readYAML(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return "", err
	}
	lay(own, values)
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return "", err
	}
	if err := schema.Validate(own); err != nil {
		return "", err
	}
	about, err := readYAML(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		return "", err
	}
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(functions(root))
	if _, err := root.ParseGlob(filepath.Join(chart, "templates", "*")); err != nil {
		return "", err
	}
	data := map[string]any{
		"Values":  own,
		"Chart":   map[string]any{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": map[string]any{"Name": "bench", "Namespace": "default", "Service": "Helm"},
	}
	var out strings.Builder
	templates := root.Templates()
	slices.SortFunc(templates, func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	for _, t := range templates {
		if !strings.HasSuffix(t.Name(), ending) {
			continue
		}
		out.WriteString("---\n")
		if err := t.Execute(&out, data); err != nil {
			return "", err
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}

// functions are those of Helm's that the charts use.
func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b bytes.Buffer
			err := root.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"fromYaml": func(text string) (v map[string]any, err error) {
			return v, yaml.Unmarshal([]byte(text), &v)
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"default": func(instead, v any) any {
			if truth, ok := template.IsTrue(v); ok && truth {
				return v
			}
			return instead
		},
		"dict": func(pairs ...any) map[string]any {
			out := map[string]any{}
			for i := 0; i < len(pairs); i += 2 {
				out[pairs[i].(string)] = pairs[i+1]
			}
			return out
		},
		"list": func(v ...any) []any { return v },
		"compact": func(list []any) []any {
			return slices.DeleteFunc(list, func(v any) bool { truth, _ := template.IsTrue(v); return !truth })
		},
		// Nothing is in the cluster yet, and chance always has it the same way.
		"lookup":       func(api, kind, namespace, name string) map[string]any { return nil },
		"randAlphaNum": func(n int) string { return strings.Repeat("r", n) },
		"b64enc":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"get": func(m map[string]any, key string) any {
			if v, has := m[key]; has {
				return v
			}
			return ""
		},
		"hasKey": func(m map[string]any, key string) bool { _, ok := m[key]; return ok },
		"ceil": func(v any) (float64, error) {
			f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
			return math.Ceil(f), err
		},
		"add":        func(a float64, b int) int { return int(a) + b },
		"quote":      func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"fail":       func(s string) (string, error) { return "", errors.New(s) },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimPrefix": func(start, s string) string { return strings.TrimPrefix(s, start) },
		"trimSuffix": func(end, s string) string { return strings.TrimSuffix(s, end) },
		"hasSuffix":  func(end, s string) bool { return strings.HasSuffix(s, end) },
		"contains":   func(part, s string) bool { return strings.Contains(s, part) },
		"kindIs":     func(kind string, v any) bool { return reflect.ValueOf(v).Kind().String() == kind },
		"int":        func(v any) (int, error) { return strconv.Atoi(fmt.Sprint(v)) },
	}
}

func readYAML(name string) (map[string]any, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, yaml.Unmarshal(text, &out)
}

// lay lays values over others, map by map.
func lay(under, over map[string]any) {
	for name, v := range over {
		if v == nil && under[name] != nil { // null removes
			delete(under, name)
			continue
		}
		a, isMap := under[name].(map[string]any)
		if b, ok := v.(map[string]any); ok && isMap {
			lay(a, b)
			continue
		}
		under[name] = v
	}
}
