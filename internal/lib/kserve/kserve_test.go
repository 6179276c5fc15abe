package kserve

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Every method of the definition has a constant, and no constant names anything else.
func TestMethodPaths(t *testing.T) {
	want := map[string]bool{}
	methods := service().Methods()
	for i := range methods.Len() {
		want["/"+Service+"/"+string(methods.Get(i).Name())] = true
	}
	for _, path := range []string{
		ServerLiveMethod, ServerReadyMethod, ModelReadyMethod, ServerMetadataMethod, ModelMetadataMethod,
		ModelInferMethod, ModelStreamInferMethod, ModelConfigMethod, ModelStatisticsMethod,
		RepositoryIndexMethod, RepositoryModelLoadMethod, RepositoryModelUnloadMethod,
		SystemSharedMemoryStatusMethod, SystemSharedMemoryRegisterMethod, SystemSharedMemoryUnregisterMethod,
		CudaSharedMemoryStatusMethod, CudaSharedMemoryRegisterMethod, CudaSharedMemoryUnregisterMethod,
		TraceSettingMethod, LogSettingsMethod,
	} {
		if !want[path] {
			t.Errorf("%s is no method of the service", path)
		}
		delete(want, path)
	}
	for path := range want {
		t.Errorf("%s has no constant", path)
	}
}

// The field numbers are the protocol; these bytes were written by hand from it.
func TestRequestOnTheWire(t *testing.T) {
	request := map[string]any{
		"model_name": "m", "id": "7", "raw_input_contents": [][]byte{{9}},
		"inputs": []any{map[string]any{"name": "x", "datatype": "INT8", "shape": []int64{1}}},
	}
	got, err := Request(ModelInferMethod).Encode(request)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x0a\x01m" + "\x1a\x017" + "\x2a\x0c" + "\x0a\x01x" + "\x12\x04INT8" + "\x1a\x01\x01" + "\x3a\x01\x09"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	text, err := Request(ModelInferMethod).JSON(got)
	if err != nil || len(text) == 0 {
		t.Errorf("as JSON: %s, %v", text, err)
	}
	if _, err := Request(ModelInferMethod).Encode(map[string]any{"model": "m"}); err == nil {
		t.Error("a field that the message does not have is taken")
	}
}

// The HTTP API writes configs and statistics as JSON of the same messages.
func TestMessagesFromJSON(t *testing.T) {
	var config ModelConfig
	err := Response(ModelConfigMethod).Field("config").DecodeJSON([]byte(`{
	  "name": "pair", "platform": "ensemble", "max_batch_size": 8, "backend": "b", "of_another_server": 1,
	  "input": [{"name": "text", "data_type": "TYPE_STRING", "dims": [-1], "optional": true}],
	  "output": [{"name": "out", "data_type": "TYPE_BF16", "dims": [2, -1]}],
	  "model_transaction_policy": {"decoupled": true}, "response_cache": {"enable": true},
	  "ensemble_scheduling": {"step": [{"model_name": "a", "model_version": -1, "input_map": {"x": "text"}, "output_map": {"y": "out"}}]}
	}`), &config)
	if err != nil {
		t.Fatal(err)
	}
	want := ModelConfig{
		Backend: "b", MaxBatchSize: 8, Input: []ModelInput{{Name: "text", Optional: true}},
		EnsembleScheduling:     &ModelEnsembling{[]EnsemblingStep{{"a", -1}}},
		ModelTransactionPolicy: &ModelTransactionPolicy{true}, ResponseCache: &ModelResponseCache{true},
	}
	if d := cmp.Diff(want, config); d != "" || !config.Decoupled() || !config.Cached() || len(config.Steps()) != 1 {
		t.Errorf("config: %s", d)
	}
	var stats ModelStatisticsResponse
	err = Response(ModelStatisticsMethod).DecodeJSON([]byte(`{"model_stats": [{"name": "a", "version": "1", "inference_count": 18446744073709551615,
	  "inference_stats": {"success": {"count": 3, "ns": 40}}, "response_stats": {"0": {"compute_infer": {"count": 1, "ns": 5}}}}]}`), &stats)
	if err != nil {
		t.Fatal(err)
	}
	counted := ModelStatisticsResponse{[]ModelStatistics{{
		Name: "a", Version: "1", InferenceCount: 1<<64 - 1, InferenceStats: InferStatistics{Success: StatisticDuration{3, 40}},
		ResponseStats: map[string]InferResponseStatistics{"0": {ComputeInfer: StatisticDuration{1, 5}}},
	}}}
	if d := cmp.Diff(counted, stats); d != "" {
		t.Errorf("statistics: %s", d)
	}
	message, err := Response(ModelStatisticsMethod).Encode(counted)
	if err != nil {
		t.Fatal(err)
	}
	var back ModelStatisticsResponse
	if err := Response(ModelStatisticsMethod).Decode(message, &back); err != nil || cmp.Diff(counted, back) != "" {
		t.Errorf("through a message: %v, %s", err, cmp.Diff(counted, back))
	}
	if Response(ModelStatisticsMethod).Decode([]byte{1}, &back) == nil {
		t.Error("half a message is read")
	}
}

// Each field of a content's struct is one of its message, and takes what the message has there.
func TestContentsFitTheDefinition(t *testing.T) {
	for _, c := range []struct {
		kind    Message
		content any
	}{
		{Request(ModelMetadataMethod), ModelName{}},
		{Request(ModelConfigMethod), ModelName{}},
		{Request(ModelReadyMethod), ModelName{}},
		{Request(ModelStatisticsMethod), ModelName{}},
		{Response(ModelMetadataMethod), ModelMetadata{}},
		{Response(ModelConfigMethod), ModelConfigResponse{}},
		{Response(ModelStatisticsMethod), ModelStatisticsResponse{}},
	} {
		fits(t, reflect.TypeOf(c.content), c.kind.kind)
	}
}

func fits(t *testing.T, content reflect.Type, message protoreflect.MessageDescriptor) {
	for i := range content.NumField() {
		f := content.Field(i)
		field := message.Fields().ByName(protoreflect.Name(f.Tag.Get("json")))
		if field == nil {
			t.Errorf("%s has no field for %s.%s", message.FullName(), content.Name(), f.Name)
			continue
		}
		inner := f.Type
		if field.IsMap() {
			field = field.MapValue()
		}
		for inner.Kind() != reflect.Struct && (inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map) {
			inner = inner.Elem()
		}
		if field.Kind() == protoreflect.MessageKind && inner.Kind() == reflect.Struct {
			fits(t, inner, field.Message())
		} else if inner.Kind().String() != field.Kind().String() {
			t.Errorf("%s.%s is a %s, and %s in the definition", content.Name(), f.Name, inner.Kind(), field.Kind())
		}
	}
}
