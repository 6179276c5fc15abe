package plan

// Servers of models that are no language models, spoken to over HTTP.
const (
	ProtocolTFServing  = "tfserving"  // TensorFlow Serving's REST API
	ProtocolTorchServe = "torchserve" // TorchServe

	EndpointPredict = "predict" // of both
)
