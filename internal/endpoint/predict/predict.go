// Package predict speaks the HTTP APIs of TensorFlow Serving, with tensors, and TorchServe, with
// files.
package predict

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/replica"
	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// TensorFlowServing is the protocol of TensorFlow Serving.
func TensorFlowServing() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolTFServing, Models: replica.ModelsURL, Describes: true, Decoder: decoder(true), Open: replica.Opener(NewTensorFlow),
	}
}

// TorchServe is the protocol of TorchServe.
func TorchServe() endpoint.Protocol {
	return endpoint.Protocol{
		Name: plan.ProtocolTorchServe, Models: replica.ModelsURL, Decoder: decoder(false), Open: replica.Opener(NewTorch),
	}
}

// TensorFlow is a model behind TensorFlow Serving's REST API, or several replicas.
type TensorFlow struct {
	*replica.Set
	model     *tensor.Signature
	signature string
	bodies    sync.Map // *tensor.Inputs → []byte: what repeats is built once
}

// defaultSignature is what models are saved with where nothing else is said.
const defaultSignature = "serving_default"

// askTime bounds the question for the model's tensors.
const askTime = 10 * time.Second

// NewTensorFlow makes an endpoint and asks the first server for the model's tensors. The
// field signature_name of the target's body names a signature.
func NewTensorFlow(t plan.Target, o endpoint.Options) (*TensorFlow, error) {
	e := &TensorFlow{signature: defaultSignature}
	if name, ok := t.Body["signature_name"].(string); ok && name != "" {
		e.signature = name
	}
	usual := "/v1/models/" + url.PathEscape(t.Model)
	where, err := replica.URL(t.URLs[0], t.Path, usual)
	if err != nil {
		return nil, err
	}
	if e.model, err = ask(where.String()+"/metadata", t, o, e.signature); err != nil {
		return nil, err
	}
	e.Set, err = replica.New(t, o, replica.Protocol{Path: usual, Verb: ":predict", Encode: e.encode})
	return e, err
}

// Endpoint is the endpoint, with the model's tensors.
func (e *TensorFlow) Endpoint() endpoint.Endpoint {
	out := e.Set.Endpoint()
	out.Tensors = e.model
	return out
}

func ask(where string, t plan.Target, o endpoint.Options, signature string) (*tensor.Signature, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, fmt.Errorf("requesting the metadata of model %q: %w", t.Model, err)
	}
	for name, value := range t.Headers {
		req.Header.Set(name, value)
	}
	transport := &http.Transport{TLSClientConfig: o.TLS, Proxy: proxy.Func(t, o.Getenv)}
	localaddr.NewDialer(t.SourceAddresses).Use(transport)
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("requesting the metadata of model %q: %w", t.Model, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("requesting the metadata of model %[2]q from %[1]s: %[3]s; check the model name, and that the port is that of the REST API (8501 by default)", plan.SafeURL(t.URLs[0]), t.Model, resp.Status)
	}
	m, err := readModel(http.MaxBytesReader(nil, resp.Body, mostMetadata), signature)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of model %q: %w", t.Model, err)
	}
	m.Name = t.Model
	return m, nil
}

// encode writes tensors by their names.
func (e *TensorFlow) encode(p *prompt.Prompt) ([]byte, error) {
	if p.Inputs == nil {
		return nil, message.Errorf("TensorFlow Serving takes tensors, not prompts: set %v", message.InputData)
	}
	if body, ok := e.bodies.Load(p.Inputs); ok {
		return body.([]byte), nil
	}
	tensors, _, err := p.Inputs.Build(e.model.Inputs, e.model.Outputs, e.model.MaxBatch > 0)
	if err != nil {
		return nil, err
	}
	body := tensor.AppendQuoted([]byte(`{"signature_name":`), e.signature)
	body = append(body, `,"inputs":{`...)
	for i := range tensors {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(tensor.AppendQuoted(body, tensors[i].Name), ':')
		if body, err = appendNested(body, &tensors[i]); err != nil {
			return nil, err
		}
	}
	body = append(body, '}', '}')
	e.bodies.Store(p.Inputs, body)
	return body, nil
}

// appendNested writes a tensor as lists in lists, as its shape says.
func appendNested(dst []byte, t *tensor.Tensor) ([]byte, error) {
	var flat []json.RawMessage
	if err := json.Unmarshal(t.AppendJSON(nil), &flat); err != nil {
		return nil, fmt.Errorf("writing tensor %q: %w", t.Name, err)
	}
	dst, _ = nest(dst, flat, t.Shape)
	return dst, nil
}

func nest(dst []byte, flat []json.RawMessage, shape []int64) (out []byte, rest []json.RawMessage) {
	if len(shape) == 0 {
		if len(flat) == 0 {
			return append(dst, "null"...), nil
		}
		return append(dst, flat[0]...), flat[1:]
	}
	dst = append(dst, '[')
	for i := range shape[0] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, flat = nest(dst, flat, shape[1:])
	}
	return append(dst, ']'), flat
}

// Torch is a model behind TorchServe, or several replicas.
type Torch struct {
	*replica.Set
	files sync.Map // path → []byte
}

// TorchInput is the name under which input data has the file that a request sends.
const TorchInput = "TORCHSERVE_INPUT"

// NewTorch makes an endpoint.
func NewTorch(t plan.Target, o endpoint.Options) (*Torch, error) {
	e := &Torch{}
	if t.Headers == nil {
		t.Headers = map[string]string{"Content-Type": "application/octet-stream", "Accept": "*/*"}
	}
	var err error
	e.Set, err = replica.New(t, o, replica.Protocol{Path: "/predictions/" + url.PathEscape(t.Model), Encode: e.encode})
	return e, err
}

// encode reads the file that the data names.
func (e *Torch) encode(p *prompt.Prompt) ([]byte, error) {
	name, err := fileOf(p)
	if err != nil {
		return nil, err
	}
	if body, ok := e.files.Load(name); ok {
		return body.([]byte), nil
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the TorchServe input file: %w", err)
	}
	e.files.Store(name, body)
	return body, nil
}

// fileOf is the path that a request's data gives.
func fileOf(p *prompt.Prompt) (string, error) {
	if p.Inputs == nil || len(p.Inputs.Items) != 1 {
		return "", fmt.Errorf("TorchServe takes one file per request: provide input data with %s and a batch size of 1", TorchInput)
	}
	values := p.Inputs.Items[0].Values
	at := slices.IndexFunc(values, func(v tensor.Value) bool { return v.Name == TorchInput })
	if at < 0 {
		return "", fmt.Errorf("the input data has no %s, the path of the file to send to TorchServe", TorchInput)
	}
	var paths []string
	if err := json.Unmarshal(values[at].Text, &paths); err != nil || len(paths) != 1 {
		return "", fmt.Errorf("%s: %s must be a list with one path", values[at].Where(), TorchInput)
	}
	return paths[0], nil
}
