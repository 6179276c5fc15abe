package args

// costFlags are the flags about the GPUs behind the target.
func costFlags() []option {
	return []option{
		{name: "gpus", arg: "N", path: "cost.gpus", help: "number of GPUs behind the target (default: those whose power is read)"},
		{name: "gpu-hour-price", arg: "DOLLARS", path: "cost.gpu_hour_price", help: "price of one GPU for an hour, for $ per million tokens: 2.10"},
		{name: "power", arg: "SOURCE", path: "cost.power", help: "where to read the power of the GPUs: URL of an exporter's metrics page (DCGM, AMD), nvidia-smi (this machine's GPUs), auto (nvidia-smi if the target is on this machine) or none (default: the --scrape pages)"},
		{name: "gpu-watts", arg: "W", path: "cost.gpu_watts", help: "power of one GPU in watts, instead of reading it"},
		{name: "gpu", arg: "ID", help: "index or UUID of a GPU that serves, repeatable, if the source has others too (default: all)"},
	}
}
