package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// plan is what the client is told on its standard input: when to send what, whatever becomes of the requests before.
type plan struct {
	TimeoutMillis int64    `json:"timeoutMillis"`
	Targets       []target `json:"targets"`
}

type target struct {
	URL string `json:"url"`
	// Arrivals are microseconds after the start, ascending.
	Arrivals []int64 `json:"arrivals"`
	// WorkMicros is what each of them asks for.
	WorkMicros []int64 `json:"workMicros"`
}

// generate sends the plan's requests and prints a line for each target: the latencies in microseconds, from the time a
// request was meant to be sent, and -1 for those without an answer in time. The first line tells when it began, in
// milliseconds since the epoch.
func generate() {
	var p plan
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(&p); err != nil {
		fail(fmt.Errorf("plan: %w", err))
	}
	timeout := time.Duration(p.TimeoutMillis) * time.Millisecond
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, MaxIdleConns: 0}}
	start := time.Now()
	fmt.Println(start.UnixMilli())
	results := make([][]int64, len(p.Targets))
	var all sync.WaitGroup
	for index, each := range p.Targets {
		results[index] = make([]int64, len(each.Arrivals))
		all.Add(1)
		go func() {
			defer all.Done()
			each.send(client, start, timeout, results[index])
		}()
	}
	all.Wait()
	for _, latencies := range results {
		line, err := json.Marshal(latencies)
		if err != nil {
			fail(err)
		}
		fmt.Println(string(line))
	}
}

func (t target) send(client *http.Client, start time.Time, timeout time.Duration, latencies []int64) {
	var sent sync.WaitGroup
	for index, arrival := range t.Arrivals {
		intended := start.Add(time.Duration(arrival) * time.Microsecond)
		time.Sleep(time.Until(intended))
		sent.Add(1)
		go func() {
			defer sent.Done()
			latencies[index] = ask(client, fmt.Sprintf("%s?ms=%.3f", t.URL, float64(t.WorkMicros[index])/1000), intended, timeout)
		}()
	}
	sent.Wait()
}

// ask answers -1 where nothing came in time.
func ask(client *http.Client, url string, intended time.Time, timeout time.Duration) int64 {
	ctx, cancel := context.WithDeadline(context.Background(), intended.Add(timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return -1
	}
	response, err := client.Do(request)
	if err != nil {
		return -1
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return -1
	}
	return time.Since(intended).Microseconds()
}
