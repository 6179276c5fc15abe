package kserve

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Every method of the definition has a constant, and no constant names anything else.
func TestMethodPaths(t *testing.T) {
	want := map[string]bool{}
	services := File_grpc_service_proto.Services()
	if services.Len() != 1 || string(services.Get(0).FullName()) != Service {
		t.Fatalf("the definition has no service %s", Service)
	}
	for i := range services.Get(0).Methods().Len() {
		want["/"+Service+"/"+string(services.Get(0).Methods().Get(i).Name())] = true
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
	request := &ModelInferRequest{
		ModelName: "m",
		Id:        "7",
		Inputs:    []*ModelInferRequest_InferInputTensor{{Name: "x", Datatype: "INT8", Shape: []int64{1}}},
		RawInputContents: [][]byte{
			{9},
		},
	}
	got, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x0a\x01m" + "\x1a\x017" + "\x2a\x0c" + "\x0a\x01x" + "\x12\x04INT8" + "\x1a\x01\x01" + "\x3a\x01\x09"
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var back ModelInferRequest
	if err := proto.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&back, request) {
		t.Errorf("read back: %v", &back)
	}
}

// The HTTP API writes configs and statistics as JSON of the same messages.
func TestMessagesFromJSON(t *testing.T) {
	var config ModelConfig
	err := protojson.Unmarshal([]byte(`{
	  "name": "pair", "platform": "ensemble", "max_batch_size": 8,
	  "input": [{"name": "text", "data_type": "TYPE_STRING", "dims": [-1], "optional": true}],
	  "output": [{"name": "out", "data_type": "TYPE_BF16", "dims": [2, -1]}],
	  "model_transaction_policy": {"decoupled": true},
	  "ensemble_scheduling": {"step": [{"model_name": "a", "model_version": -1, "input_map": {"x": "text"}, "output_map": {"y": "out"}}]}
	}`), &config)
	if err != nil {
		t.Fatal(err)
	}
	if !config.GetModelTransactionPolicy().GetDecoupled() || config.GetEnsembleScheduling().GetStep()[0].GetModelName() != "a" ||
		config.GetOutput()[0].GetDataType() != DataType_TYPE_BF16 || config.GetInput()[0].GetDims()[0] != -1 || !config.GetInput()[0].GetOptional() {
		t.Errorf("config: %v", &config)
	}
	var stats ModelStatisticsResponse
	err = protojson.Unmarshal([]byte(`{"model_stats": [{"name": "a", "version": "1", "inference_count": 18446744073709551615,
	  "inference_stats": {"success": {"count": 3, "ns": 40}}, "response_stats": {"0": {"compute_infer": {"count": 1, "ns": 5}}}}]}`), &stats)
	if err != nil {
		t.Fatal(err)
	}
	m := stats.GetModelStats()[0]
	if m.GetInferenceCount() != 1<<64-1 || m.GetInferenceStats().GetSuccess().GetNs() != 40 || m.GetResponseStats()["0"].GetComputeInfer().GetNs() != 5 {
		t.Errorf("statistics: %v", m)
	}
}
