// Allocator-oracle asks the device allocator of Kubernetes' scheduler what becomes of the claims of one pod on one
// node.
//
// It reads worlds from its input, one JSON object a line, and prints for each one line: whether all claims can be
// allocated on the node, and with which devices. Fairlead's own answer, and that of the model in tests/model, are
// compared with it (tests/conformance/devices).
//
// With --loop each line is a cluster and pods that are alike, and the answer is how long the allocator took to place
// them (tests/bench/device_decisions.py).
//
// The package k8s.io/dynamic-resource-allocation/structured is the scheduler's own; what surrounds it here (feature
// gates, defaults, taints by rule, what is in use) does what the scheduler and the API server do before they call it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// answer is one line of output. With Error nothing was decided: the world is no valid input.
type answer struct {
	Fits    *bool    `json:"fits,omitempty"`
	Devices []device `json:"devices,omitempty"`
	// Why is what the allocator said where it did not only find no solution.
	Why   string `json:"why,omitempty"`
	Error string `json:"error,omitempty"`
}

// device is one result of an allocation, in the order in which it was allocated.
type device struct {
	Claim       string `json:"claim"`
	Request     string `json:"request"`
	Driver      string `json:"driver"`
	Pool        string `json:"pool"`
	Device      string `json:"device"`
	AdminAccess bool   `json:"adminAccess"`
	// ShareID numbers the shares of an answer; the allocator's own are random.
	ShareID          string            `json:"shareID,omitempty"`
	ConsumedCapacity map[string]string `json:"consumedCapacity,omitempty"`
}

func answerTo(line []byte) any {
	w, err := parseWorld(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return w.allocate()
}

func run(in io.Reader, out io.Writer, answerTo func(line []byte) any) error {
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriter(out)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 1 {
			text, problem := json.Marshal(answerTo(line))
			if problem != nil {
				return problem
			}
			// Flushed a line at a time: the caller may wait for it before it sends the next world.
			fmt.Fprintf(writer, "%s\n", text)
			if problem := writer.Flush(); problem != nil {
				return problem
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func main() {
	answerOf := answerTo
	if len(os.Args) > 1 && os.Args[1] == "--loop" {
		answerOf = func(line []byte) any { return timeLoop(line) }
	}
	if err := run(os.Stdin, os.Stdout, answerOf); err != nil {
		fmt.Fprintln(os.Stderr, "allocator-oracle:", err)
		os.Exit(1)
	}
}
