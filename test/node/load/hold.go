package main

import (
	"sync"
	"syscall"
)

// holder keeps memory outside of Go's heap, so that giving it back is immediate.
type holder struct {
	mutex sync.Mutex
	held  []byte
}

func (h *holder) hold(mebibytes int64) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.held != nil {
		if err := syscall.Munmap(h.held); err != nil {
			return err
		}
		h.held = nil
	}
	if mebibytes <= 0 {
		return nil
	}
	held, err := syscall.Mmap(-1, 0, int(mebibytes<<20), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	// A page counts only once it is written to.
	for offset := 0; offset < len(held); offset += syscall.Getpagesize() {
		held[offset] = 1
	}
	h.held = held
	return nil
}

func (h *holder) bytes() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(h.held)
}
