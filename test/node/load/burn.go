package main

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// slice is the period over which a rate is kept: half of the kernel's 100 ms quota period.
const slice = 50 * time.Millisecond

// burner spends CPU at a set rate, spread over threads of at most one CPU each.
type burner struct{ milli atomic.Int64 }

func newBurner(threads int) *burner {
	b := &burner{}
	for index := range threads {
		go b.run(int64(index))
	}
	return b
}

func (b *burner) setMilliCPU(milli int64) { b.milli.Store(milli) }
func (b *burner) milliCPU() int64         { return b.milli.Load() }

func (b *burner) run(index int64) {
	runtime.LockOSThread()
	for {
		start := time.Now()
		share := min(b.milli.Load()-index*1000, 1000)
		if share <= 0 {
			time.Sleep(4 * slice)
			continue
		}
		spend(slice * time.Duration(share) / 1000)
		if rest := slice - time.Since(start); rest > 0 {
			time.Sleep(rest)
		}
	}
}

// work spends CPU time on a thread of its own and returns the wall time it took.
func work(amount time.Duration) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	spend(amount)
	return time.Since(start)
}

// spend returns when the calling thread has used the amount of CPU time.
func spend(amount time.Duration) {
	for until := threadTime() + amount; threadTime() < until; {
		spin(2000)
	}
}

const clockThreadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID

func threadTime() time.Duration {
	var spec syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&spec)), 0)
	return time.Duration(spec.Nano())
}

var sink atomic.Uint64

// spin stays in user space for some microseconds, so that most of the time spent is the program's own.
func spin(rounds uint64) {
	value := rounds
	for range rounds {
		value = value*6364136223846793005 + 1442695040888963407
	}
	sink.Store(value)
}
