// Command load is the pod under load of the tests on a real node: it burns a set rate of CPU, holds a set amount of
// memory and serves units of work, and reports how long they took. With the argument "pause" it does nothing at all,
// which is what the sandbox of a pod needs; with "generate" it is the other side: it sends requests by a plan.
//
//	GET  /            what it is doing, as JSON
//	GET  /ready       200, or 503 after /set?ready=false
//	GET  /set?cpu=350 burn 350 milli-CPU; mem=64 hold 64 MiB; ready=false fail readiness
//	GET  /work?ms=20  spend 20 ms of CPU time, answer the wall time in milliseconds; WORKERS=2 lets two work at a time
//	GET  /exit?code=3 end with that code
//	GET  /metrics     counters and a latency histogram as Prometheus text
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

type state struct {
	burner  *burner
	holder  *holder
	latency *histogram
	// workers has a place for each unit of work at a time; nil where all may work at once.
	workers chan struct{}
	unready atomic.Bool
	started time.Time
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "pause" {
		pause()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "generate" {
		generate()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "exit" {
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	}
	s := &state{burner: newBurner(runtime.NumCPU()), holder: &holder{}, latency: newHistogram(), started: time.Now()}
	s.burner.setMilliCPU(envInt("CPU_MILLI"))
	if workers := envInt("WORKERS"); workers > 0 {
		s.workers = make(chan struct{}, workers)
	}
	if err := s.holder.hold(envInt("MEM_MIB")); err != nil {
		fail(err)
	}
	stopAfter := time.Duration(envInt("STOP_MS")) * time.Millisecond
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-terminated
		// STOP_MS=-1 ignores the signal, as programs do that forget to handle it.
		if stopAfter >= 0 {
			time.Sleep(stopAfter)
			os.Exit(0)
		}
	}()
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	if err := http.ListenAndServe(":"+port, s.routes()); err != nil {
		fail(err)
	}
}

func (s *state) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"cpuMilli": s.burner.milliCPU(), "memBytes": s.holder.bytes(), "workDone": s.latency.count(),
			"upSeconds": time.Since(s.started).Seconds(), "pid": os.Getpid(),
		})
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.unready.Load() {
			http.Error(w, "told to be unready", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/set", s.set)
	mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		millis, err := strconv.ParseFloat(r.FormValue("ms"), 64)
		if err != nil {
			http.Error(w, "ms: "+err.Error(), http.StatusBadRequest)
			return
		}
		if s.workers != nil {
			select {
			case s.workers <- struct{}{}:
				defer func() { <-s.workers }()
			case <-r.Context().Done():
			}
		}
		// Who has left gets no work done: a server that does not notice never recovers from an overload.
		if r.Context().Err() != nil {
			return
		}
		took := work(time.Duration(millis * float64(time.Millisecond)))
		s.latency.observe(took)
		fmt.Fprintf(w, "%.3f\n", float64(took)/float64(time.Millisecond))
	})
	mux.HandleFunc("/exit", func(_ http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.FormValue("code"))
		os.Exit(code)
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "load_cpu_milli %d\nload_memory_bytes %d\n", s.burner.milliCPU(), s.holder.bytes())
		s.latency.write(w, "load_work_seconds")
	})
	return mux
}

func (s *state) set(w http.ResponseWriter, r *http.Request) {
	for name, apply := range map[string]func(string) error{
		"cpu": func(text string) error {
			millis, err := strconv.ParseInt(text, 10, 64)
			if err == nil {
				s.burner.setMilliCPU(millis)
			}
			return err
		},
		"mem": func(text string) error {
			mebibytes, err := strconv.ParseInt(text, 10, 64)
			if err == nil {
				err = s.holder.hold(mebibytes)
			}
			return err
		},
		"ready": func(text string) error {
			isReady, err := strconv.ParseBool(text)
			if err == nil {
				s.unready.Store(!isReady)
			}
			return err
		},
	} {
		if text := r.FormValue(name); text != "" {
			if err := apply(text); err != nil {
				http.Error(w, name+": "+err.Error(), http.StatusBadRequest)
				return
			}
		}
	}
}

// pause keeps the namespaces of a pod alive and ends at once when told.
func pause() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
	<-terminated
}

func envInt(name string) int64 {
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail(fmt.Errorf("%s: %w", name, err))
	}
	return value
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
