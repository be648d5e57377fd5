package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// histogram counts how long units of work took, in the form Prometheus reads.
type histogram struct {
	mutex   sync.Mutex
	buckets []uint64
	total   uint64
	sum     float64
}

func newHistogram() *histogram { return &histogram{buckets: make([]uint64, len(bounds))} }

func (h *histogram) observe(took time.Duration) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	seconds := took.Seconds()
	for index, bound := range bounds {
		if seconds <= bound {
			h.buckets[index]++
		}
	}
	h.total++
	h.sum += seconds
}

func (h *histogram) count() uint64 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.total
}

func (h *histogram) write(w io.Writer, name string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	fmt.Fprintf(w, "# TYPE %s histogram\n", name)
	for index, bound := range bounds {
		fmt.Fprintf(w, "%s_bucket{le=\"%g\"} %d\n", name, bound, h.buckets[index])
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, h.total, name, h.sum, name, h.total)
}
