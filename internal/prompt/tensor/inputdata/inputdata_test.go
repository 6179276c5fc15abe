package inputdata

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func value(name, text string, line int, shape ...int64) tensor.Value {
	return tensor.Value{Name: name, Text: []byte(text), File: "d.json", Line: line, Shape: shape}
}

func TestForms(t *testing.T) {
	got, err := parse("d.json", []byte(`{
  "about": {"data": "members that nobody knows are skipped"},
  "data": [
    {"A": [1, 2], "B": [["x"], ["y"]], "model": "m"},
    {"A": {"content": [1, 2, 3, 4], "shape": [2, 2]},
     "B": {"b64": "AQAAAGE="}},
    {"A": {"shape": [2], "content": {"b64": "AAE\n CAw"}}, "B": "alone"},
    {"A": [NaN, -Inf, Infinity, "NaN \" Inf"]}
  ]
}`))
	if err != nil {
		t.Fatal(err)
	}
	raw := func(v tensor.Value) tensor.Value { v.Form = tensor.FormRaw; return v }
	want := &Data{Streams: [][]tensor.Item{{
		{Values: []tensor.Value{value("A", "[1, 2]", 4), value("B", `[["x"], ["y"]]`, 4), value("model", `"m"`, 4)}},
		{Values: []tensor.Value{value("A", "[1, 2, 3, 4]", 5, 2, 2), raw(value("B", "\x01\x00\x00\x00a", 6))}},
		{Values: []tensor.Value{raw(value("A", "\x00\x01\x02\x03", 7, 2)), value("B", `"alone"`, 7)}},
		{Values: []tensor.Value{value("A", `["NaN", "-Inf", "Infinity", "NaN \" Inf"]`, 8)}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Steps() != 4 {
		t.Errorf("%d steps", got.Steps())
	}
}

func TestStreamsAndValidation(t *testing.T) {
	got, err := parse("d.json", []byte(`{"validation_data": [[{"O": [1]}, {}], [{"O": [3]}]],
"data": [[{"A": [1]}, {"A": [2]}], [{"A": [3]}]]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Data{Sequences: true, Streams: [][]tensor.Item{
		{
			{Values: []tensor.Value{value("A", "[1]", 2)}, Expected: []tensor.Value{value("O", "[1]", 1)}},
			{Values: []tensor.Value{value("A", "[2]", 2)}},
		},
		{{Values: []tensor.Value{value("A", "[3]", 2)}, Expected: []tensor.Value{value("O", "[3]", 1)}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[]`, `d.json:1: is not a JSON object (write {"data": [ … ]})`},
		{``, `d.json:1: is not a JSON object (write {"data": [ … ]})`},
		{`{}`, `d.json: has no member "data" (write {"data": [ … ]})`},
		{`{"data": []}`, `d.json:1: data is empty (it needs one step at least)`},
		{`{"data": 1}`, `d.json:1: data must be an array`},
		{`{"data": [{"A": [1]}], "data": [{"A": [2]}]}`, `d.json:1: data is given twice (keep one of them)`},
		{"{\"data\": [\n{\"A\": [1},\n{}]}", "d.json:2: is not valid JSON: at column 9 ',' or ']' is expected"},
		{"{\"data\": [{\"A\": [1]},\n[{\"A\": [1]}]]}", "d.json:2: steps and streams of steps are mixed (write objects alone, or arrays of objects alone)"},
		{"{\"data\": [[], 1]}", "d.json:1: the stream has no steps\nd.json:1: steps and streams of steps are mixed (write objects alone, or arrays of objects alone)\nd.json:1: a step must be an object of tensors, is a number"},
		{`{"data": [{"A": null, "B": {"x": 1}, "A": [1]}]}`, `d.json:1: tensor A: is null (leave it out, or give its values)
d.json:1: tensor B: has the unknown member "x" (a tensor is an array of values, or an object with "content" or "b64" and perhaps "shape")
d.json:1: tensor B: has no values (write them as "content": [ … ] or "b64": "…")
d.json:1: tensor A: is given twice in one step`},
		{`{"data": [{"A": {"b64": 1}, "B": {"b64": "?"}, "C": {"b64": "", "content": []}, "D": {"content": {}}}]}`, `d.json:1: tensor A: b64 must be a string, is a number
d.json:1: tensor B: b64 is not base 64: illegal base64 data at input byte 0
d.json:1: tensor C: has "b64" and "content" (keep one of them)
d.json:1: tensor D: its content must be an array or an object with "b64"`},
		{`{"data": [{"A": {"content": [1], "shape": 1}, "B": {"content": [1], "shape": [1.5]}, "C": {"content": [], "shape": [-1]}}]}`,
			`d.json:1: tensor A: its shape must be an array of whole numbers, is a number
d.json:1: tensor B: its shape must be of whole numbers, has 1.5
d.json:1: tensor C: the shape [-1] has a negative dimension (state each dimension)`},
		{`{"data": [{"A": [1]}], "validation_data": []}`, `d.json:1: validation_data has 0 steps and data 1 steps (the two go side by side)`},
		{`{"data": [[{"A": [1]}]], "validation_data": [[{}, {}]]}`, `d.json:1: stream 0 of validation_data has 2 steps and that of data 1 (the two go side by side)`},
	} {
		_, err := parse("d.json", []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
	_, err := parse("d.json", []byte(`{"data": [`+strings.Repeat(`{"A": null},`, 30)+`{"A": [1]}]}`))
	if faults, ok := errors.AsType[plan.Faults](err); !ok || len(faults) != mostFaults+1 || faults[mostFaults].Text != "and 10 more faults" {
		t.Errorf("many faults: %v", err)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "a.json"), `{"data": [{"A": [1]}]}`)
	b := write(t, filepath.Join(dir, "b.json"), `{"data": [{"A": [2]}, {"A": [3]}]}`)
	c := write(t, filepath.Join(dir, "c.json"), `{"data": [[{"A": [2]}], [{"A": [3]}]]}`)
	got, err := Read(limitio.Limit{}, a, b)
	if err != nil || len(got.Streams) != 1 || got.Steps() != 3 || string(got.Streams[0][2].Values[0].Text) != "[3]" {
		t.Errorf("steps: %v %v", got, err)
	}
	got, err = Read(limitio.Limit{}, c, c)
	if err != nil || len(got.Streams) != 4 || !got.Sequences {
		t.Errorf("streams: %v %v", got, err)
	}
	if _, err := Read(limitio.Limit{}, a, c); err == nil || !strings.HasSuffix(err.Error(), "c.json:1: has streams of steps, and the files before it have steps (all files of a run need the same form)") {
		t.Errorf("both: %v", err)
	}
	if _, err := Read(limitio.Limit{}, a, dir); err == nil || !strings.Contains(err.Error(), "is a directory, and 2 paths are given") {
		t.Errorf("a file and a directory: %v", err)
	}
	if _, err := Read(limitio.Limit{}, filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none: cannot be read") {
		t.Errorf("no such file: %v", err)
	}
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "A"), "\x01\x02")
	write(t, filepath.Join(dir, "B"), "one\ntwo\n")
	got, err := Read(limitio.Limit{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	in := tensor.Inputs{Items: got.Streams[0]}
	made, expected, err := in.Build(
		[]tensor.Spec{{Name: "A", Datatype: tensor.Uint8, Shape: []int64{2}}},
		[]tensor.Spec{{Name: "B", Datatype: tensor.Bytes, Shape: []int64{2}}}, false)
	if err != nil || len(made) != 1 || len(expected) != 1 || string(expected[0].Data) != "\x03\x00\x00\x00one\x03\x00\x00\x00two" {
		t.Errorf("got %v %v %v", made, expected, err)
	}
	write(t, filepath.Join(dir, "C"), "")
	if err := os.Mkdir(filepath.Join(dir, "D"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Read(limitio.Limit{}, dir)
	if faults, ok := errors.AsType[plan.Faults](err); !ok || len(faults) != 2 || faults[0].Path != "tensor C" {
		t.Errorf("got %v", err)
	}
	if _, err := Read(limitio.Limit{}, t.TempDir()); err == nil {
		t.Error("an empty directory is taken for data")
	}
}

// As Perf Analyzer reads them, files may have more and must be plainer.
func TestReadExactly(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "A"), "\x01\x02")
	write(t, filepath.Join(dir, "B"), "")
	if err := os.Mkdir(filepath.Join(dir, "C"), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := func(name string, d tensor.Datatype, shape ...int64) tensor.Spec {
		return tensor.Spec{Name: name, Datatype: d, Shape: shape}
	}
	build := func(path string, inputs ...tensor.Spec) ([]tensor.Tensor, []tensor.Tensor, error) {
		got, err := ReadExactly(limitio.Limit{}, path)
		if err != nil {
			return nil, nil, err
		}
		in := tensor.Inputs{Items: got.Streams[0]}
		return in.Build(inputs, []tensor.Spec{spec("B", tensor.FP32, 1), spec("C", tensor.FP32, 1)}, false)
	}
	if made, expected, err := build(dir, spec("A", tensor.Uint8, 2)); err != nil || len(made) != 1 || len(expected) != 0 {
		t.Errorf("files named like outputs: %v %v %v", made, expected, err)
	}
	if _, _, err := build(dir, spec("A", tensor.Uint8, 2), spec("C", tensor.Uint8, 2)); err == nil {
		t.Error("a directory is taken for an input")
	}
	file := filepath.Join(t.TempDir(), "d.json")
	for _, c := range []struct {
		text, want string
		datatype   tensor.Datatype
	}{
		{`[300, 1]`, "\x2c\x01", tensor.Uint8},
		{`[200, -200]`, "\xc8\x38", tensor.Int8},
		{`[70000, 1]`, "\x70\x11\x01\x00", tensor.Uint16},
		{`[40000, 1]`, "\x40\x9c\x01\x00", tensor.Int16},
		{`[-1, 1]`, "", tensor.Uint8},
		{`[5000000000, 1]`, "", tensor.Uint16},
		{`[3000000000, 1]`, "", tensor.Int32},
		{`[true, false]`, "\x01\x00", tensor.Bool},
		{`[1, 0]`, "", tensor.Bool},
		{`1`, "", tensor.Uint8},
		{`[[1, 2]]`, "", tensor.Uint8},
		{`[1.5, 2e0]`, "\x00\x00\xc0\x3f\x00\x00\x00\x40", tensor.FP32},
		{`[1.5, 2]`, "", tensor.FP32},
		{`[0.5, 1.0]`, "", tensor.FP16},
		{`{"content": [1, 2], "b64": "AwQ=", "more": 1}`, "\x03\x04", tensor.Uint8},
		{`{"b64": "AwQ=", "content": [1, 2]}`, "\x03\x04", tensor.Uint8},
		{`{"b64": "ADgAPA=="}`, "\x00\x38\x00\x3c", tensor.FP16},
	} {
		write(t, file, `{"data": [{"A": `+c.text+`, "A": [9, 9]}], "data": [{"A": [8, 8]}]}`)
		made, _, err := build(file, spec("A", c.datatype, 2))
		if (err == nil) != (c.want != "") || err == nil && string(made[0].Data) != c.want {
			t.Errorf("%s as %s: %v %v", c.text, c.datatype, made, err)
		}
	}
}

// What of a file is refused as a whole, or for a model that it does not go with.
func TestReadExactlyRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.json")
	model := func(shape ...int64) []tensor.Spec {
		return []tensor.Spec{{Name: "A", Datatype: tensor.Uint8, Shape: shape}, {Name: "B", Datatype: tensor.Uint8, Shape: []int64{1}, Optional: true}}
	}
	for _, c := range []struct {
		text   string
		inputs []tensor.Spec
		want   string // nothing: it is taken
	}{
		{"\ufeff" + `{"data": [{"A": [1]}]}`, model(1), "byte order mark"},
		{`{"data": [{"A": [1]}], "validation_data": [{}]}`, model(1), `output "A"`},
		{`{"data": [{"A": [1]}], "validation_data": [{"A": [1]}]}`, model(1), `output "B"`},
		{`{"data": [{"A": [1]}], "validation_data": [{"A": [1], "B": [2]}]}`, model(1), ""},
		{`{"data": [{"A": [1]}], "validation_data": {}}`, model(1), "validation_data must be an array"},
		{`{"data": [{"A": [1]}]}`, model(-1), "--shape A:D1,D2"},
		{`{"data": [{"A": {"content": [1], "shape": [1]}}]}`, model(-1), ""},
	} {
		write(t, file, c.text)
		got, err := ReadExactly(limitio.Limit{}, file)
		if err == nil {
			in := tensor.Inputs{Items: got.Streams[0]}
			_, _, err = in.Build(c.inputs, model(1), false)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// Payloads that are read exactly are what a program makes of them that reads JSON and writes it.
func TestRewrite(t *testing.T) {
	for text, want := range map[string]string{
		` { "a" : [ 1 , 2.50 , [ ] , { } ] , "a" : null , "b":true} `:      `{"a":[1,2.5,[],{}],"a":null,"b":true}`,
		`["\u00e9\u4f60\ud83d\ude00\/\b\f\n\r\t\u0001\u001f\u007f\"\\"]`:   "[\"é你😀/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f\\\"\\\\\"]",
		`[1.0,1e3,1e-3,-0,-0.0,1E2,-1.5,0.1]`:                              `[1.0,1000.0,0.001,0,-0.0,100.0,-1.5,0.1]`,
		`[1e20,1e21,1.25e22,0.000001,1.5e-7,5e-324,1e400]`:                 `[100000000000000000000.0,1e21,1.25e22,0.000001,1.5e-7,5e-324,1e400]`,
		`[18446744073709551615,-9223372036854775808,18446744073709551616]`: `[18446744073709551615,-9223372036854775808,18446744073709552000.0]`,
	} {
		if got, err := rewrite([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s is\n%s, want\n%s (%v)", text, got, want, err)
		}
	}
	file := filepath.Join(t.TempDir(), "d.json")
	write(t, file, `{"data": [{"payload": [{"a": "\u00e9", "b": 1e2}]}]}`)
	for want, read := range map[string]func(limitio.Limit, ...string) (*Data, error){`{"a":"\u00e9","b":1e2}`: Read, `{"a":"é","b":100.0}`: ReadExactly} {
		data, err := read(limitio.Limit{}, file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Payload(&data.Streams[0][0]); err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}

func TestPayload(t *testing.T) {
	data, err := parse("d.json", []byte(`{"data": [
{"payload": [ {"model": "m"} ], "timestamp": [1500], "delay": 7},
{"payload": [{}, {}], "timestamp": [-1]},
{"payload": [1]},
{"A": [1]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	steps := data.Streams[0]
	if got, err := Payload(&steps[0]); string(got) != `{"model":"m"}` || err != nil {
		t.Errorf("got %s %v", got, err)
	}
	if ms, ok, err := Milliseconds(&steps[0], TimestampMember); ms != 1500 || !ok || err != nil {
		t.Errorf("got %d %v %v", ms, ok, err)
	}
	if ms, ok, err := Milliseconds(&steps[0], DelayMember); ms != 7 || !ok || err != nil {
		t.Errorf("got %d %v %v", ms, ok, err)
	}
	if _, err := Payload(&steps[1]); err == nil || err.Error() != `d.json:3: tensor payload: has 2 elements, not 1 (write it as [ … ] with one element)` {
		t.Errorf("got %v", err)
	}
	if _, _, err := Milliseconds(&steps[1], TimestampMember); err == nil {
		t.Error("a time before the start passes")
	}
	if _, err := Payload(&steps[2]); err == nil {
		t.Error("a number passes for a payload")
	}
	if got, err := Payload(&steps[3]); got != nil || err != nil {
		t.Errorf("got %s %v", got, err)
	}
}

// Whatever a file holds, reading it ends, and what it gives is whole.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"data": [{"A": [1, NaN], "B": {"content": ["x"], "shape": [1]}}]}`,
		`{"data": [[{"A": {"b64": "AA=="}}]], "validation_data": [[{"O": [1]}]]}`,
		`{"data": [{"payload": [{"model": "m"}], "delay": [1]}]}`,
		`{"data": [{"A": {"content": {"b64": "AA"}}}]`, "{\"data\": [\n\"\\", `{"data"`,
	} {
		f.Add([]byte(seed))
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) {
		data, err := parse("f", text)
		if err != nil {
			if faults, ok := errors.AsType[plan.Faults](err); !ok || len(faults) == 0 {
				t.Fatalf("the error is %T", err)
			}
			return
		}
		if data.Steps() == 0 {
			t.Fatal("no steps and no fault")
		}
		for _, stream := range data.Streams {
			for i := range stream {
				for _, v := range stream[i].Values {
					if v.Form == tensor.FormJSON && len(v.Text) == 0 || v.Line < 1 {
						t.Fatalf("value %+v", v)
					}
				}
				Payload(&stream[i])
				Milliseconds(&stream[i], DelayMember)
				in := tensor.Inputs{Items: stream[i : i+1], Rules: &tensor.Rules{Fill: tensor.Fill{Kind: tensor.FillZero}}}
				in.Build([]tensor.Spec{{Name: "A", Datatype: tensor.FP32, Shape: []int64{2}}, {Name: "B", Datatype: tensor.Bytes, Shape: []int64{-1}}}, nil, true)
			}
		}
	})
}

// parse reads one JSON file's text. name is what faults call it.
func parse(name string, text []byte) (*Data, error) {
	r := reader{data: &Data{}}
	r.parse(name, text, true)
	return r.result()
}
