/* Stands in for CUDA's runtime, without a GPU: the real perf_analyzer loads it for --shared-memory system. */
int cudaMalloc(void **p, unsigned long n) { return 1; }
int cudaFree(void *p) { return 0; }
int cudaMemcpy(void *to, const void *from, unsigned long n, int kind) { return 1; }
int cudaSetDevice(int device) { return 0; }
int cudaIpcGetMemHandle(void *handle, void *p) { return 1; }
const char *cudaGetErrorName(int e) { return "none"; }
const char *cudaGetErrorString(int e) { return "none"; }
