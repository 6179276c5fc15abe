// Package kservetest has the messages of the KServe v2 protocol as its definition says, for tests
// of what the program writes and reads by hand.
package kservetest

import "testing"

// Request asks a model for something.
type Request struct {
	ModelName        string               `json:"model_name"`
	ModelVersion     string               `json:"model_version"`
	ID               string               `json:"id"`
	Parameters       map[string]Parameter `json:"parameters"`
	Inputs           []Tensor             `json:"inputs"`
	Outputs          []Wanted             `json:"outputs"`
	RawInputContents [][]byte             `json:"raw_input_contents"`
}

// Response is what a model answers.
type Response struct {
	ModelName         string               `json:"model_name"`
	ModelVersion      string               `json:"model_version"`
	ID                string               `json:"id"`
	Parameters        map[string]Parameter `json:"parameters"`
	Outputs           []Tensor             `json:"outputs"`
	RawOutputContents [][]byte             `json:"raw_output_contents"`
}

// StreamResponse is a response on a stream.
type StreamResponse struct {
	ErrorMessage  string   `json:"error_message"`
	InferResponse Response `json:"infer_response"`
}

// Tensor is an input or an output.
type Tensor struct {
	Name     string    `json:"name"`
	Datatype string    `json:"datatype"`
	Shape    []int64   `json:"shape"`
	Contents *Contents `json:"contents"`
}

// Contents are the values of a tensor that is not in raw form.
type Contents struct {
	Int64Contents []int64  `json:"int64_contents"`
	BytesContents [][]byte `json:"bytes_contents"`
}

// Wanted is an output that a request asks for.
type Wanted struct {
	Name string `json:"name"`
}

// Parameter is of a request or a response: one of its fields is set.
type Parameter struct {
	BoolParam   *bool    `json:"bool_param"`
	Int64Param  *int64   `json:"int64_param"`
	StringParam *string  `json:"string_param"`
	DoubleParam *float64 `json:"double_param"`
	Uint64Param *uint64  `json:"uint64_param"`
}

// Bool is a parameter that is true or false.
func Bool(v bool) Parameter { return Parameter{BoolParam: &v} }

// True says whether the parameter is there and true.
func (p Parameter) True() bool { return p.BoolParam != nil && *p.BoolParam }

// Encode gives the message of a kind, which is a kserve.Message, with the content of v.
func Encode(tb testing.TB, kind interface{ Encode(any) ([]byte, error) }, v any) []byte {
	tb.Helper()
	b, err := kind.Encode(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
