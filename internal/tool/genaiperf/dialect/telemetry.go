package dialect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/record"
)

// Telemetry is what was read of the GPUs during a run, metric by metric, in the order
// of the original's files. A metric that no GPU has is not in it.
type Telemetry []GPUMetric

// GPUMetric is one metric of all GPUs.
type GPUMetric struct {
	Name     string
	Unit     string
	Constant bool // it does not change, and has an average alone
	Merged   bool // of several runs: there are averages alone
	GPUs     []GPU
}

// GPU is one metric of one GPU.
type GPU struct {
	ID   string
	Stat Stat
}

// Find finds a metric; optional.
func (t Telemetry) Find(name string) *GPUMetric {
	if i := slices.IndexFunc(t, func(m GPUMetric) bool { return m.Name == name }); i >= 0 {
		return &t[i]
	}
	return nil
}

// gpuSource is where a metric comes from. DCGM's exporter and Triton have units of their own.
type gpuSource struct {
	name, unit  string
	dcgm        string
	scale       float64 // of DCGM's value
	triton      string  // empty: Triton does not have it
	tritonScale float64
}

const (
	gigabytesPerMiB = 1.048576e-3
	percent         = 100
)

func gpuSources() []gpuSource {
	const dev, prof = "DCGM_FI_DEV_", "DCGM_FI_PROF_"
	return []gpuSource{
		{"gpu_power_usage", "W", dev + "POWER_USAGE", 1, "nv_gpu_power_usage", 1},
		{"gpu_power_limit", "W", dev + "POWER_MGMT_LIMIT", 1, "nv_gpu_power_limit", 1},
		{"energy_consumption", "MJ", dev + "TOTAL_ENERGY_CONSUMPTION", 1e-9, "nv_energy_consumption", 1e-6},
		{"total_gpu_memory", "GB", dev + "FB_TOTAL", gigabytesPerMiB, "nv_gpu_memory_total_bytes", 1e-9},
		{"gpu_memory_used", "GB", dev + "FB_USED", gigabytesPerMiB, "nv_gpu_memory_used_bytes", 1e-9},
		{"gpu_memory_free", "GB", dev + "FB_FREE", gigabytesPerMiB, "", 0},
		{"gpu_utilization", "%", dev + "GPU_UTIL", 1, "nv_gpu_utilization", percent},
		{"sm_utilization", "%", prof + "SM_ACTIVE", percent, "", 0},
		{"memory_copy_utilization", "%", dev + "MEM_COPY_UTIL", 1, "", 0},
		{"video_encoder_utilization", "%", dev + "ENC_UTIL", 1, "", 0},
		{"video_decoder_utilization", "%", dev + "DEC_UTIL", 1, "", 0},
		{"gpu_clock_sm", "MHz", dev + "SM_CLOCK", 1, "", 0},
		{"gpu_clock_memory", "MHz", dev + "MEM_CLOCK", 1, "", 0},
		{"gpu_temperature", "C", dev + "GPU_TEMP", 1, "", 0},
		{"gpu_memory_temperature", "C", dev + "MEMORY_TEMP", 1, "", 0},
		{"total_ecc_sbe_volatile", "errors", dev + "ECC_SBE_VOL_TOTAL", 1, "", 0},
		{"total_ecc_dbe_volatile", "errors", dev + "ECC_DBE_VOL_TOTAL", 1, "", 0},
		{"total_ecc_sbe_aggregate", "errors", dev + "ECC_SBE_AGG_TOTAL", 1, "", 0},
		{"total_ecc_dbe_aggregate", "errors", dev + "ECC_DBE_AGG_TOTAL", 1, "", 0},
		{"xid_last_error", "errors", dev + "XID_ERRORS", 1, "", 0},
		{"power_throttle_duration", "us", dev + "POWER_VIOLATION", 1, "", 0},
		{"thermal_throttle_duration", "us", dev + "THERMAL_VIOLATION", 1, "", 0},
		{"retired_pages_sbe", "pages", dev + "RETIRED_SBE", 1, "", 0},
		{"retired_pages_dbe", "pages", dev + "RETIRED_DBE", 1, "", 0},
		{"total_nvlink_crc_flit_errors", "errors", dev + "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", 1, "", 0},
		{"total_nvlink_crc_data_errors", "errors", dev + "NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", 1, "", 0},
		{"pcie_transmit_throughput", "KB/s", prof + "PCIE_TX_BYTES", 1.0 / 1024, "", 0},
		{"pcie_receive_throughput", "KB/s", prof + "PCIE_RX_BYTES", 1.0 / 1024, "", 0},
		{"pcie_replay_counter", "retries", dev + "PCIE_REPLAY_COUNTER", 1, "", 0},
	}
}

// constant reports whether a metric stays what it is.
func constant(name string) bool { return name == "gpu_power_limit" || name == "total_gpu_memory" }

// TelemetryFold takes looks at metrics pages. It belongs to one goroutine.
type TelemetryFold struct {
	faithful bool
	series   map[string]map[string][]float64 // by metric and GPU
	scales   map[string]float64              // of a metric, by its first source
	ids      []map[string]string             // of the GPUs of each page that have no index
	labels   *promtext.Reader
}

// NewTelemetryFold makes an empty fold. Faithful: GPUs of several servers with the same
// index are taken for one, as the original does.
func NewTelemetryFold(faithful bool) *TelemetryFold {
	return &TelemetryFold{faithful: faithful, series: map[string]map[string][]float64{}, scales: map[string]float64{},
		labels: promtext.NewReader()}
}

// Add takes one look at all pages.
func (f *TelemetryFold) Add(pages []record.Page) {
	sources := gpuSources()
	for n := range pages {
		for len(f.ids) <= n {
			f.ids = append(f.ids, map[string]string{})
		}
		for _, s := range pages[n].Samples {
			for i := range sources {
				src := &sources[i]
				scale := src.scale
				if s.Name == src.triton && src.triton != "" {
					scale = src.tritonScale
				} else if s.Name != src.dcgm {
					continue
				}
				if id := f.id(n, s.Labels); id != "" {
					f.put(src.name, id, s.Value, scale)
				}
			}
		}
	}
}

func (f *TelemetryFold) put(name, id string, v, scale float64) {
	if f.series[name] == nil {
		f.series[name], f.scales[name] = map[string][]float64{}, scale
	}
	if have := f.scales[name]; have != scale {
		v *= scale / have // pages of both kinds
	}
	f.series[name][id] = append(f.series[name][id], v)
}

// id names a GPU of a page: by its index, or, as Triton tells only its serial number,
// by when it was first seen. Those of later pages have the page's number in front.
func (f *TelemetryFold) id(page int, labels string) string {
	id := f.labels.Label(labels, "gpu")
	if serial := f.labels.Label(labels, "gpu_uuid"); id == "" && serial != "" {
		if f.ids[page][serial] == "" {
			f.ids[page][serial] = fmt.Sprintf("gpu%d", len(f.ids[page]))
		}
		id = f.ids[page][serial]
	}
	if id == "" || page == 0 || f.faithful {
		return id
	}
	return fmt.Sprintf("%d:%s", page+1, id)
}

// Telemetry works out the statistics. They are scaled last, as the original's are.
func (f *TelemetryFold) Telemetry() Telemetry {
	var t Telemetry
	for _, src := range gpuSources() {
		byGPU := f.series[src.name]
		if len(byGPU) == 0 {
			continue
		}
		m := GPUMetric{Name: src.name, Unit: src.unit, Constant: constant(src.name)}
		for id, samples := range byGPU {
			m.GPUs = append(m.GPUs, GPU{ID: id, Stat: gpuStat(src.name, samples, f.scales[src.name], m.Constant)})
		}
		m.sort()
		t = append(t, m)
	}
	return t
}

// MergedMetric is a metric of runs that went on side by side, from the averages of each GPU in them.
func MergedMetric(name, unit string, averages map[string][]float64) GPUMetric {
	m := GPUMetric{Name: name, Unit: unit, Constant: constant(name), Merged: true}
	for id, values := range averages {
		avg := slices.Max(values)
		if name == "gpu_power_usage" || name == "gpu_utilization" || name == "energy_consumption" {
			avg = mean(values, false)
		}
		m.GPUs = append(m.GPUs, GPU{ID: id, Stat: Stat{Name: name, System: true, N: len(values), Avg: avg}})
	}
	m.sort()
	return m
}

// sort puts the GPUs in the order of their numbers.
func (m *GPUMetric) sort() {
	slices.SortFunc(m.GPUs, func(a, b GPU) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

func gpuStat(name string, samples []float64, scale float64, constant bool) Stat {
	st := Stat{Name: name, System: constant, N: len(samples), Avg: mean(samples, false)}
	if !constant {
		st.describe(samples, scale)
	}
	st.Avg *= scale
	return st
}
